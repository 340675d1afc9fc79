// Package storetest is the suite that every ordering.Upkeep, and with it every ordering.Store, must pass. Each test is one guarantee of that interface, by
// name; what a store cannot pass it names in Options with the reason, and the test says so when it skips.
//
// Unknown outcomes are not its business: who breaks connections tests what follows.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"inorder/events"
	"inorder/ordering"
)

// Options tell what a store is known not to pass.
type Options struct {
	Lacks map[string]string // test → why
}

// Run runs the suite. open may return the same store each time: every test uses entities and events of its own.
func Run(t *testing.T, open func(t *testing.T) ordering.Upkeep, o Options) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if why, ok := o.Lacks[test.name]; ok {
				t.Skip("this store lacks: " + why)
			}
			test.run(&suite{T: t, store: open(t), ctx: t.Context(), options: o})
		})
	}
}

// Names lists the tests, for whoever checks that what it skips exists.
func Names() []string {
	names := make([]string, len(tests))
	for i, test := range tests {
		names[i] = test.name
	}
	return names
}

var tests = []struct {
	name string
	run  func(*suite)
}{
	{"AbsentIsTheZeroEntity", absentIsZero},
	{"SwapCreatesOnce", swapCreatesOnce},
	{"SwapComparesRevision", swapComparesRevision},
	{"SwapComparesClock", swapComparesClock},
	{"SwapReplacesEverything", swapReplaces},
	{"PutNewerTakesHigherClocksOnly", putNewerHigher},
	{"PutNewerForgetsNoHigherMark", putNewerMarked},
	{"SwapOfAMark", swapOfAMark},
	{"MarksComeBack", marksComeBack},
	{"MergeCreates", mergeCreates},
	{"MergeIsAllOrNothing", mergeAllOrNothing},
	{"MergeRespectsTheFloor", mergeFloor},
	{"MergeRespectsAWholeClock", mergeWholeClock},
	{"MergeOfSourcesKeepsTombs", mergeTombs},
	{"MergeTakesMaxParts", mergeMaxParts},
	{"MergeTooComplexWritesNothing", mergeTooComplex},
	{"MergeForgetsTheOldLastEvent", mergeLast},
	{"AddCreatesAndAdds", addCreates},
	{"AddIsExact", addExact},
	{"AddRefusesCountedNumbers", addCounted},
	{"AddRefusesTheCursorsNumbers", addCursor},
	{"AddRefusesOtherGenerations", addGeneration},
	{"AddTakesMaxAddNumbers", addMax},
	{"AddSetsTheGapOnce", addGap},
	{"AddOutOfRangeWritesNothing", addRange},
	{"CatchUpPassesNumbers", catchUp},
	{"CatchUpIsNotDisturbedByAdd", catchUpUndisturbed},
	{"CatchUpComparesTheCursor", catchUpLoses},
	{"CatchUpMakesAttemptsStartAgain", catchUpGap},
	{"WitnessesJoinAndLeave", witnesses},
	{"AddMarkedAddsOnce", addMarked},
	{"AddMarkedOutOfRangeWritesNothing", addMarkedRange},
	{"MarkersComeWithTheWrite", markersWithWrite},
	{"MarkersAreToldByPlace", markersByPlace},
	{"MarkersAndEntityAreOne", markersAtomic},
	{"MarkerAloneOnce", markerAlone},
	{"MarkersAreToldApart", markersApart},
	{"MarkersTakeMaxMarkers", markersMax},
	{"RowTakesAFreeNumber", rowFree},
	{"RowIsByteExact", rowExact},
	{"RowsComeInOrder", rowsInOrder},
	{"RowsArePaged", rowsPaged},
	{"RowPastItsExpiryIsARow", rowExpired},
	{"ExtendRowComparesTheRow", extendRow},
	{"ExtendRowMakesNoRow", extendNoRow},
	{"RowHeadsAreRowsWithoutMessages", headsAreRows},
	{"DropRowsGoWithTheSwap", dropRows},
	{"DropRowsLosesToARow", dropLosesToARow},
	{"DropRowsLosesToTheEntityFirst", dropLosesToTheEntity},
	{"DropRowsTakesMaxDropRows", dropMax},
	{"AuditsComeOldestFirst", auditsOldestFirst},
	{"AuditsOfOneInstantAreSeveral", auditsOfOneInstant},
	{"AuditLosesWithTheSwap", auditLoses},
	{"MarkedComeOldestFirst", markedOldestFirst},
	{"MarkedGoRound", markedGoRound},
	{"MarkedAreThoseWithAGap", markedOnly},
	{"MarkedLeaveWithoutAGap", markedLeaves},
	{"MarkedStopsWhenTold", markedStops},
	{"EntitiesComeInTheOrderOfKeys", entitiesInOrder},
	{"BookmarkMovesFromWhereItWas", bookmarkMoves},
	{"KeysAreInjective", keysInjective},
	{"TwoConsumersDoNotMeet", twoConsumers},
	{"EntitiesComeBackAsTheyWent", roundTrip},
	{"NumbersComeBackExactly", numbersExact},
	{"NothingIsKept", nothingKept},
	{"TooLargeWritesNothing", tooLarge},
	{"TooLargeByMergeWritesNothing", tooLargeMerge},
	{"TooLargeRow", tooLargeRow},
	{"TooLargeWithMarkersWritesNothing", tooLargeMarked},
	{"ParallelSwapsHaveOneWinner", parallelSwaps},
	{"ParallelMarkersHaveOneWinner", parallelMarkers},
	{"ParallelRowsHaveOneWinner", parallelRows},
	{"ParallelAddsAllCount", parallelAdds},
	{"ParallelDropsHaveOneWinner", parallelDrops},
	{"ParallelAuditsHaveOneWinner", parallelAudits},
}

