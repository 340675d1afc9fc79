package scenario

import (
	"slices"
	"strings"
	"testing"
)

func TestTheMatrixIsPlayedInTheFilesOrderTheLastNameFastest(t *testing.T) {
	all, faults := combinations(parse(t, "{b: [1, 2], a: [x, null, {k: [1]}]}"), 1)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var got []string
	for _, c := range all {
		got = append(got, c.String())
	}
	want := []string{"b=1, a=x", "b=1, a=null", `b=1, a={"k":[1]}`, "b=2, a=x", "b=2, a=null", `b=2, a={"k":[1]}`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWithoutAMatrixThereIsOneCombination(t *testing.T) {
	all, faults := combinations(nil, 1)
	if len(all) != 1 || len(faults) > 0 || all[0].String() != "" || all[0].report() != nil {
		t.Errorf("%v, %v", all, faults)
	}
}

// A string that is exactly a placeholder takes the value with its type; inside a longer string, and in keys, its text.
func TestAPlaceholderIsFilled(t *testing.T) {
	all, _ := combinations(parse(t, `{n: [007], s: ["5"], l: [[1, a]], z: [null], f: [0.30]}`), 1)
	filler := filler{combination: all[0]}
	in := parse(t, `{a: "${n}", b: "${s}", c: "x${n}${s}${z}${f}", d: "${l}", e: "in ${l}", f: "${z}", g: ["${f}"], "k${s}": 1, h: "${unknown} stays here"}`)
	const want = `{"a":7,"b":"5","c":"x0075null0.30","d":[1,"a"],"e":"in [1,\"a\"]","f":null,"g":[0.30],"k5":1,"h":"${unknown} stays here"}`
	if got := string(filler.fill(in).json(nil)); got != want || len(filler.faults) > 0 {
		t.Errorf("%s, %v\nwant %s", got, filler.faults, want)
	}
}

func TestWhatHoldsNoPlaceholderIsShared(t *testing.T) {
	in := parse(t, `{a: {b: 1}, c: "${n}"}`)
	all, _ := combinations(parse(t, "{n: [1]}"), 1)
	filler := filler{combination: all[0]}
	if out := filler.fill(in); out.get("a") != in.get("a") || out == in {
		t.Error("a value without a placeholder was copied, or one with a placeholder was not")
	}
}

func TestAMatrixHasAnEnd(t *testing.T) {
	text := "{"
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		text += name + ": [1, 2, 3, 4, 5, 6], "
	}
	if _, faults := combinations(parse(t, text+"}"), 1); len(faults) != 1 {
		t.Errorf("6^6 combinations: %v", faults)
	}
}

// Of a large matrix a second play takes some, from its beginning to its end.
func TestSomeOfAMatrixAreSpread(t *testing.T) {
	for _, row := range []struct {
		n, atMost int
		want      []int
	}{
		{3, 0, []int{0, 1, 2}},
		{3, 3, []int{0, 1, 2}},
		{1, 1, []int{0}},
		{9, 3, []int{0, 4, 8}},
		{96, 4, []int{0, 31, 63, 95}},
		{5, 1, []int{0}},
		{0, 2, []int{}},
	} {
		if got := spread(row.n, row.atMost); !slices.Equal(got, row.want) {
			t.Errorf("%d of %d: %v, want %v", row.atMost, row.n, got, row.want)
		}
	}
}

// A few lines can ask for a mountain: the product of a matrix, or aliases of aliases.
func TestAFileIsNotWrittenOutToAMountain(t *testing.T) {
	if _, faults := combinations(parse(t, "{n: [1, 2]}"), maxWrittenOut/2+1); len(faults) != 1 {
		t.Errorf("the combinations of a large document: %v", faults)
	}
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for _, level := range []string{"b", "c", "d", "e", "f", "g", "h", "i"} {
		before := string(level[0] - 1)
		laughs += level + ": &" + level + " [" + strings.Repeat("*"+before+", ", 10) + "]\n"
	}
	if _, faults := parseDocument([]byte(laughs)); len(faults) != 1 || !strings.Contains(faults[0].text, "aliases") {
		t.Errorf("aliases of aliases: %v", faults)
	}
}
