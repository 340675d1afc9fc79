package template

import (
	"slices"
	"strings"
)

// Where SAM finds no role it makes one, with managed policies whose resource is everything: so this looks at what SAM made.
// Every function has a role of its own, which one service may take, which names its actions and resources, and which the
// boundary bounds. The one wildcard is X-Ray's, which knows no resources.
func checkRoles(v *views) (wrong []string) {
	var f faults
	each(v.transformed(), func(name string, s *Stack) {
		users := map[string][]string{} // of each role's ARN
		for _, r := range s.Types("AWS::Lambda::Function") {
			role := text(r.Properties["Role"])
			users[role] = append(users[role], r.ID)
		}
		for _, r := range s.Types("AWS::IAM::Role") {
			service := "lambda.amazonaws.com"
			if of := users[arn("iam", "role/"+r.ID)]; len(of) == 0 {
				service = "apigateway.amazonaws.com"
			} else if len(of) > 1 {
				f.add("%s: %v share %s", name, of, r.ID)
			}
			f.trust(name, r, service)
			f.want(name+": managed policies of "+r.ID, list(r.Properties["ManagedPolicyArns"]), []any{})
			f.want(name+": the boundary of "+r.ID, or(r.Properties["PermissionsBoundary"]), s.Parameters["PermissionsBoundary"])
			for _, st := range inline(r) {
				f.statement(name+": "+r.ID, st)
			}
		}
		for role, of := range users {
			if id := role[strings.LastIndexByte(role, '/')+1:]; s.Resources[id] == nil {
				f.add("%s: the role of %v is not in the stack: %s", name, of, role)
			}
		}
		for _, r := range s.Types("AWS::IAM::ManagedPolicy") {
			for _, st := range statements(r.Properties["PolicyDocument"]) {
				f.statement(name+": "+r.ID, st)
			}
			f.want(name+": whom "+r.ID+" is given by itself", []any{r.Properties["Roles"], r.Properties["Users"], r.Properties["Groups"]}, []any{nil, nil, nil})
		}
		f.want(name+": other policies", len(s.Types("AWS::IAM::Policy"))+len(s.Types("AWS::IAM::RolePolicy")), 0)
	})
	return f
}

func (f *faults) trust(name string, r *Resource, service string) {
	trusted := statements(r.Properties["AssumeRolePolicyDocument"])
	if len(trusted) != 1 || trusted[0].principal != service || trusted[0].effect != "Allow" || len(trusted[0].other) > 0 ||
		!slices.Equal(trusted[0].actions, []string{"sts:AssumeRole"}) {
		f.add("%s: %s trusts %v, want %s and nobody else", name, r.ID, trusted, service)
	}
}

var traces = []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}

// statement judges one that allows something to a role or a person.
func (f *faults) statement(of string, st statement) {
	if st.effect != "Allow" || len(st.other) > 0 || len(st.actions) == 0 || len(st.resources) == 0 {
		f.add("%s: the statement %s is not of the plain kind: %+v", of, st.sid, st)
	}
	for _, action := range st.actions {
		if strings.ContainsAny(action, "*?") {
			f.add("%s: %s allows %s", of, st.sid, action)
		}
	}
	for _, resource := range st.resources {
		ownStreams := strings.HasSuffix(resource, "/stream/*") && slices.Equal(st.actions, []string{"dynamodb:ListStreams"})
		ownLines := strings.HasPrefix(resource, "arn:aws:logs:") && strings.HasSuffix(resource, ":*") // how a log group's ARN ends
		ownStack := resource == arn("cloudformation", "stack/"+text(pseudo["AWS::StackName"]))+"/*"
		if wild := strings.ContainsAny(resource, "*?"); wild && !ownStreams && !ownLines && !ownStack && (resource != "*" || len(without(st.actions, traces)) > 0) {
			f.add("%s: %s allows %v on %s", of, st.sid, st.actions, resource)
		}
	}
}
