package simulation

// shrink leaves out elements of a life, as many as it can, such that it still fails in the same way: first a half of
// those that are left, then smaller parts, down to each by itself, until none of them can be spared.
func shrink(elements []string, fails func(only []string) bool) []string {
	for size := (len(elements) + 1) / 2; size > 0; {
		smaller := false
		for at := 0; at < len(elements); {
			without := append(append([]string{}, elements[:at]...), elements[min(at+size, len(elements)):]...) // never nil, which is all
			if fails(without) {
				elements, smaller = without, true
				continue
			}
			at += size
		}
		if size > 1 {
			size /= 2
		} else if !smaller {
			break
		}
	}
	return elements
}
