package events

import (
	"os"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The editor's schema and the parser must not contradict each other: every file of the parser's tables is judged alike,
// but for what the table marks, because a schema sees no numbers behind a duration and compares no two places
// (schema=ok), or because there is no one YAML document to look at (schema=no-yaml).
func TestTheSchemaJudgesStreamsFilesAsTheParserDoes(t *testing.T) {
	schema := streamsSchema(t)
	datadriven.Walk(t, "testdata/streams", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			mark := ""
			if d.HasArg("schema") {
				d.ScanArgs(t, "schema", &mark)
			}
			if mark == "no-yaml" {
				return d.Expected
			}
			for _, text := range append(oneByOne(t, d.Input), d.Input) {
				_, err := ParseStreams([]byte(text), caseOptions(t, d))
				checkSchema(t, d.Pos, schema, text, err == nil || mark == "ok")
			}
			return d.Expected
		})
	})
}

// oneByOne makes a file of each stream, so that one fault does not hide what the schema thinks of the next.
func oneByOne(t *testing.T, text string) (files []string) {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	root, _ := doc.(map[string]any)
	streams, _ := root["streams"].([]any)
	for _, stream := range streams {
		file, err := yaml.Marshal(map[string]any{"consumer": "c", "streams": []any{stream}})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(file))
	}
	return files
}

func TestTheSchemaTakesTheExample(t *testing.T) {
	checkSchema(t, "streams.yaml", streamsSchema(t), readFile(t, "streams.yaml"), true)
}

func streamsSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	schema, err := c.Compile("streams.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func checkSchema(t *testing.T, at string, schema *jsonschema.Schema, text string, wantValid bool) {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	if err := schema.Validate(doc); (err == nil) != wantValid {
		t.Errorf("%s: the schema says %v, the parser that it is valid: %t\n%s", at, err, wantValid, text)
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
