package ddb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// DynamoDB's limits for one expression: "Constraints in Amazon DynamoDB", expression parameters. Whether an assignment
// counts as an operator is not said there; here it does.
const (
	maxExpressionBytes     = 4096
	maxExpressionOperators = 300
)

// expression gathers a write's conditions and changes with the placeholders that they use.
type expression struct {
	names  map[string]string // placeholder → attribute
	values item              // placeholder → value
	byName map[string]string // attribute → placeholder

	conditions                []string // all must hold
	sets, removes, adds, dels []string
}

func newExpression() *expression {
	return &expression{names: make(map[string]string), values: make(item), byName: make(map[string]string)}
}

// name returns the placeholder of an attribute.
func (x *expression) name(attribute string) string {
	placeholder, ok := x.byName[attribute]
	if !ok {
		placeholder = "#" + strconv.Itoa(len(x.names))
		x.names[placeholder], x.byName[attribute] = attribute, placeholder
	}
	return placeholder
}

// value returns the placeholder of a value.
func (x *expression) value(v types.AttributeValue) string {
	placeholder := ":" + strconv.Itoa(len(x.values))
	x.values[placeholder] = v
	return placeholder
}

func (x *expression) require(condition string) { x.conditions = append(x.conditions, condition) }

func (x *expression) absent(attribute string) string {
	return "attribute_not_exists(" + x.name(attribute) + ")"
}

func (x *expression) present(attribute string) string {
	return "attribute_exists(" + x.name(attribute) + ")"
}

func (x *expression) compare(attribute, operator string, v types.AttributeValue) string {
	return x.name(attribute) + " " + operator + " " + x.value(v)
}

func (x *expression) set(attribute string, v types.AttributeValue) {
	x.sets = append(x.sets, x.compare(attribute, "=", v))
}

// setOnce sets an attribute that is not there yet.
func (x *expression) setOnce(attribute string, v types.AttributeValue) {
	name := x.name(attribute)
	x.sets = append(x.sets, fmt.Sprintf("%s = if_not_exists(%s, %s)", name, name, x.value(v)))
}

func (x *expression) remove(attribute string) { x.removes = append(x.removes, x.name(attribute)) }

// add adds to a number, or elements to a set.
func (x *expression) add(attribute string, v types.AttributeValue) {
	x.adds = append(x.adds, x.name(attribute)+" "+x.value(v))
}

// del deletes elements of a set. A set that is left empty is gone.
func (x *expression) del(attribute string, v types.AttributeValue) {
	x.dels = append(x.dels, x.name(attribute)+" "+x.value(v))
}

// condition returns nil where there is none.
func (x *expression) condition() *string {
	if len(x.conditions) == 0 {
		return nil
	}
	s := strings.Join(x.conditions, " AND ")
	return &s
}

func (x *expression) update() *string {
	var clauses []string
	for _, clause := range []struct {
		verb  string
		terms []string
	}{{"SET", x.sets}, {"REMOVE", x.removes}, {"ADD", x.adds}, {"DELETE", x.dels}} {
		if len(clause.terms) > 0 {
			clauses = append(clauses, clause.verb+" "+strings.Join(clause.terms, ", "))
		}
	}
	s := strings.Join(clauses, " ")
	return &s
}

// check returns ErrTooComplex for an expression that DynamoDB would refuse for its size.
func (x *expression) check() error {
	for _, e := range []*string{x.condition(), x.update()} {
		if e == nil {
			continue
		}
		if n := len(*e); n > maxExpressionBytes {
			return fmt.Errorf("%w: an expression of %d bytes", ordering.ErrTooComplex, n)
		}
		if n := countOperators(*e); n > maxExpressionOperators {
			return fmt.Errorf("%w: an expression of %d operators", ordering.ErrTooComplex, n)
		}
	}
	return nil
}

var operator = regexp.MustCompile(`[=<>]+|\b(?:AND|OR|NOT|BETWEEN|[a-z_]+\()`)

func countOperators(expression string) int { return len(operator.FindAllString(expression, -1)) }
