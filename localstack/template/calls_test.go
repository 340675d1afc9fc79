package template

import (
	"cmp"
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"inorder/cmd/inorder/stack"
	"inorder/ddb"
)

// permission is an action of IAM on a resource, by the name of the output that says which one it is; an index by the
// name of its table and its own.
type permission struct{ action, on string }

func (p permission) String() string { return p.action + " on " + p.on }

type permissions map[permission]bool

func (p permissions) list() []permission {
	return slices.SortedFunc(maps.Keys(p), func(a, b permission) int {
		return cmp.Or(cmp.Compare(a.on, b.on), cmp.Compare(a.action, b.action))
	})
}

// calls is what some code may ask AWS for.
type calls struct {
	actions  map[string]bool // of all services
	onTables permissions
	speaksOf map[string]bool // the resources of a deployment that are named in it, by their outputs
	unclear  []string        // code that takes a table's name, and does with it what is not understood here
}

func (r reached) calls() *calls {
	c := &calls{actions: map[string]bool{}, onTables: permissions{}, speaksOf: map[string]bool{}}
	for f := range r {
		for _, asked := range requests(f) {
			c.actions[action(asked)] = true
		}
		for _, table := range tablesTaken(f) {
			c.note(f, table)
		}
		if f.Pkg == nil || f.Pkg.Pkg.Path() != resourcesIn || f.Synthetic == "" { // what initialises that package lists them all
			speaksOf(f, c.speaksOf)
		}
	}
	slices.Sort(c.unclear)
	return c
}

// note notes what a function does with a table whose name it takes: the request, or the part of a transaction, that it
// makes or sends; else it hands the name on to a function that does.
func (c *calls) note(f *ssa.Function, table string) {
	asked := requests(f)
	for block := range slices.Values(f.Blocks) {
		for _, instruction := range block.Instrs {
			if call, ok := instruction.(ssa.CallInstruction); ok && len(requests(f)) == 0 && call.Common().StaticCallee() != nil {
				asked = append(asked, requests(call.Common().StaticCallee())...)
			}
		}
	}
	if len(asked) == 0 {
		c.unclear = append(c.unclear, fmt.Sprintf("%s takes the name of %s", f, table))
	}
	if slices.Contains(asked, "dynamodb.QueryInput") && setsField(f, "QueryInput", "IndexName") {
		table += "/index/" + ddb.GapsIndex
	}
	for _, one := range asked {
		if one != "dynamodb.TransactWriteItemsInput" { // it needs what its parts need
			c.onTables[permission{action(one), table}] = true
		}
	}
}

// action is what IAM calls a request, or a part of a transaction.
func action(asked string) string {
	service, operation, _ := strings.Cut(asked, ".")
	operation = strings.TrimSuffix(operation, "Input")
	switch service {
	case "dynamodb/types": // "Using IAM with DynamoDB transactions", Amazon DynamoDB Developer Guide
		return "dynamodb:" + strings.TrimSuffix(operation, "Item") + "Item"
	case "sqs": // "Amazon SQS API permissions: Actions and resource reference", Amazon SQS Developer Guide
		return "sqs:" + strings.TrimSuffix(operation, "Batch")
	case "cloudwatchlogs":
		return "logs:" + operation
	}
	return service + ":" + operation
}

// requests are the inputs of requests, and the parts of transactions, that a function returns, makes or hands to another.
func requests(f *ssa.Function) (asked []string) {
	see := func(t types.Type) {
		if pkg, name := service(t); strings.HasSuffix(name, "Input") || pkg == "dynamodb/types" && slices.Contains([]string{"Put", "Update", "Delete", "ConditionCheck"}, name) {
			asked = append(asked, pkg+"."+name)
		}
	}
	all := func(tuple *types.Tuple) {
		for v := range tuple.Variables() {
			see(v.Type())
		}
	}
	all(f.Signature.Results())
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			switch in := instruction.(type) {
			case *ssa.Alloc:
				see(in.Type())
			case ssa.CallInstruction:
				all(in.Common().Signature().Params())
				all(in.Common().Signature().Results())
			}
		}
	}
	return asked
}

// tables by the field that holds a table's name.
var tableIn = map[[2]string]string{
	{"Tables", "Entities"}: "EntitiesTable", {"Tables", "Items"}: "ItemsTable", {"Outbox", "Table"}: "OutboxTable", {"Scan", "Table"}: "EntitiesTable",
}

// tablesTaken are those whose names a function takes from a field of ddb's, not those that it sets.
func tablesTaken(f *ssa.Function) (taken []string) {
	for field, table := range tableIn {
		if usesField(f, "inorder/ddb", field[0], field[1], true) {
			taken = append(taken, table)
		}
	}
	return taken
}

func setsField(f *ssa.Function, typ, field string) bool {
	return usesField(f, "github.com/aws/aws-sdk-go-v2/service/dynamodb", typ, field, false)
}

func usesField(f *ssa.Function, pkg, typ, field string, reads bool) bool {
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			switch in := instruction.(type) {
			case *ssa.Field:
				if reads && isField(in.X.Type(), in.Field, pkg, typ, field) {
					return true
				}
			case *ssa.FieldAddr:
				if isField(in.X.Type(), in.Field, pkg, typ, field) && onlySet(in) != reads {
					return true
				}
			}
		}
	}
	return false
}

func isField(of types.Type, number int, pkg, typ, field string) bool {
	if !isOf(of, pkg, typ) {
		return false
	}
	if pointer, ok := of.Underlying().(*types.Pointer); ok {
		of = pointer.Elem()
	}
	return of.Underlying().(*types.Struct).Field(number).Name() == field
}

// onlySet reports whether a field's address only serves to set it.
func onlySet(address *ssa.FieldAddr) bool {
	for _, user := range *address.Referrers() {
		if store, ok := user.(*ssa.Store); !ok || store.Addr != address {
			return false
		}
	}
	return true
}

const resourcesIn = "inorder/cmd/inorder/stack"

// speaksOf notes the resources of a deployment that a function names.
func speaksOf(f *ssa.Function, into map[string]bool) {
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			for _, operand := range instruction.Operands(nil) {
				if c, ok := (*operand).(*ssa.Const); ok && isOf(c.Type(), resourcesIn, "Resource") {
					if n, exact := constant.Int64Val(c.Value); exact {
						into[stack.Resource(n).Output()] = true
					}
				}
			}
		}
	}
}
