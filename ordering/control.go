package ordering

import "inorder/events"

// control judges what is said about numbers. It is applied whatever the entity has, and changes it only where that is
// news. What lies beyond the window comes back, like an event that does.
func (p *stepPlan) control(in stepInput, span Range, candidates map[int64]*job, j *job) {
	base := in.base
	stored := events.SeqClock(base.Gen, base.Applied)
	done := Outcome{Disposition: Applied, Stored: stored}
	switch {
	case j.Event.Generation < base.Gen:
		p.final[j] = done
	case j.Event.Kind == events.Mark && j.Event.Seq > base.Highest():
		p.next.hear(j.Event.Seq, j.receivedAt(in.now))
		p.landed[j] = done
	case j.Event.Kind == events.Mark || !passable(in.stream, j.Event):
		p.final[j] = done
	default:
		for _, r := range j.Event.Ranges {
			if r.Last <= base.Applied {
				continue
			}
			for n := range between(max(r.First, base.Applied+1, span.First), min(r.Last, span.Last)) {
				if candidates[n] == nil && !base.Waiting.Has(n) {
					candidates[n] = j
					p.takeVoid(j)
				}
			}
			if r.Last > span.Last {
				p.fresh = true
				p.landed[j] = Outcome{Disposition: Deferred, Stored: stored, Err: beyondWindow(r.Last, in.stream, span)}
			}
		}
		if _, beyond := p.landed[j]; beyond {
			return
		}
		if p.voids[j] > 0 {
			p.landed[j] = done
		} else {
			p.final[j] = done
		}
	}
}

func (p *stepPlan) takeVoid(j *job) {
	if p.voids == nil {
		p.voids = map[*job]int{}
	}
	p.voids[j]++
}

// passable reports whether the cursor may pass the numbers of a void. What has merely expired was meant, so that is for
// the stream to say; until then it is an operator's affair, whom the gap's alarm calls.
func passable(s *events.Stream, void *events.Event) bool {
	return void.VoidReason == events.NeverExisted || s.SkipExpired
}

// control judges what is said about numbers: a mark tells of one, a void counts without change what nobody has. Both
// are applied, whatever the entity has.
func (p *deltaPlan) control(in deltaInput, counted []*job, j *job) {
	base, effective := in.base, in.base.Effective()
	span := window(effective+1, in.stream.Window)
	stored := events.SeqClock(base.Gen, effective)
	done := Outcome{Disposition: Applied, Stored: stored}
	switch {
	case j.Event.Generation < base.Gen:
	case j.Event.Kind == events.Mark && j.Event.Seq > base.Highest():
		p.heard = append(p.heard, Witness{j.Event.Seq, j.receivedAt(in.now)})
		p.landed[j] = done
	case j.Event.Kind == events.Void && passable(in.stream, j.Event):
		if news := p.void(in, span, counted, j.Event); news {
			p.landed[j] = done
		}
		if last := j.Event.Ranges[len(j.Event.Ranges)-1].Last; last > span.Last { // they ascend
			p.fresh = true
			p.landed[j] = Outcome{Disposition: Deferred, Stored: stored, Err: beyondWindow(last, in.stream, span)}
		}
	}
	if _, lands := p.landed[j]; !lands {
		p.final[j] = done
	}
}

// void takes the numbers of a void that nobody has, here or in the batch.
func (p *deltaPlan) void(in deltaInput, span Range, counted []*job, e *events.Event) (news bool) {
	taken := make(Numbers, len(counted))
	for i, j := range counted {
		taken[i] = j.Event.Seq
	}
	var fresh Numbers
	for _, r := range e.Ranges {
		if r.Last < span.First || span.First <= in.base.Effective() {
			continue
		}
		for n := range between(max(r.First, span.First), min(r.Last, span.Last)) {
			if !in.base.Ahead.Has(n) && !taken.Has(n) && !p.voided.Has(n) {
				fresh = append(fresh, n)
			}
		}
	}
	p.voided = p.voided.With(fresh...)
	if e.VoidReason == events.Expired {
		p.expired = p.expired.With(fresh...)
	}
	return len(fresh) > 0
}

// controls reports whether what is said about numbers changes the entity.
func (p *deltaPlan) controls() bool { return len(p.heard) > 0 || len(p.voided) > 0 }
