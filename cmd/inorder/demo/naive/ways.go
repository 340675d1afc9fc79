package naive

import (
	"slices"
	"time"

	"inorder/cmd/inorder/demo/producer"
	"inorder/cmd/inorder/demo/queue"
)

// database is two tables, and the inboxes of the owners.
type database struct {
	queue   *queue.Queue[*producer.Message]
	items   map[string]item
	keys    map[string]lock
	notices map[string][]string
	reads   int
	writes  int
}

// item is an entity's state with the position of the event that wrote it.
type item struct {
	state    map[string]any
	position int64
}

// lock is an idempotency key.
type lock struct {
	completed bool
	expires   time.Time // of one that is in progress
}

func (db *database) read(key string) item {
	db.reads++
	return db.items[key]
}

func (db *database) put(key string, it item) {
	db.writes++
	if db.items == nil {
		db.items = map[string]item{}
	}
	db.items[key] = it
}

// apply is one update of an item without a condition: the database itself adds and merges.
func (db *database) apply(key string, e *producer.Event) {
	db.put(key, item{state: e.Apply(db.items[key].state)})
}

// notify sends the owner a notice; one that they have had is dropped.
func (db *database) notify(key string, e *producer.Event) {
	if e.Stream != producer.Wallet || slices.Contains(db.notices[key], e.ID) {
		return
	}
	if db.notices == nil {
		db.notices = map[string][]string{}
	}
	db.notices[key] = append(db.notices[key], e.ID)
}

// putKey takes the key of an event, on the condition that nobody holds or has finished it.
func (db *database) putKey(id string) (held lock, taken bool) {
	db.writes++
	if db.keys == nil {
		db.keys = map[string]lock{}
	}
	held, there := db.keys[id]
	if there && (held.completed || db.queue.Now().Before(held.expires)) {
		return held, false
	}
	db.keys[id] = lock{expires: db.queue.Now().Add(queue.Visibility)}
	return lock{}, true
}

func (db *database) completeKey(id string) {
	db.writes++
	db.keys[id] = lock{completed: true}
}

func lastWriteWins(db *database, e *producer.Event, request func() bool) bool {
	key := e.Stream + "/" + e.Entity
	if !request() {
		return false
	}
	db.apply(key, e)
	db.notify(key, e)
	return true
}

func readCompareWrite(db *database, e *producer.Event, request func() bool) bool {
	key := e.Stream + "/" + e.Entity
	if !request() {
		return false
	}
	stored := db.read(key)
	position := e.Seq
	if position == 0 {
		position = e.At.UnixMilli()
	}
	if position <= stored.position {
		return true
	}
	if !request() {
		return false
	}
	db.put(key, item{state: e.Apply(stored.state), position: position})
	db.notify(key, e)
	return true
}

func idempotencyKeys(db *database, e *producer.Event, request func() bool) bool {
	if !request() {
		return false
	}
	if held, taken := db.putKey(e.ID); !taken {
		return held.completed // one in progress comes back
	}
	if !lastWriteWins(db, e, request) {
		return false
	}
	if !request() {
		return false
	}
	db.completeKey(e.ID)
	return true
}
