package local

import (
	"slices"
	"strings"
)

// Name is a behaviour of DynamoDB that this project relies on. Each says which AWS page defines it.
type Name string

// What conditions and single writes rely on.
const (
	// OneWinner: of parallel puts on the condition that there is no item, one succeeds and the others fail with
	// ConditionalCheckFailedException ("Working with items and attributes in DynamoDB", Conditional writes).
	OneWinner Name = "one-winner"
	// OldItemPut: a PutItem whose condition fails returns the item that stands there, if asked to
	// ("PutItem", ReturnValuesOnConditionCheckFailure).
	OldItemPut Name = "old-item-put"
	// OldItemUpdate: so does an UpdateItem; and where there is no item, the error carries none
	// ("UpdateItem", ReturnValuesOnConditionCheckFailure).
	OldItemUpdate Name = "old-item-update"
	// AllNew: UpdateItem with ReturnValues ALL_NEW returns the whole item as it is after the write ("UpdateItem").
	AllNew Name = "all-new"
	// ContainsMissing: contains of a missing attribute is false, alone and behind AND, OR and NOT, and no error
	// ("Condition and filter expressions, operators, and functions in DynamoDB").
	ContainsMissing Name = "contains-missing"
	// ByteOrder: strings compare by the bytes of their UTF-8, in conditions and in sort keys
	// ("Supported data types and naming rules in Amazon DynamoDB", String).
	ByteOrder Name = "byte-order"
	// DottedNames: behind a placeholder a name with a dot is one attribute, not a path, also beside one of its prefix
	// ("Expression attribute names (aliases) in DynamoDB", Attribute names containing special characters).
	DottedNames Name = "dotted-names"
	// BinaryValues: bytes come back as they went, the NUL and the invalid UTF-8 included, and compare equal
	// ("Supported data types and naming rules in Amazon DynamoDB", Binary).
	BinaryValues Name = "binary-values"
	// SetUpdates: ADD creates and extends a set, DELETE takes out members, and a set without members is no attribute
	// ("Using update expressions in DynamoDB", ADD and DELETE).
	SetUpdates Name = "set-updates"
)

// What transactions rely on.
const (
	// OldItemTransact: a failed condition in a transaction returns the item that stands there, if asked to
	// ("TransactWriteItems", ReturnValuesOnConditionCheckFailure of Put, Update, Delete and ConditionCheck).
	OldItemTransact Name = "old-item-transact"
	// CancellationOrder: a cancelled transaction has one reason for each of its items, in their order, and has
	// written nothing ("TransactWriteItems", TransactionCanceledException).
	CancellationOrder Name = "cancellation-order"
	// TransactDelete: a transaction deletes items on conditions, together with its other writes or not at all
	// ("TransactWriteItems", Delete).
	TransactDelete Name = "transact-delete"
	// TransactTwice: two actions on one item are refused
	// ("Amazon DynamoDB Transactions: How it works", TransactWriteItems API).
	TransactTwice Name = "transact-twice"
	// TransactToken: a transaction with the ClientRequestToken of an earlier one changes nothing and succeeds; with
	// other contents it fails with IdempotentParameterMismatchException ("TransactWriteItems", ClientRequestToken).
	TransactToken Name = "transact-token"
)

// What sums rely on.
const (
	// ExactAdd: 0.1 + 0.2 is 0.3 ("Supported data types and naming rules in Amazon DynamoDB", Number).
	ExactAdd Name = "exact-add"
	// ExactIntegers: 2^53 + 1 is stored, added and compared as such (same page, Number).
	ExactIntegers Name = "exact-integers"
	// ExactSets: 2^53 and 2^53 + 1 are two members of a number set (same page, Sets).
	ExactSets Name = "exact-sets"
	// Exponents: a number may be written with an exponent, as JSON may, and is added as such
	// (same page, Number, whose range is given so).
	Exponents Name = "exponents"
	// NumberRange: what has more than 38 digits is refused, as a value and as the result of ADD, and the item stays
	// as it was (same page, Number).
	NumberRange Name = "number-range"
)

// Limits that the project stays within, so an engine must have them for the tests to mean something.
const (
	// ItemLimit: an item of more than 400 KB is refused, one of just that size is not
	// ("Constraints in Amazon DynamoDB", Items).
	ItemLimit Name = "item-limit"
	// OperatorLimit: an expression of more than 300 operators and functions is refused
	// ("Constraints in Amazon DynamoDB", Expression parameters).
	OperatorLimit Name = "operator-limit"
	// ExpressionLimit: an expression of more than 4 KB is refused
	// ("Constraints in Amazon DynamoDB", Expression parameters).
	ExpressionLimit Name = "expression-limit"
	// BatchLimit: BatchGetItem refuses more than 100 keys, and one that stands there twice ("BatchGetItem").
	BatchLimit Name = "batch-limit"
	// EmptyValues: an empty string or binary is a value, at top level and inside lists and maps
	// ("Constraints in Amazon DynamoDB", Attribute values).
	EmptyValues Name = "empty-values"
	// EmptyKeys: an empty string is no key, of the table or of an index
	// ("Constraints in Amazon DynamoDB", Attribute values).
	EmptyKeys Name = "empty-keys"
	// EmptyNames: an attribute of the item has a name of at least one character
	// ("Supported data types and naming rules in Amazon DynamoDB", Naming rules).
	EmptyNames Name = "empty-names"
)

// What queries and the cost tests rely on.
const (
	// SortKeyBetween: a query takes a range of sort keys, both ends included, in order
	// ("Key condition expressions for the Query operation in DynamoDB").
	SortKeyBetween Name = "sort-key-between"
	// QueryPages: a query with a limit says where to go on, until nothing is left
	// ("Paginating table query results in DynamoDB").
	QueryPages Name = "query-pages"
	// BatchGet: BatchGetItem reads up to 100 keys, and leaves out what is not there ("BatchGetItem").
	BatchGet Name = "batch-get"
	// SparseIndex: an index holds the items that have its keys, only those attributes that it projects, and lets go
	// of an item that loses them ("Take advantage of sparse indexes").
	SparseIndex Name = "sparse-index"
	// ConsumedCapacity: writes and reads report their units: 1 per started KB, the index included, twice in a
	// transaction; 1 per started 4 KB read consistently ("DynamoDB read and write operations").
	ConsumedCapacity Name = "consumed-capacity"
)

// Finding is what the probe found about one behaviour.
type Finding struct {
	Name Name
	OK   bool
	Says string // one plain sentence: what holds, or what the engine does instead
}

// Findings are the results of one probe, one for each Name.
type Findings struct {
	Engine string // Engine.Name; empty where the probe only had a client
	All    []Finding
}

// Lacks tells whether the engine does not do what AWS does. What was not probed is lacking.
func (f Findings) Lacks(name Name) bool {
	i := slices.IndexFunc(f.All, func(one Finding) bool { return one.Name == name })
	return i < 0 || !f.All[i].OK
}

// Lacking returns the findings that are not OK, in the probe's order.
func (f Findings) Lacking() []Finding {
	return slices.DeleteFunc(slices.Clone(f.All), func(one Finding) bool { return one.OK })
}

// Missing says in one line what of names the engine lacks; empty when it lacks none.
func (f Findings) Missing(names ...Name) string {
	var sentences []string
	for _, name := range names {
		if f.Lacks(name) {
			sentences = append(sentences, f.sentence(name))
		}
	}
	return strings.Join(sentences, "; ")
}

func (f Findings) sentence(name Name) string {
	for _, one := range f.All {
		if one.Name == name {
			return string(name) + ": " + one.Says
		}
	}
	return string(name) + ": was not probed"
}
