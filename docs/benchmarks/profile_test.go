package main

import (
	"fmt"
	"testing"

	"inorder/ddb/local"
)

// BenchmarkConsumer is for profiles: `go test ./docs/benchmarks -run '^$' -bench Consumer/step/10 -cpuprofile cpu.prof`. An
// operation is one event.
func BenchmarkConsumer(b *testing.B) {
	for _, m := range modes {
		for _, each := range []int{1, 10} {
			b.Run(fmt.Sprintf("%s/%d", m.name, each), func(b *testing.B) {
				w := &world{engine: local.ForTest(b, "")}
				tables, err := w.tables(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				batches := batched(bursts("e", b.N, each), batchSize)
				b.ReportAllocs()
				b.ResetTimer()
				if err := drive(b.Context(), batches, several(atATime, func() handler { return w.consumer(m.stream, tables, nil) })...); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
