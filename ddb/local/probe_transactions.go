package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func oldItemTransact(ctx context.Context, b bench) error {
	if err := b.put(ctx, b.with(item{"a": number("1")})); err != nil {
		return err
	}
	update := &types.Update{
		TableName: &b.table, Key: b.key(),
		UpdateExpression: aws.String("SET #a = :n"), ConditionExpression: aws.String("#a = :n"),
		ExpressionAttributeNames: used("#a"), ExpressionAttributeValues: item{":n": number("2")},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if err := b.cancelledWithItem(ctx, "an update", types.TransactWriteItem{Update: update}); err != nil {
		return err
	}
	if err := b.cancelledWithItem(ctx, "a put", b.putNew("0")); err != nil {
		return err
	}
	return b.cancelledWithItem(ctx, "a deletion", b.deleteOf("0", "2"))
}

func (b bench) cancelledWithItem(ctx context.Context, what string, action types.TransactWriteItem) error {
	reasons, err := b.cancelled(ctx, action)
	if err != nil {
		return err
	}
	if len(reasons) != 1 || digits(reasons[0].Item["a"]) != "1" {
		return fmt.Errorf("the failed condition of %s in a transaction carries no item", what)
	}
	return nil
}

func cancellationOrder(ctx context.Context, b bench) error {
	if err := b.put(ctx, b.with(nil)); err != nil {
		return err
	}
	reasons, err := b.cancelled(ctx, b.putNew("1"), b.putNew("0"), b.putNew("2"))
	if err != nil {
		return err
	}
	var codes []string
	for _, reason := range reasons {
		codes = append(codes, aws.ToString(reason.Code))
	}
	if want := []string{"None", "ConditionalCheckFailed", "None"}; fmt.Sprint(codes) != fmt.Sprint(want) {
		return fmt.Errorf("the cancellation reasons are %v, not %v", codes, want)
	}
	rows, err := b.between(ctx, "1", "2")
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		return errors.New("a cancelled transaction leaves some of its writes")
	}
	return nil
}

func transactDelete(ctx context.Context, b bench) error {
	for _, sorted := range []string{"1", "2"} {
		whole := b.key(sorted)
		whole["a"] = number(sorted)
		if err := b.put(ctx, whole); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		ofSecond string // what its deletion takes it for
		left     []string
	}{{"7", []string{"1", "2"}}, {"2", []string{"3"}}} {
		err := b.transact(ctx, "", b.putNew("3"), b.deleteOf("1", "1"), b.deleteOf("2", step.ofSecond))
		if done := slices.Equal(step.left, []string{"3"}); done != (err == nil) {
			return instead("deletions in a transaction do not heed their conditions", err)
		}
		left, err := b.between(ctx, "1", "3")
		if err != nil {
			return err
		}
		if !slices.Equal(left, step.left) {
			return fmt.Errorf("a transaction with deletions leaves %v, not %v", left, step.left)
		}
	}
	return nil
}

func transactTwice(ctx context.Context, b bench) error {
	return refused("a transaction with one item twice", b.transact(ctx, "", b.add("1"), b.putNew("0")))
}

func transactToken(ctx context.Context, b bench) error {
	token := rand.Text()
	for range 2 {
		if err := b.transact(ctx, token, b.add("1")); err != nil {
			return err
		}
	}
	got, err := b.get(ctx)
	if err != nil {
		return err
	}
	if n := digits(got["a"]); n != "1" {
		return fmt.Errorf("ADD of 1, sent twice with one ClientRequestToken, gives %s", n)
	}
	mismatch := (*types.IdempotentParameterMismatchException)(nil)
	if err := b.transact(ctx, token, b.add("2")); !errors.As(err, &mismatch) {
		return instead("other contents under one ClientRequestToken are not refused", err)
	}
	return nil
}

// putNew puts an item that must not be there yet.
func (b bench) putNew(sorted string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &b.table, Item: b.key(sorted),
		ConditionExpression: aws.String(noItem), ExpressionAttributeNames: used(noItem),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// deleteOf deletes an item whose attribute a must be amount.
func (b bench) deleteOf(sorted, amount string) types.TransactWriteItem {
	condition := "#a = :n"
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &b.table, Key: b.key(sorted), ConditionExpression: &condition,
		ExpressionAttributeNames: used(condition), ExpressionAttributeValues: item{":n": number(amount)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func (b bench) add(amount string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &b.table, Key: b.key(), UpdateExpression: aws.String("ADD #a :n"),
		ExpressionAttributeNames: used("#a"), ExpressionAttributeValues: item{":n": number(amount)},
	}}
}

func (b bench) transact(ctx context.Context, token string, actions ...types.TransactWriteItem) error {
	input := &dynamodb.TransactWriteItemsInput{TransactItems: actions}
	if token != "" {
		input.ClientRequestToken = &token
	}
	_, err := b.db.TransactWriteItems(ctx, input)
	return err
}

// cancelled sends a transaction that must fail and returns its reasons.
func (b bench) cancelled(ctx context.Context, actions ...types.TransactWriteItem) ([]types.CancellationReason, error) {
	err := b.transact(ctx, "", actions...)
	cancelled := (*types.TransactionCanceledException)(nil)
	if !errors.As(err, &cancelled) {
		return nil, instead("a transaction with a failed condition is not cancelled as such", err)
	}
	return cancelled.CancellationReasons, nil
}
