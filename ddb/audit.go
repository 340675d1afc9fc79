package ddb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/events"
	"inorder/ordering"
)

// The attributes of an audit row. Its instant is its key.
const (
	auditBy         = "by"
	auditReason     = "reason"
	auditGeneration = "generation"
	auditThrough    = "through"
	auditApplied    = "applied"
	auditLost       = "lost"
	auditPassed     = "passed"
)

// Audits are written by people, one for each skip. Ten nanoseconds in a row that are taken are no coincidence, and a
// thousand pages of them are nobody's.
const (
	maxAuditTries = 10
	maxAuditPages = 1000
)

// SwapAudited replaces a whole entity and keeps an audit row.
func (s *Store) SwapAudited(ctx context.Context, key ordering.Key, prev, next *ordering.Entity, audit ordering.Audit) error {
	put, err := s.Tables.swapPut(key, prev, next)
	if err == nil {
		err = s.audited(ctx, key, put, audit)
	}
	return failed("swap, with an audit row,", key, err)
}

func (s *Store) audited(ctx context.Context, key ordering.Key, put *types.Put, audit ordering.Audit) error {
	for range maxAuditTries {
		row := types.TransactWriteItem{Put: s.Tables.auditPut(key, audit)}
		_, err := s.API.TransactWriteItems(ctx, together(types.TransactWriteItem{Put: put}, row))
		found, ok := failedItems(err)
		if !ok {
			return described(err)
		}
		if it, lost := found[0]; lost {
			return s.moved(ctx, key, it)
		}
		audit.At = audit.At.Add(time.Nanosecond)
	}
	return fmt.Errorf("%w: %d audit rows in a row", ordering.ErrContended, maxAuditTries)
}

// Audits reads the audit rows of an entity.
func (s *Store) Audits(ctx context.Context, key ordering.Key) ([]ordering.Audit, error) {
	var audits []ordering.Audit
	query := s.Tables.itemsQuery(key, newExpression(), auditPrefix, auditsEnd)
	err := s.pages(ctx, query, maxAuditPages, func(items []item) (bool, error) {
		for _, it := range items {
			audit, err := decodeAudit(it)
			if err != nil {
				return false, err
			}
			audits = append(audits, audit)
		}
		return true, nil
	})
	if err != nil {
		return nil, failed("read the audit rows of", key, err)
	}
	return audits, nil
}

func encodeAudit(pk string, a ordering.Audit) item {
	out := item{attrPK: text(pk), attrSK: text(auditSK(a.At))}
	w := itemWriter(out)
	w.text(auditBy, a.By)
	w.text(auditReason, a.Reason)
	w.integer(auditGeneration, a.Gen)
	w.integer(auditThrough, a.Through)
	w.text(auditApplied, encodeRanges(a.Applied))
	w.text(auditLost, encodeRanges(a.Lost))
	w.text(auditPassed, encodeRanges(a.Passed))
	return out
}

func decodeAudit(it item) (ordering.Audit, error) {
	r := &itemReader{item: it}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(r.text(attrSK), auditPrefix))
	a := ordering.Audit{
		At:      at,
		By:      r.text(auditBy),
		Reason:  r.text(auditReason),
		Gen:     r.integer(auditGeneration),
		Through: r.integer(auditThrough),
		Applied: r.ranges(auditApplied),
		Lost:    r.ranges(auditLost),
		Passed:  r.ranges(auditPassed),
	}
	return a, errors.Join(err, r.err)
}

func (r *itemReader) ranges(name string) []events.Range {
	ranges, err := decodeRanges(r.text(name))
	if err != nil {
		r.fail(name, err)
	}
	return ranges
}
