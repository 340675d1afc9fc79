package template

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/ssa"
)

// What a function must be allowed is known from two sides. What its code may do to a table is found by walking the code
// from its main: the role allows all of that and no more. What it does with queues is seen in a play of the real thing:
// the same. TestPlay holds the two sides against each other.

// Every role allows what its function does, and what Lambda does for it, and nothing else.
func checkPermissions(v *views) (wrong []string) {
	var f faults
	tpl, need := v.transformed(), needs(v.t)
	each(tpl, func(name string, s *Stack) {
		for _, function := range s.Types("AWS::Lambda::Function") {
			folder := strings.TrimPrefix(text(function.Properties["FunctionName"]), "inorder-")
			role := text(function.Properties["Role"])
			want := append(s.grants(need[folder]), s.forLambda(function)...)
			f.same(name+": the role of the "+folder, granted(inline(s.Resources[role[strings.LastIndexByte(role, '/')+1:]])), want)
		}
		if role := s.Resources["WebhookRole"]; role != nil {
			want := s.grants(permissions{{"sqs:SendMessage", "EventsQueueUrl"}: true})
			f.same(name+": the role of the webhooks", granted(inline(role)), append(want, s.forKey("kms:Decrypt", "kms:GenerateDataKey")...))
		}
	})
	return f
}

// Producers and operators are allowed what our code does for them, and nothing else. A producer of its own sends, and
// answers the republish queue where no relay does.
func checkPeople(v *views) (wrong []string) {
	var f faults
	tpl, need := v.transformed(), needs(v.t)
	each(tpl, func(name string, s *Stack) {
		policy := func(id string) []grant { return granted(statements(At(s.properties(id), "PolicyDocument"))) }
		producer := permissions{{"sqs:SendMessage", "EventsQueueUrl"}: true, {"sqs:GetQueueUrl", "EventsQueueUrl"}: true}
		if s.Parameters["Outbox"] == "own" {
			for p := range need["producer"] {
				producer[p] = true
			}
		} else {
			for _, action := range []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"} {
				producer[permission{action, "RepublishQueueUrl"}] = true
			}
		}
		both := []string{"kms:Decrypt", "kms:GenerateDataKey"}
		f.same(name+": the producer", policy("ProducerPolicy"), append(s.grants(producer), s.forKey(both...)...))
		f.same(name+": the operator who reads", policy("OperatorReadPolicy"), append(s.grants(need["reads"]), s.forKey("kms:Decrypt")...))
		more := permissions{}
		for p := range need["changes"] {
			if !need["reads"][p] {
				more[p] = true
			}
		}
		f.same(name+": the operator who changes", policy("OperatorChangePolicy"), append(s.grants(more), s.forKey(both...)...))
	})
	return f
}

// grant is an action on a resource, by its ARN.
type grant struct{ action, arn string }

// granted are all pairs that statements allow.
func granted(all []statement) (grants []grant) {
	for _, st := range all {
		for _, action := range st.actions {
			for _, resource := range st.resources {
				grants = append(grants, grant{action, resource})
			}
		}
	}
	return grants
}

func (f *faults) same(who string, got, want []grant) {
	for _, g := range want {
		if !slices.Contains(got, g) {
			f.add("%s may not %s on %s, and has to", who, g.action, g.arn)
		}
	}
	for i, g := range got {
		if !slices.Contains(want, g) {
			f.add("%s may %s on %s, and never does", who, g.action, g.arn)
		}
		if slices.Contains(got[:i], g) {
			f.add("%s may %s on %s, twice", who, g.action, g.arn)
		}
	}
}

// grants are permissions on what there is in a stack.
func (s *Stack) grants(all permissions) (grants []grant) {
	for _, p := range all.list() {
		if resource := s.arnOf(p.on); resource != "" {
			grants = append(grants, grant{p.action, resource})
		}
	}
	return grants
}

// arnOf is the ARN of what an output tells; empty where there is none.
func (s *Stack) arnOf(output string) string {
	name, index, isIndex := strings.Cut(output, "/")
	value := text(s.Outputs[name])
	switch {
	case output == theStack:
		return text(pseudo["AWS::StackId"])
	case value == "":
		return ""
	case isIndex:
		return arn("dynamodb", "table/"+value) + "/" + index
	case strings.HasSuffix(output, "Table"):
		return arn("dynamodb", "table/"+value)
	case strings.HasSuffix(output, "LogGroup"):
		return arn("logs", "log-group:"+value) + ":*"
	}
	u, err := url.Parse(value)
	if err != nil {
		return value
	}
	path := strings.Split(u.Path, "/")
	return "arn:aws:sqs:" + strings.Split(u.Host, ".")[1] + ":" + path[1] + ":" + path[2]
}

