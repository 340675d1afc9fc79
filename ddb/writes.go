package ddb

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

// This file and writes_items.go hold the legal writes, one constructor each. There is no other way to change a table,
// and none is without a condition, but a markedUpdate, whose condition is its markers. Every failed condition returns
// what is there instead.

const returnOld = types.ReturnValuesOnConditionCheckFailureAllOld

// swapPut replaces an entity that is still at prev. The clock is compared beside the revision because a PutNewer that
// came between has begun revisions anew, but never with the clock that was there before.
func (t Tables) swapPut(key ordering.Key, prev, next *ordering.Entity) (*types.Put, error) {
	x := newExpression()
	if !prev.Exists {
		x.require(x.absent(attrPK))
		return t.entityPut(key, next, x)
	}
	x.require(x.present(attrPK)) // what is absent has no revision either
	if prev.Rev != 0 {
		x.require(x.compare(attrRev, "=", integer(prev.Rev)))
	} else {
		x.require(x.absent(attrRev))
	}
	if prev.Clock != "" {
		x.require(x.compare(attrClock, "=", text(prev.Clock)))
	} else {
		x.require(x.absent(attrClock))
	}
	return t.entityPut(key, next, x)
}

// newerPut replaces an entity whose clock is lower than the one it brings, or that has none, and whose mark is not
// higher. Only a clock by seq meets marks.
func (t Tables) newerPut(key ordering.Key, next *ordering.Entity) (*types.Put, error) {
	x := newExpression()
	x.require("(" + x.absent(attrClock) + " OR " + x.compare(attrClock, "<", text(next.Clock)) + ")")
	if gen, seq, ok := events.ParseSeqClock(next.Clock); ok {
		g := x.value(integer(gen))
		x.require("(" + x.absent(attrMaxSeen) + " OR " + x.name(attrGen) + " < " + g +
			" OR (" + x.name(attrGen) + " = " + g + " AND " + x.compare(attrMaxSeen, "<=", integer(seq)) + "))")
	}
	return t.entityPut(key, next, x)
}

func (t Tables) entityPut(key ordering.Key, next *ordering.Entity, x *expression) (*types.Put, error) {
	it, err := encodeEntity(key, next)
	if err != nil {
		return nil, err
	}
	return put(t.Entities, it, x), nil
}

// mergeUpdate changes the parts of a state entity that it brings newer clocks for.
func (t Tables) mergeUpdate(key ordering.Key, m ordering.Merge) (*types.Update, error) {
	x := newExpression()
	lowest := slices.MinFunc(m.Parts, func(a, b ordering.Part) int { return cmp.Compare(a.Clock, b.Clock) }).Clock
	if m.Floor == "" {
		x.require("(" + x.absent(attrClock) + " OR " + x.compare(attrClock, "<", text(lowest)) + ")")
	} else {
		x.require("(" + x.absent(attrPK) + " OR (" + x.compare(attrClock, ">=", text(m.Floor)) +
			" AND " + x.compare(attrClock, "<", text(lowest)) + "))")
		x.setOnce(attrClock, text(m.Floor))
	}
	for _, part := range m.Parts {
		if err := x.part(part); err != nil {
			return nil, err
		}
	}
	x.last(m.Last)
	x.token(m.Token)
	x.add(attrRev, integer(1))
	return t.entityUpdate(key, x)
}

// token marks the item with the write that made it.
func (x *expression) token(token string) {
	if token != "" {
		x.set(attrToken, text(token))
	}
}

func (x *expression) part(p ordering.Part) error {
	clock := attrClockPrefix + p.Name
	name, value := x.name(clock), x.value(text(p.Clock))
	x.require("(attribute_not_exists(" + name + ") OR " + name + " < " + value + ")")
	x.sets = append(x.sets, name+" = "+value)
	for _, attribute := range slices.Sorted(maps.Keys(p.Set)) {
		encoded, err := encodeValue(p.Set[attribute])
		if err != nil {
			return err
		}
		x.set(attribute, encoded)
	}
	for _, attribute := range p.Remove {
		x.remove(attribute)
	}
	if p.Tomb {
		x.set(attrDeletedPrefix+p.Name, isDeleted)
	} else {
		x.remove(attrDeletedPrefix + p.Name)
	}
	return nil
}

// last replaces what is remembered of the last event, and forgets what the new one lacks.
func (x *expression) last(last ordering.Last) {
	it := item{}
	itemWriter(it).last(last)
	for _, name := range lastAttributes {
		if v, ok := it[name]; ok {
			x.set(name, v)
		} else {
			x.remove(name)
		}
	}
}

