package producer

import (
	"encoding/json"
	"fmt"
)

// tellLedgers fills n events with accounts. The first is the busy one that every company has.
func tellLedgers(b *book, n int) {
	for i := 1; n > 0; i++ {
		p := b.entity(Ledger, fmt.Sprintf("acc_%04d", i), "")
		length := b.length(18, n)
		if i == 1 {
			length = max(length, n/8)
		}
		currency := []string{"EUR", "EUR", "USD", "SEK"}[b.rng.IntN(4)]
		p.bursts(length, func() { p.entry(currency) })
		n -= length
	}
}

func (p *page) entry(currency string) {
	if p.rank > 0 && p.rng.IntN(12) == 0 {
		p.record("EntryViewed", map[string]any{"account": p.Entity})
		return
	}
	p.record("EntryPosted", map[string]any{
		"account": p.Entity, "entry": fmt.Sprintf("%s-%d", p.Entity, p.rank+1),
		"amount": p.amount(), "currency": currency,
	})
}

// amount is money as producers write it: a number or, with more care, a text. Cents make sums of floats wrong.
func (p *page) amount() any {
	cents := p.rng.IntN(40000) - 12000
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	text := fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
	if p.rng.IntN(2) == 0 {
		return text
	}
	return json.Number(text)
}

// tellWallets fills n events with wallets whose owners are told of every movement.
func tellWallets(b *book, n int) {
	reasons := []string{"top-up", "purchase", "refund", "fee"}
	for i := 1; n > 0; i++ {
		p := b.entity(Wallet, fmt.Sprintf("wallet_%03d", i), "")
		length := b.length(20, n)
		p.bursts(length, func() {
			p.record("WalletMoved", map[string]any{
				"wallet": p.Entity, "amount": p.amount(), "reason": reasons[p.rng.IntN(len(reasons))],
			})
		})
		n -= length
	}
}

// tellSeats fills n events with counters of seats. One team is busy all day.
func tellSeats(b *book, n int) {
	for i := 1; n > 0; i++ {
		p := b.entity(Seats, fmt.Sprintf("team_%03d", i), "")
		length := b.length(11, n)
		if i == 1 {
			length = max(length, n/10)
		}
		p.bursts(length, func() {
			delta := 1 + p.rng.IntN(9)
			if p.rng.IntN(3) == 0 {
				delta = -delta
			}
			p.record("SeatsAdded", map[string]any{"delta": json.Number(fmt.Sprint(delta))})
		})
		n -= length
	}
}
