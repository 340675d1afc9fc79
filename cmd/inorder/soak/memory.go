package soak

import (
	"fmt"
	"math"
	"slices"
)

// Memory is how much something held, sampled at equal distances of time or of work. It does not grow: when it is full, every
// second sample goes, and from then on every second one that comes.
type Memory struct {
	samples []float64 // bytes
	every   int
	skipped int
}

const mostSamples = 4096

// Add takes a sample.
func (m *Memory) Add(bytes float64) {
	if m.skipped++; m.skipped < m.every {
		return
	}
	m.skipped = 0
	if m.samples = append(m.samples, bytes); len(m.samples) < mostSamples {
		return
	}
	for i := range mostSamples / 2 {
		m.samples[i] = m.samples[2*i]
	}
	m.samples, m.every = m.samples[:mostSamples/2], max(2, 2*m.every)
}

// Last is the newest sample.
func (m *Memory) Last() string {
	if len(m.samples) == 0 {
		return "0 MB"
	}
	return fmt.Sprintf("%.1f MB", m.samples[len(m.samples)-1]/1e6)
}

// fewestSamples make thirds that say something.
const fewestSamples = 15

// Growth compares the last third with the second, by their medians: 0.1 is a tenth more. What is filled in the beginning, caches
// say, is in the first third. Too few samples tell nothing.
func (m *Memory) Growth() (share float64, known bool) {
	third := len(m.samples) / 3
	if len(m.samples) < fewestSamples {
		return math.NaN(), false
	}
	second, last := median(m.samples[third:2*third]), median(m.samples[2*third:])
	return last/second - 1, true
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// String says how large it was, and whether that is flat.
func (m *Memory) String() string {
	growth, known := m.Growth()
	if !known {
		return fmt.Sprintf("%d samples, which are too few to compare", len(m.samples))
	}
	return fmt.Sprintf("%.1f MB at the median, the last third against the second %+.1f %%, %d samples",
		median(m.samples)/1e6, 100*growth, len(m.samples))
}
