package ordering

import (
	"github.com/jellydator/ttlcache/v3"

	"inorder/events"
)

// Cache keeps the entities that a warm function saw last. What it holds may be old: every write is protected by its
// condition, and what is decided without a write holds for every later state of the entity too. It is safe for
// concurrent use, and what it returns is not to be changed.
type Cache struct {
	entities *ttlcache.Cache[Key, *Entity]
	fought   *ttlcache.Cache[Key, int] // delta entities on which a compare-and-set was lost, and for how many batches that counts
}

// cacheBytes is about how much the cached entities may take: an eighth of the smallest function's memory that makes
// sense. A stream of large entities caches fewer of them.
const cacheBytes = 32 << 20

// NewCache returns a cache of at most size entities, and of fewer where they are large.
func NewCache(size uint64) *Cache {
	return &Cache{
		entities: ttlcache.New(
			ttlcache.WithCapacity[Key, *Entity](size),
			ttlcache.WithMaxCost(cacheBytes, func(item ttlcache.CostItem[Key, *Entity]) uint64 { return weight(item.Value) }),
		),
		fought: ttlcache.New(ttlcache.WithCapacity[Key, int](size)),
	}
}

// weight is about how many bytes an entity takes.
func weight(e *Entity) uint64 {
	const each = 64 // a value with what Go keeps around it
	total := 512 + 8*(len(e.Waiting)+len(e.Ahead)+4*len(e.Shown)) + each*len(e.Clocks)
	var add func(value any)
	add = func(value any) {
		total += each
		switch v := value.(type) {
		case string:
			total += len(v)
		case events.Number:
			total += len(v)
		case []any:
			for _, element := range v {
				add(element)
			}
		case map[string]any:
			for name, element := range v {
				total += len(name)
				add(element)
			}
		}
	}
	add(e.State)
	for _, owed := range e.Owed {
		add(owed.Data)
	}
	return uint64(total)
}

// get returns what is known of an entity, nil where nothing is.
func (c *Cache) get(key Key) *Entity {
	if c == nil {
		return nil
	}
	if item := c.entities.Get(key); item != nil {
		return item.Value()
	}
	return nil
}

func (c *Cache) put(key Key, e *Entity) {
	if c != nil {
		c.entities.Set(key, e, ttlcache.NoTTL)
	}
}

// contendedBatches is for how many batches a lost compare-and-set on a delta entity makes DynamoDB do the adding:
// long enough that a hot entity is not fought over again and again, short enough that a quiet one gets its cursor back.
const contendedBatches = 16

func (c *Cache) markContended(key Key) {
	if c != nil {
		c.fought.Set(key, contendedBatches, ttlcache.NoTTL)
	}
}

// contended reports whether an entity was fought over lately, and counts this batch.
func (c *Cache) contended(key Key) bool {
	if c == nil {
		return false
	}
	item := c.fought.Get(key)
	if item == nil || item.Value() == 0 {
		return false
	}
	c.fought.Set(key, item.Value()-1, ttlcache.NoTTL)
	return true
}
