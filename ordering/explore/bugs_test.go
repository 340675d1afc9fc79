package explore

// planted is a bug that the exploration must find: in a file of the product, in place of some text that stands there once,
// stands another. PLANTED in it is true where this bug is switched on.
type planted struct {
	name      string
	file      string // below ordering
	old, new  string
	situation string // in which it shows
	mishaps   bool   // only where something else goes wrong, too
	finds     string // part of the fault that is found: what must not be
}

var bugs = []planted{
	{
		"waiting numbers are left out of the run", "step.go",
		"waits := in.base.Waiting.Has(n)\n",
		"waits := in.base.Waiting.Has(n) && !PLANTED\n",
		"step", false, "number 3 waits for nothing",
	},
	{
		"the condition of the write is left out", "memory/store.go",
		"return now.Exists == prev.Exists && ",
		"return PLANTED || now.Exists == prev.Exists && ",
		"step", false, "the cursor goes back",
	},
	{
		"the condition is taken from a new look, not from what was decided on", "swap.go",
		"	return l.landed(ctx, key, next, l.Store.Swap(ctx, key, prev, next, nil))",
		"	if PLANTED {\n		if prev, err = l.Store.Entity(ctx, key); err != nil {\n			return nil, false, err\n		}\n		next.Rev = prev.Rev + 1\n	}\n" +
			"	return l.landed(ctx, key, next, l.Store.Swap(ctx, key, prev, next, nil))",
		"step", false, "the cursor goes back",
	},
	{
		"messages are acknowledged before the write", "step_loop.go",
		"	return r.move(ctx, base, plan)\n",
		"	if PLANTED {\n		for j, o := range plan.landed {\n			j.decide(o)\n		}\n	}\n	return r.move(ctx, base, plan)\n",
		"step", true, "is acknowledged, and neither applied nor logged nor in quarantine",
	},
	{
		"the gap attributes are cleared while something is owed", "gap.go",
		"if !e.openGap() && !e.OwesEffects() && ",
		"if !e.openGap() && (PLANTED || !e.OwesEffects()) && ",
		"effects from the log", false, "something is open, and the sweeper would not see it",
	},
	{
		"the write is skipped for a batch that only parked", "step_loop.go",
		"	case !plan.moves:\n",
		"	case !plan.moves || PLANTED && plan.next.Applied == r.entity.Applied:\n",
		"step", false, "is acknowledged, and neither applied nor logged nor in quarantine",
	},
	{
		"the log row of a parked event is left out", "step_loop.go",
		"	case len(plan.puts) > 0:\n",
		"	case len(plan.puts) > 0 && !PLANTED:\n",
		"step", false, "is said to wait, and has no row",
	},
	{
		"_dispatched moves before the effects are sent", "effects.go",
		"		unsent, sendErr := r.send(ctx, due)\n",
		"		if PLANTED {\n			if e, err = r.moveDispatched(ctx, e, Position{e.Gen, last}); err != nil {\n				return e, err\n			}\n		}\n" +
			"		unsent, sendErr := r.send(ctx, due)\n",
		"effects from the log", false, "is said to be sent, and is not",
	},
	{
		"messages are acknowledged though their effects could not be sent", "step_loop.go",
		"			if unsent != nil && (",
		"			if !PLANTED && unsent != nil && (",
		"effects from the log", true, "is acknowledged before its effect is sent",
	},
	{
		"a new generation forgets what was parked", "step_loop.go",
		"	for numbers := range slices.Chunk(r.entity.Waiting, leftoversAtOnce) {\n",
		"	for numbers := range slices.Chunk(r.entity.Waiting, leftoversAtOnce) {\n		if PLANTED {\n			break\n		}\n",
		"a new life", false, "is in no quarantine",
	},
	{
		"a new generation forgets what is owed", "step_loop.go",
		"	if r.owes(r.entity) {\n",
		"	if r.owes(r.entity) && !PLANTED {\n",
		"a new life, while the old one goes on", false, "the effect of [m0] is not sent",
	},
	{
		"a delta counts a number that it has ahead of its cursor", "delta.go",
		"case n <= effective || base.Ahead.Has(n):",
		"case n <= effective || base.Ahead.Has(n) && !PLANTED:",
		"delta", false, "ran 2 times",
	},
	{
		"catching up forgets the numbers above", "gap.go",
		"	c.Ahead = c.Ahead.Above(c.Applied)\n",
		"	if c.Ahead = c.Ahead.Above(c.Applied); PLANTED {\n		c.MaxSeen, c.Ahead = max(c.MaxSeen, c.Ahead.Max()), nil\n	}\n",
		"delta, a gap", true, "number 4 ran, and the cursor does not say so",
	},
	{
		"catching up does not compare the cursor", "memory/store.go",
		"now.Gen == at.Gen && now.Applied == at.Applied, next)",
		"now.Gen == at.Gen && (PLANTED || now.Applied == at.Applied), next)",
		"delta, catching up", false, "the cursor goes back",
	},
	{
		"the expiry of parked events is written over what moved meanwhile", "tend.go",
		"	now, landed, err := r.landed(ctx, r.key, next, r.Upkeep.DropRows(",
		"	if PLANTED {\n		if now, err := r.Store.Entity(ctx, r.key); err == nil {\n			r.entity, next.Rev = now, now.Rev+1\n		}\n	}\n" +
			"	now, landed, err := r.landed(ctx, r.key, next, r.Upkeep.DropRows(",
		"what waits too long", false, "the cursor goes back",
	},
	{
		"parked events expire without a copy", "tend.go",
		"			if err := r.Quarantine.Copy(ctx, row.copyAs(expired)); err != nil {\n",
		"			if err := r.Quarantine.Copy(ctx, row.copyAs(expired)); err != nil && !PLANTED {\n",
		"what waits too long", true, "is acknowledged, and neither applied nor logged nor in quarantine",
	},
	{
		"a skip forgets what it passed", "skip_step.go",
		"		next.remember(lost)\n",
		"		if !PLANTED {\n			next.remember(lost)\n		}\n",
		"an operator skips", false, "was passed, and did not run",
	},
	{
		"a skip of what a delta lacks forgets it", "skip.go",
		"		after.remember(r)\n",
		"		if !PLANTED {\n			after.remember(r)\n		}\n",
		"an operator skips what a delta lacks", false, "was passed, and did not run",
	},
	{
		"a blocked event has no copy in quarantine", "step_loop.go",
		"	if err := r.sendCopies(ctx, plan); err != nil {\n",
		"	if err := r.sendCopies(ctx, plan); err != nil && !PLANTED {\n",
		"a projection that fails for a while", true, "is blocked, and no copy of it is in quarantine",
	},
	{
		"a copy of a parked event is acknowledged without a write", "step.go",
		"|| p.judgedAhead(in) ||",
		"|| p.judgedAhead(in) && !PLANTED ||",
		"what waits too long, and comes again", false, "is acknowledged, and neither applied nor logged nor in quarantine",
	},
	{
		"a copy in quarantine counts though somebody wrote meanwhile", "tend.go",
		"	for r.lost < maxRounds {\n		for _, row := range old {\n			if row.Gen != r.entity.Gen || !r.entity.Waiting.Has(row.Seq) {\n" +
			"				return nil // somebody else was faster\n			}\n		}\n		rows, err := r.copyOld(ctx, old)\n",
		"	var rows []Row\n	var err error\n	for r.lost < maxRounds {\n		for _, row := range old {\n			if row.Gen != r.entity.Gen || !r.entity.Waiting.Has(row.Seq) {\n" +
			"				return nil // somebody else was faster\n			}\n		}\n		if !PLANTED || rows == nil {\n			rows, err = r.copyOld(ctx, old)\n		}\n",
		"what waits too long, and is redriven at once", false, "is acknowledged, and neither applied nor logged nor in quarantine",
	},
	{
		"what an operator passes is copied once, whoever wrote meanwhile", "step_loop.go",
		"	if r.through > 0 {\n",
		"	if r.through > 0 && !PLANTED {\n",
		"an operator skips what is blocked", false, "is acknowledged, and neither applied nor logged nor in quarantine",
	},
	{
		"what an old generation left is copied once, whoever wrote meanwhile", "step_loop.go",
		"	clear(r.leftovers)\n",
		"	if !PLANTED {\n		clear(r.leftovers)\n	}\n",
		"a new life", false, "is in no quarantine",
	},
	{
		"what waits in the new life is taken for a leftover of the old one", "step_loop.go",
		"if r.entity = settled; settled.Gen != ended {",
		"if r.entity = settled; settled.Gen != ended && !PLANTED {",
		"a new life, while the old one goes on", false, "is in quarantine, and nothing is wrong with it",
	},
	{
		"rows are trusted that were read before a race was lost", "step_loop.go",
		"	r.rows, r.readFrom, r.readTo = ",
		"	if PLANTED {\n		return\n	}\n	r.rows, r.readFrom, r.readTo = ",
		"what waits too long, and comes again", false, "is said to wait, and has no row",
	},
	{
		"the original of a skipped number is a duplicate", "step.go",
		"case within(base.Skipped, n):",
		"case within(base.Skipped, n) && !PLANTED:",
		"an operator skips", false, "is acknowledged, and neither applied nor logged nor in quarantine",
	},
	{
		"a void that expired is not remembered", "step_fold.go",
		"	if row.Void == events.Expired {\n",
		"	if row.Void == events.Expired && !PLANTED {\n",
		"numbers that expired", false, "was passed, and did not run",
	},
	{
		"the sweeper asks for nothing", "sweep.go",
		"	case Escalate:\n		return r.escalate(ctx)\n",
		"	case Escalate:\n		if PLANTED {\n			return nil\n		}\n		return r.escalate(ctx)\n",
		"two sweepers", false, "[2] is missing, and asked for is []",
	},
	{
		"only the first gap is missing", "missing.go",
		"	return e.lacking(s.Window)\n",
		"	if missing := e.lacking(s.Window); PLANTED && len(missing) > 1 {\n		return missing[:1]\n	}\n	return e.lacking(s.Window)\n",
		"two gaps", false, "[2 4] is missing, and asked for is [2]",
	},
	{
		"the last number of a gap is not missing", "missing.go",
		"				missing = append(missing, Range{First: next, Last: n - 1})\n",
		"				missing = append(missing, Range{First: next, Last: n - 1})\n				if m := &missing[len(missing)-1]; PLANTED && m.Last > m.First {\n					m.Last--\n				}\n",
		"two gaps of a delta", false, "[2 4-5] is missing, and asked for is [2 4]",
	},
	{
		"the effect of the newest number is not owed", "gap.go",
		"|| c.Dispatched.Seq < c.Applied)",
		"|| !PLANTED && c.Dispatched.Seq < c.Applied || c.Dispatched.Seq+1 < c.Applied)",
		"effects from the log", false, "is acknowledged before its effect is sent",
	},
	{
		"what was only heard of is not known", "gap.go",
		"	return max(c.Applied, c.MaxSeen, ",
		"	if PLANTED {\n		return max(c.Applied, c.Waiting.Max(), c.Ahead.Max())\n	}\n	return max(c.Applied, c.MaxSeen, ",
		"a mark of the newest number", false, "something is open, and the sweeper would not see it",
	},
	{
		"what a delta has ahead does not count for its cursor", "gap.go",
		"{ return c.Ahead.Through(c.Applied) }",
		"{\n	if PLANTED {\n		return c.Applied\n	}\n	return c.Ahead.Through(c.Applied)\n}",
		"delta", false, "nothing is open any more, and it stands in the sweeper's index",
	},
	{
		"the index keeps an entity in which nothing is open", "gap.go",
		"		e.Gap, e.Shown = nil, nil\n		return\n",
		"		if !PLANTED {\n			e.Gap, e.Shown = nil, nil\n			return\n		}\n",
		"step", false, "nothing is open any more, and it stands in the sweeper's index",
	},
}
