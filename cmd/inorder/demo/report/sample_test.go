package report

import "time"

// sample is a report with something of everything in it.
func sample() *Report {
	at := func(hour, minute, second int) time.Time {
		return time.Date(2026, 11, 30, hour, minute, second, 0, time.UTC)
	}
	r := &Report{
		Title: "inorder demo", Replay: "inorder demo --seed 7 --events 4000 --workers 12", Seed: 7,
		Engine: "dynoxide 1.2.1", Workers: 12,
		Day:  Day{Events: 4000, Entities: 617, Lost: 5, Copies: 289, Poison: 40},
		Play: Play{Deliveries: 4502, Invocations: 811, Crashes: 26, Lost: 143, Seconds: 7.34},
		Checks: []Check{
			{Name: "617 of 617 entities hold what the producer meant", Right: true},
			{Name: "26 wallets gave 436 notices, in order and each once", Right: true},
			{Name: "5 of 5 lost events are made good: 4 sent again, 1 outdated by newer state", Right: true},
			{Name: "6 requests for what was missing, each gap once in its back-off", Right: true},
			{Name: "4,339 messages arrived; none is left over, none in a dead-letter queue", Right: true},
			{Name: "40 poisoned messages lie in quarantine with their reasons, and no others", Right: true},
		},
		Dispositions: []Count{
			{"applied", "it changed the entity", 2891},
			{"coalesced", "a newer one came in the same batch", 158},
			{"stale", "the entity already has newer", 251},
			{"duplicate", "the same event again", 369},
			{"parked", "logged durably, waits for a predecessor", 650},
			{"conflict", "another event holds its position", 0},
			{"quarantined", "it can never succeed", 40},
			{"deferred", "not now: it comes back", 0},
		},
		Drained: 650,
		Distances: []Count{
			{Name: "1", N: 301},
			{Name: "2", N: 160},
			{Name: "3", N: 99},
			{Name: "≤ 5", N: 112},
			{Name: "≤ 10", N: 84},
			{Name: "≤ 25", N: 31},
			{Name: "≤ 100", N: 12},
			{Name: "> 100", N: 0},
		},
		Costs: []Cost{
			{Name: "inorder", How: "Measured.", Ours: true, Requests: 5110, WriteUnits: 5544, ReadUnits: 701},
			{
				Name: "last write wins", How: "One write for each message.", Requests: 4289, WriteUnits: 4289,
				WrongEntities: 201, WrongNotices: 25, Example: "subscription sub_0001 ends with plan pro instead of basic",
			},
			{Name: "read, compare, write", How: "A read, and a write.", Requests: 7700, WriteUnits: 3410, ReadUnits: 4289, WrongEntities: 98, WrongNotices: 22},
			{Name: "idempotency keys", How: "A key, the write, the key again.", Requests: 12300, WriteUnits: 12300, WrongEntities: 157, WrongNotices: 24},
		},
	}
	for i, n := range []int{0, 2, 1, 5, 9, 4, 12, 31, 28, 14, 6, 9, 3, 1, 0} {
		r.Parked = append(r.Parked, Level{At: at(6+i, 10*(i%6), 0), N: n})
	}
	r.Healing = Healing{
		StayWrong: 3, Requests: 6, Late: 2, Marks: 6, Sweeps: 901, SweepCrashes: 60, RelayCrashes: 7, SweepRequests: 15000,
		RelayRequests: 3900, GapDeadlineSeconds: 300, MarkDelaySeconds: 300,
		Losses: []Loss{
			{"ledger", "acc_0007", 12, 1, at(9, 0, 1), at(9, 0, 9), false, at(9, 6, 0), 1, at(9, 6, 2), SentAgain},
			{"wallet", "wallet_002", 4, 1, at(10, 0, 0), at(10, 5, 2), true, at(10, 11, 0), 1, at(10, 11, 1), SentAgain},
			{"seats", "team_001", 31, 2, at(11, 0, 0), at(11, 0, 30), false, at(11, 6, 0), 2, at(11, 11, 1), SentAgain},
			{"subscription", "sub_0012", 3, 1, at(12, 0, 0), at(12, 5, 2), true, at(12, 11, 0), 1, at(12, 11, 9), SentAgain},
			{"subscription", "sub_0020", 2, 1, at(13, 0, 0), time.Time{}, false, time.Time{}, 0, at(13, 1, 0), Outdated},
		},
	}
	for i, n := range []int{0, 2, 4, 9, 17, 28} {
		r.Healing.Unhealed = append(r.Healing.Unhealed, Level{At: at(6+i, 0, 0), N: n})
	}
	r.Timelines = []Timeline{
		{
			Stream: "subscription", Entity: "sub_0001", Line: "stored number",
			Story: "upgraded, downgraded seconds later, and stayed downgraded; the upgrade's message arrives hours late",
			Arrivals: []Arrival{
				{at(10, 12, 2), 1, "PlanChanged: plan basic", "basic", "applied", 1, 0},
				{at(11, 0, 5), 3, "PlanChanged: plan basic", "basic", "applied", 3, 0},
				{at(15, 7, 1), 2, "PlanChanged: plan pro", "pro", "stale", 3, 0},
			},
		},
		{
			Stream: "ledger", Entity: "acc_0007", Story: "the account that waited longest", Line: "applied up to",
			Arrivals: []Arrival{
				{at(9, 0, 1), 1, "EntryPosted: amount 12.50", "12.50", "applied", 1, 0},
				{at(9, 0, 3), 3, "EntryPosted: amount 12.50", "12.50", "parked", 1, 4},
				{at(9, 0, 9), 4, "EntryViewed", "entryviewed", "parked", 1, 4},
				{at(9, 1, 0), 2, "EntryPosted: amount 12.50", "12.50", "applied", 4, 0},
				{at(9, 1, 2), 2, "EntryPosted: amount 12.50", "12.50", "duplicate", 4, 0},
				{at(9, 1, 3), 6, "EntryPosted: amount 12.50", "12.50", "deferred", 4, 0},
				{at(9, 1, 30), 6, "EntryPosted: amount 12.50", "12.50", "parked", 4, 8},
				{at(9, 2, 30), 5, "EntryPosted: amount 12.50", "12.50", "applied", 6, 0},
			},
		},
	}
	return r
}
