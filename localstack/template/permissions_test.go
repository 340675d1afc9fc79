package template

import (
	"strings"
	"testing"
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
