package local

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// What each engine lacks, in the probe's order. A change of an engine is noticed here, for better or for worse.
var knownToLack = map[string][]Name{
	Dynoxide: {OperatorLimit, EmptyNames},
	Moto:     {TransactToken, Exponents, NumberRange, ItemLimit, OperatorLimit, ExpressionLimit, ConsumedCapacity, EmptyNames},
	Minidyn: {
		OldItemPut, ContainsMissing, DottedNames, OldItemTransact, TransactToken, ExactAdd, ExactIntegers, ExactSets, NumberRange,
		ItemLimit, OperatorLimit, ExpressionLimit, BatchLimit, EmptyKeys, SparseIndex, ConsumedCapacity, SetUpdates, EmptyNames,
	},
}

func TestProbeFindsWhatTheEnginesLack(t *testing.T) {
	for name, want := range knownToLack {
		t.Run(name, func(t *testing.T) {
			engine := ForTest(t, name)
			findings, err := engine.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var lacking []Name
			for _, one := range findings.Lacking() {
				lacking = append(lacking, one.Name)
				t.Logf("%s %s lacks %s: %s", engine.Name, engine.Version, one.Name, one.Says)
			}
			if !slices.Equal(lacking, want) {
				t.Errorf("%s %s lacks %q, known to lack %q", engine.Name, engine.Version, lacking, want)
			}
		})
	}
}

func TestProbeRemovesItsTable(t *testing.T) {
	engine := ForTest(t, Dynoxide)
	if _, err := engine.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := engine.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if len(left.TableNames) > 0 {
		t.Errorf("left: %q", left.TableNames)
	}
}

// Every name is checked once, so that no behaviour is lacking only because nobody asked.
func TestEveryNameIsChecked(t *testing.T) {
	declared := declaredNames(t)
	var checked []Name
	for _, c := range checks {
		checked = append(checked, c.name)
	}
	slices.Sort(declared)
	slices.Sort(checked)
	if !slices.Equal(declared, checked) {
		t.Errorf("declared %q\nchecked  %q", declared, checked)
	}
}

func declaredNames(t *testing.T) []Name {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "findings.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []Name
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Name" {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, Name(value))
		return true
	})
	return found
}

func TestAnEngineThatIsGoneIsAnErrorNotALack(t *testing.T) {
	engine := ForTest(t, Minidyn)
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Probe(t.Context()); err == nil {
		t.Error("found something")
	}
}

// A test that relies on what is lacking is skipped by name on minidyn, and fails on dynoxide and anything else.
func TestNeed(t *testing.T) {
	all := []Finding{{ExactAdd, false, "0.1 + 0.2 is 0.4"}, {OneWinner, true, ""}}
	for _, test := range []struct {
		engine string
		need   []Name
		want   string
	}{
		{Minidyn, []Name{OneWinner}, ""},
		{Minidyn, []Name{OneWinner, ExactAdd}, "skip: minidyn lacks exact-add: 0.1 + 0.2 is 0.4"},
		{Dynoxide, []Name{OneWinner}, ""},
		{Dynoxide, []Name{ExactAdd}, "fail: the engine dynoxide lacks what this test relies on: exact-add: 0.1 + 0.2 is 0.4"},
		{"", []Name{AllNew}, "fail: the engine  lacks what this test relies on: all-new: was not probed"},
	} {
		var heard listener
		Need(&heard, Findings{Engine: test.engine, All: all}, test.need...)
		if heard.said != test.want {
			t.Errorf("%s %v: %q", test.engine, test.need, heard.said)
		}
	}
}

// A missing dynoxide skips a test, except where one was asked for.
func TestForTestWithoutDynoxide(t *testing.T) {
	for asked, want := range map[string]string{"": "skip: ", Dynoxide: "fail: "} {
		t.Run("asked for "+asked, func(t *testing.T) {
			nowhere(t)
			t.Setenv(EngineVariable, asked)
			heard := listener{stop: true}
			func() {
				defer func() { _ = recover() }()
				ForTest(&heard, Dynoxide)
			}()
			if len(heard.said) < len(want) || heard.said[:len(want)] != want {
				t.Errorf("got %q", heard.said)
			}
		})
	}
}

// listener is a test that only notes how it would end.
type listener struct {
	said string
	stop bool // by panic, as the real one stops by leaving the goroutine
}

func (l *listener) Helper()                           {}
func (l *listener) Context() context.Context          { return context.Background() }
func (l *listener) Cleanup(func())                    {}
func (l *listener) Errorf(format string, args ...any) { l.end("error: ", format, args) }
func (l *listener) Fatalf(format string, args ...any) { l.end("fail: ", format, args) }
func (l *listener) Skipf(format string, args ...any)  { l.end("skip: ", format, args) }

func (l *listener) end(how, format string, args []any) {
	l.said = how + fmt.Sprintf(format, args...)
	if l.stop {
		panic(l.said)
	}
}
