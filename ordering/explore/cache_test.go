package explore

import (
	"reflect"
	"unsafe"

	"github.com/jellydator/ttlcache/v3"

	"inorder/ordering"
)

// alwaysFought is how many batches a lost compare-and-set is remembered for, here: as many as it was at first. It would be
// forgotten after more invocations than any situation has, so that to count them would only tell states apart.
const alwaysFought = 16

// warm puts into a cache what an instance knows from before. A cache shows nobody what it holds, and a consumer needs no
// more; who explores must tell caches apart, and so looks into it.
func warm(cache *ordering.Cache, key ordering.Key, e *ordering.Entity, fought bool) {
	insides[*ordering.Entity](cache, "entities").Set(key, e, ttlcache.NoTTL)
	if fought {
		insides[int](cache, "fought").Set(key, alwaysFought, ttlcache.NoTTL)
	}
}

// cachedIn is what a cache holds of an entity.
func cachedIn(cache *ordering.Cache, key ordering.Key) (e *ordering.Entity, fought bool) {
	if item := insides[*ordering.Entity](cache, "entities").Get(key); item != nil {
		e = item.Value()
	}
	item := insides[int](cache, "fought").Get(key)
	return e, item != nil && item.Value() > 0
}

func insides[V any](cache *ordering.Cache, name string) *ttlcache.Cache[ordering.Key, V] {
	field := reflect.ValueOf(cache).Elem().FieldByName(name)
	return *(**ttlcache.Cache[ordering.Key, V])(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // see warm
}
