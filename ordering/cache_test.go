package ordering

import (
	"fmt"
	"strings"
	"testing"
)

// TestCacheIsBounded: by the number of entities, and by what they take.
func TestCacheIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes int
		most  int
	}{
		{"small entities, by number", 10, 1000},
		{"large entities, by size", 400 << 10, cacheBytes / (400 << 10)},
	} {
		c, held := NewCache(1000), 0
		for i := range 2000 {
			c.put(Key{ID: fmt.Sprint(i)}, &Entity{Exists: true, State: map[string]any{"text": strings.Repeat("x", tt.bytes)}})
		}
		for i := range 2000 {
			if c.get(Key{ID: fmt.Sprint(i)}) != nil {
				held++
			}
		}
		if held > tt.most || held < tt.most/2 {
			t.Errorf("%s: %d are held, at most %d", tt.name, held, tt.most)
		}
	}
}