// addUpdate lets the database add, where none of the numbers is counted yet.
func (t Tables) addUpdate(key ordering.Key, a ordering.Addition) (*types.Update, error) {
	x := newExpression()
	ahead := x.name(attrAhead)
	counted := make([]string, len(a.Numbers))
	for i, n := range a.Numbers {
		counted[i] = "contains(" + ahead + ", " + x.value(integer(n)) + ")"
	}
	x.require(x.belowAll(a, "NOT ("+strings.Join(counted, " OR ")+")"))
	return t.addition(key, x, a)
}

// firstAddUpdate is addUpdate for an entity that counts no number ahead. There contains is false, but minidyn calls it
// an error.
func (t Tables) firstAddUpdate(key ordering.Key, a ordering.Addition) (*types.Update, error) {
	x := newExpression()
	x.require(x.belowAll(a, x.absent(attrAhead)))
	return t.addition(key, x, a)
}

// belowAll requires a cursor of the generation below all numbers, and more, or no entity.
func (x *expression) belowAll(a ordering.Addition, more string) string {
	return "(" + x.absent(attrPK) + " OR (" + x.compare(attrGen, "=", integer(a.Gen)) +
		" AND " + x.compare(attrApplied, "<", integer(a.Numbers[0])) + " AND " + more + "))"
}

func (t Tables) addition(key ordering.Key, x *expression, a ordering.Addition) (*types.Update, error) {
	x.sums(a.Amounts)
	x.add(attrAhead, integers(a.Numbers))
	x.set(attrToken, text(a.Token))
	x.setOnce(attrGen, integer(a.Gen))
	if !a.GapSince.IsZero() {
		x.setOnce(attrGapShard, integer(gapShard(EntityPK(key))))
		x.setOnce(attrGapSince, instant(a.GapSince))
	}
	if a.Shown != nil {
		x.add(attrShown, witnesses([]ordering.Witness{*a.Shown}))
	}
	x.last(a.Last)
	return t.entityUpdate(key, x)
}

// sums adds the amounts and makes the entity one with a cursor.
func (x *expression) sums(amounts map[string]events.Number) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		x.add(name, &types.AttributeValueMemberN{Value: string(amounts[name])})
	}
	x.add(attrRev, integer(1))
	x.setOnce(attrApplied, integer(0))
}

// markedUpdate adds amounts to whatever the entity is: the markers of its transaction are its condition.
func (t Tables) markedUpdate(key ordering.Key, amounts map[string]events.Number, last ordering.Last) (*types.Update, error) {
	x := newExpression()
	x.sums(amounts)
	x.setOnce(attrGen, integer(0))
	x.last(last)
	return t.entityUpdate(key, x)
}

// catchUpUpdate moves the cursor through numbers that are counted already. Only a catching up takes numbers out of the
// set, so whatever is added meanwhile stays in it.
func (t Tables) catchUpUpdate(key ordering.Key, at *ordering.Entity, through int64, gapSince time.Time, token string) (*types.Update, error) {
	x := newExpression()
	x.require(x.compare(attrGen, "=", integer(at.Gen)))
	x.require(x.compare(attrApplied, "=", integer(at.Applied)))
	x.set(attrApplied, integer(through))
	x.remove(attrEscalations)
	x.remove(attrEscalateAt)
	if !gapSince.IsZero() {
		x.set(attrGapSince, instant(gapSince))
	}
	x.set(attrToken, text(token))
	x.add(attrRev, integer(1))
	if passed := at.Ahead.Without(at.Ahead.Above(through)...); len(passed) > 0 {
		x.del(attrAhead, integers(passed)) // an empty set is no value
	}
	if passed := slices.DeleteFunc(slices.Clone(at.Shown), func(w ordering.Witness) bool { return w.Seq > through }); len(passed) > 0 {
		x.del(attrShown, witnesses(passed))
	}
	return t.entityUpdate(key, x)
}

func (t Tables) entityUpdate(key ordering.Key, x *expression) (*types.Update, error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	return &types.Update{
		TableName:                           &t.Entities,
		Key:                                 item{attrPK: text(EntityPK(key))},
		UpdateExpression:                    x.update(),
		ConditionExpression:                 x.condition(),
		ExpressionAttributeNames:            x.names,
		ExpressionAttributeValues:           x.values,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}, nil
}