// forLambda is what Lambda does in a function's name: takes messages and rows, tells what it gave up, keeps log lines and
// traces, and decrypts. "Defining Lambda function permissions with an execution role", AWS Lambda Developer Guide.
func (s *Stack) forLambda(function *Resource) (grants []grant) {
	allow := func(on string, actions ...string) {
		for _, action := range actions {
			grants = append(grants, grant{action, on})
		}
	}
	for _, mapping := range s.Types("AWS::Lambda::EventSourceMapping") {
		if mapping.Properties["FunctionName"] != function.Properties["FunctionName"] {
			continue
		}
		source := text(mapping.Properties["EventSourceArn"])
		if table, _, stream := strings.Cut(source, "/stream/"); stream {
			allow(source, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
			allow(table+"/stream/*", "dynamodb:ListStreams")
		} else {
			allow(source, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
		}
		if failed := text(At(mapping.Properties, "DestinationConfig", "OnFailure", "Destination")); failed != "" {
			allow(failed, "sqs:SendMessage")
		}
	}
	allow(arn("logs", "log-group:"+text(At(function.Properties, "LoggingConfig", "LogGroup")))+":*", "logs:CreateLogStream", "logs:PutLogEvents")
	if At(function.Properties, "TracingConfig", "Mode") == "Active" {
		allow("*", traces...)
	}
	return append(grants, s.forKey("kms:Decrypt", "kms:GenerateDataKey")...)
}

// forKey are actions on the key, where there is one.
func (s *Stack) forKey(actions ...string) (grants []grant) {
	for _, action := range actions {
		if key := s.Parameters["KmsKeyArn"]; key != "" {
			grants = append(grants, grant{action, key})
		}
	}
	return grants
}

// needs is what each function, a producer, and an operator who reads or changes must be allowed.
func needs(t *testing.T) map[string]permissions {
	t.Helper()
	seen := play(t)
	all := map[string]permissions{}
	for who, code := range walked(t) {
		all[who] = permissions{}
		for p := range code.onTables {
			all[who][p] = true
		}
		for p := range seen[who] {
			all[who][p] = true
		}
	}
	return all
}

// walked is what the code of each may do.
func walked(t *testing.T) map[string]*calls {
	t.Helper()
	of, err := walk()
	if err != nil {
		t.Fatal(err)
	}
	return of.calls
}

// walk is a walk through the whole program, once.
var walk = sync.OnceValues(func() (of struct {
	calls    map[string]*calls
	commands []string // that operate a deployment
}, err error,
) {
	p, err := load()
	if err != nil {
		return of, err
	}
	of.commands = p.commands()
	of.calls = map[string]*calls{"producer": p.reach(p.method("inorder/ddb", "Outbox", "Write")).calls()}
	for _, folder := range folders() {
		of.calls[folder] = p.reach(p.ImportedPackage("inorder/functions/" + folder).Func("main")).calls()
	}
	run := func(commands []string) (runs []*ssa.Function) {
		for _, name := range commands {
			runs = append(runs, p.method("inorder/cmd/inorder/"+name, "Command", "Run"))
		}
		return runs
	}
	of.calls["reads"], of.calls["changes"] = p.reach(run(reads)...).calls(), p.reach(run(changes)...).calls()
	return of, nil
})

// commands are those of the terminal that operate a deployment.
func (p *program) commands() (names []string) {
	for _, pkg := range p.AllPackages() {
		name, ours := strings.CutPrefix(pkg.Pkg.Path(), "inorder/cmd/inorder/")
		if command := pkg.Type("Command"); ours && command != nil && embeds(command.Type(), resourcesIn, "Flags") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// The play shows nothing that the walk through the code does not find, and everything beside tables that it finds: each
// action, and each queue and log group that the code knows. So a call that is new in the code is new in one of them, and
// the template has to follow.
func TestPlay(t *testing.T) {
	seen, variables := play(t), standard(t).variables()
	for who, code := range walked(t) {
		for _, unclear := range code.unclear {
			t.Errorf("%s: %s, and this test does not see what it does with it", who, unclear)
		}
		actions, resources := map[string]bool{}, map[string]bool{}
		for p := range seen[who] {
			actions[p.action], resources[p.on] = true, true
			if strings.HasPrefix(p.action, "dynamodb:") && !code.onTables[p] || !code.actions[p.action] {
				t.Errorf("%s was seen to %s, and the code seems unable to", who, p)
			}
		}
		for action := range code.actions {
			if !actions[action] && !strings.HasPrefix(action, "dynamodb:") {
				t.Errorf("%s may %s, and the play does not show on what", who, action)
			}
		}
		for variable := range variables[who] {
			code.speaksOf[camel(variable)] = true
		}
		for output := range code.speaksOf {
			if (strings.HasSuffix(output, "Url") || strings.HasSuffix(output, "LogGroup")) && !resources[output] {
				t.Errorf("%s knows %s, and the play does not show what for", who, output)
			}
		}
	}
}

func standard(t *testing.T) *Stack {
	t.Helper()
	s, err := source(t).Deploy(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whoever adds a command for operators says here whether it reads or changes.
func TestOperatorsCommandsAreKnown(t *testing.T) {
	of, err := walk()
	if err != nil {
		t.Fatal(err)
	}
	if known := slices.Sorted(slices.Values(slices.Concat(reads, changes))); !slices.Equal(of.commands, known) {
		t.Errorf("the commands that operate a deployment are %v, known are %v", of.commands, known)
	}
}