// suite is one test's store with what its steps need.
type suite struct {
	*testing.T
	store   ordering.Upkeep
	ctx     context.Context
	options Options
}

var (
	run   = rand.Text() // stores may outlive a run
	count atomic.Int64
)

// unique returns a name that no other test uses.
func (s *suite) unique() string { return fmt.Sprintf("%s-%s-%d", s.Name(), run, count.Add(1)) }

// key returns an entity that no other test uses.
func (s *suite) key() ordering.Key {
	return ordering.Key{Consumer: "suite", Stream: "stream", ID: s.unique()}
}

// marker returns a marker that no other test uses.
func (s *suite) marker() ordering.Marker {
	return ordering.Marker{
		Consumer: "suite", Source: "shop", EventID: s.unique(), Fingerprint: "f1",
		MessageID: "m1", Token: "t1", ExpiresAt: start.Add(time.Hour),
	}
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func clock(seq int64) string { return events.SeqClock(0, seq) }

// ok fails the test at once on an error.
func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// is fails the test at once unless err is want.
func (s *suite) is(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("got the error %v, want %v", err, want)
	}
}

// lost fails the test at once unless a condition failed.
func (s *suite) lost(err error) *ordering.LostError {
	s.Helper()
	lost := (*ordering.LostError)(nil)
	if !errors.As(err, &lost) {
		s.Fatalf("got the error %v, want a *LostError", err)
	}
	return lost
}

// lostTo fails the test at once unless a condition failed and the error tells the entity that is stored.
func (s *suite) lostTo(key ordering.Key, err error) {
	s.Helper()
	lost := s.lost(err)
	if lost.Now == nil {
		s.Fatalf("the lost write does not tell the entity: %v", err)
	}
	s.same(lost.Now, s.entity(key))
}

func (s *suite) taken(err error) ordering.Row {
	s.Helper()
	taken := (*ordering.TakenError)(nil)
	if !errors.As(err, &taken) {
		s.Fatalf("got the error %v, want a *TakenError", err)
	}
	return taken.Row
}

func (s *suite) entity(key ordering.Key) *ordering.Entity {
	s.Helper()
	e, err := s.store.Entity(s.ctx, key)
	s.ok(err)
	return e
}

// swap stores next in the place of whatever is there, and returns it as stored.
func (s *suite) swap(key ordering.Key, next ordering.Entity) *ordering.Entity {
	s.Helper()
	prev := s.entity(key)
	next.Exists, next.Rev = true, prev.Rev+1
	s.ok(s.store.Swap(s.ctx, key, prev, &next, nil))
	return s.entity(key)
}

// unchanged fails the test at once unless the entity still is what it was.
func (s *suite) unchanged(key ordering.Key, was *ordering.Entity) {
	s.Helper()
	s.same(s.entity(key), was)
}

// parallel calls n functions at once and returns how many returned nil; the others must have lost.
func (s *suite) parallel(n int, f func(i int) error) int {
	s.Helper()
	var won atomic.Int64
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			err := f(i)
			lost, taken := (*ordering.LostError)(nil), (*ordering.TakenError)(nil)
			switch {
			case err == nil:
				won.Add(1)
			case errors.As(err, &lost), errors.As(err, &taken), errors.Is(err, ordering.ErrContended):
			default:
				s.Errorf("call %d: %v", i, err)
			}
		})
	}
	close(begin)
	wg.Wait()
	return int(won.Load())
}
