package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const rivals = 8 // parallel conditional puts

const noItem = "attribute_not_exists(#pk)"

func oneWinner(ctx context.Context, b bench) error {
	results := make([]error, rivals)
	var wait sync.WaitGroup
	for i := range results {
		wait.Go(func() { results[i] = b.putIf(ctx, b.with(item{"a": number(strconv.Itoa(i))}), noItem, nil) })
	}
	wait.Wait()
	won := 0
	for _, err := range results {
		switch {
		case err == nil:
			won++
		case !lost(err):
			return err
		}
	}
	if won != 1 {
		return fmt.Errorf("%d of %d parallel conditional puts win", won, rivals)
	}
	return nil
}

func oldItemPut(ctx context.Context, b bench) error {
	if err := b.put(ctx, b.with(item{"a": number("1")})); err != nil {
		return err
	}
	return carries(b.putIf(ctx, b.with(item{"a": number("2")}), noItem, nil), "1")
}

func oldItemUpdate(ctx context.Context, b bench) error {
	attempt := func() error {
		condition, set := "#b = :one", "SET #a = :one"
		_, err := b.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &b.table, Key: b.key(), UpdateExpression: &set, ConditionExpression: &condition,
			ExpressionAttributeNames:            used(condition + " " + set),
			ExpressionAttributeValues:           item{":one": number("1")},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	}
	if err := carries(attempt(), ""); err != nil {
		return fmt.Errorf("where there is no item: %w", err)
	}
	if err := b.put(ctx, b.with(item{"a": number("7")})); err != nil {
		return err
	}
	return carries(attempt(), "7")
}

// carries says whether err is a failed condition with an item whose attribute a is want; empty: with no item.
func carries(err error, want string) error {
	failed := (*types.ConditionalCheckFailedException)(nil)
	if !errors.As(err, &failed) {
		return instead("the condition does not fail as such", err)
	}
	if got := digits(failed.Item["a"]); got != want {
		return fmt.Errorf("the failed condition carries %q, not %q", got, want)
	}
	return nil
}

func allNew(ctx context.Context, b bench) error {
	if err := b.put(ctx, b.with(item{"a": number("1")})); err != nil {
		return err
	}
	expression := "SET #b = :two ADD #a :two"
	out, err := b.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &b.table, Key: b.key(), UpdateExpression: &expression,
		ExpressionAttributeNames: used(expression), ExpressionAttributeValues: item{":two": number("2")},
		ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return err
	}
	if len(out.Attributes) != 4 || digits(out.Attributes["a"]) != "3" || digits(out.Attributes["b"]) != "2" {
		return fmt.Errorf("ALL_NEW returns %d attributes, a %q, b %q",
			len(out.Attributes), digits(out.Attributes["a"]), digits(out.Attributes["b"]))
	}
	return nil
}

// containsMissing asks in the ways that a write of increments would: is none of the numbers counted yet?
func containsMissing(ctx context.Context, b bench) error {
	if err := b.put(ctx, b.with(nil)); err != nil {
		return err
	}
	for _, ask := range []struct {
		condition string
		want      bool
	}{
		{"contains(#a, :n)", false},
		{"NOT contains(#a, :n)", true},
		{"attribute_exists(#a) AND contains(#a, :n)", false},
		{"attribute_not_exists(#a) OR contains(#a, :n)", true},
		{"attribute_exists(#pk) AND (NOT contains(#a, :n))", true},
	} {
		got, err := b.holds(ctx, ask.condition, item{":n": number("3")})
		if err != nil {
			return instead(fmt.Sprintf("without the attribute, %s fails", ask.condition), err)
		}
		if got != ask.want {
			return fmt.Errorf("without the attribute, %s is %t", ask.condition, got)
		}
	}
	return nil
}

// byteOrder tells UTF-8 from UTF-16 order: in the latter an emoji comes before a full-width tilde.
func byteOrder(ctx context.Context, b bench) error {
	const tilde, emoji = "\uFF5E", "\U0001F600"
	if err := b.put(ctx, b.with(item{"a": text(tilde)})); err != nil {
		return err
	}
	if below, err := b.holds(ctx, "#a < :v", item{":v": text(emoji)}); err != nil || !below {
		return instead("a condition does not compare by UTF-8 bytes", err)
	}
	for _, sorted := range []string{emoji, tilde} {
		if err := b.put(ctx, b.key(sorted)); err != nil {
			return err
		}
	}
	rows, err := b.between(ctx, "1", "\U0010FFFF")
	if err != nil {
		return err
	}
	if !slices.Equal(rows, []string{tilde, emoji}) {
		return fmt.Errorf("sort keys stand in the order %q", rows)
	}
	return nil
}

func dottedNames(ctx context.Context, b bench) error {
	if err := b.put(ctx, b.with(item{"_clock": text("beside it")})); err != nil {
		return err
	}
	if err := b.update(ctx, "SET #c = :n", item{":n": number("5")}); err != nil {
		return err
	}
	got, err := b.get(ctx)
	if err != nil {
		return err
	}
	if digits(got["_clock.crm"]) != "5" {
		return errors.New("an attribute with a dot in its name is not stored under it")
	}
	if below, err := b.holds(ctx, "#c < :n", item{":n": number("6")}); err != nil || !below {
		return instead("an attribute with a dot in its name cannot be compared", err)
	}
	return nil
}

func binaryValues(ctx context.Context, b bench) error {
	raw := []byte{0, 0xff, 0xfe, '{', 0}
	if err := b.put(ctx, b.with(item{"a": binary(raw)})); err != nil {
		return err
	}
	got, err := b.get(ctx)
	if err != nil {
		return err
	}
	if back, ok := got["a"].(*types.AttributeValueMemberB); !ok || !bytes.Equal(back.Value, raw) {
		return errors.New("binary values do not come back as they went")
	}
	if same, err := b.holds(ctx, "#a = :v", item{":v": binary(raw)}); err != nil || !same {
		return instead("binary values do not compare equal", err)
	}
	return nil
}

func setUpdates(ctx context.Context, b bench) error {
	for _, step := range []struct {
		expression string
		value      types.AttributeValue
		left       []string
	}{
		{"ADD #a :s", set("3"), []string{"3"}},
		{"ADD #a :s", set("3", "5"), []string{"3", "5"}},
		{"DELETE #a :s", set("3", "4"), []string{"5"}},
		{"DELETE #a :s", set("5"), nil},
	} {
		if err := b.update(ctx, step.expression, item{":s": step.value}); err != nil {
			return err
		}
		got, err := b.get(ctx)
		if err != nil {
			return err
		}
		if _, stays := got["a"]; stays != (step.left != nil) || !slices.Equal(members(got["a"]), step.left) {
			return fmt.Errorf("%s leaves %q, not %q", step.expression, members(got["a"]), step.left)
		}
	}
	return nil
}
