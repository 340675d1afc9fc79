package template

import (
	"regexp"
	"slices"
	"strings"
)

// What a webhook's sender is told: that its event is in the queue, or that it shall send it again. The alarm sees each
// answer of the second kind. The stage sends to the queue that the parameters name now, and takes no more than they say.
func checkIngress(v *views) (wrong []string) {
	var f faults
	f.want("AlwaysDeploy of the webhooks' address", At(map[string]any(v.source), "Resources", "WebhookRestApi", "Properties", "AlwaysDeploy"), true)
	each(v.transformed(), func(name string, s *Stack) {
		for _, api := range s.Types("AWS::ApiGateway::RestApi") {
			post, _ := At(api.Properties, "Body", "paths", "/events", "post", "x-amazon-apigateway-integration").(map[string]any)
			queue := s.EventsQueuePath()
			if uri := text(post["uri"]); !strings.HasSuffix(uri, ":sqs:path/"+queue) {
				f.add("%s: the webhooks go to %s, and the events queue is %s", name, uri, queue)
			}
			f.answers(name, post["responses"])
			f.messages(name, post["requestTemplates"], strings.HasSuffix(queue, ".fifo"))
		}
		for _, stage := range s.Types("AWS::ApiGateway::Stage") {
			for _, setting := range list(stage.Properties["MethodSettings"]) {
				f.want(name+": the rate of the webhooks", At(setting, "ThrottlingRateLimit"), s.Parameters["WebhookRate"])
				f.want(name+": the burst of the webhooks", At(setting, "ThrottlingBurstLimit"), s.Parameters["WebhookRate"])
			}
		}
	})
	return f
}

// EventsQueuePath is the account and name of the events queue.
func (s *Stack) EventsQueuePath() string {
	parts := strings.Split(text(s.Outputs["EventsQueueArn"]), ":")
	return parts[4] + "/" + parts[5]
}

// answers judges what becomes of SQS's answers: a 4xx is no fault of the sender, and the alarm looks for 5xx.
func (f *faults) answers(name string, responses any) {
	all, _ := responses.(map[string]any)
	for _, status := range []string{"400", "403", "404", "500", "503"} {
		told := "nothing"
		for pattern, response := range all {
			if pattern == "default" {
				continue
			}
			if ok, err := regexp.MatchString("^("+pattern+")$", status); err == nil && ok {
				told = text(At(response, "statusCode"))
			}
		}
		if !strings.HasPrefix(told, "5") {
			f.add("%s: where SQS answers %s, the sender of a webhook is told %s", name, status, told)
		}
	}
	f.want(name+": what the sender of a webhook is told of a message in the queue", At(all, "default", "statusCode"), "200")
}

// webhookTypes are what the content type of a webhook may read: of JSON, by those who name its charset as well as by others.
var webhookTypes = []string{
	"application/json", "application/json; charset=utf-8", "application/json; charset=UTF-8",
	"application/json;charset=utf-8", "application/json;charset=UTF-8",
	"application/cloudevents+json", "application/cloudevents+json; charset=utf-8", "application/cloudevents+json; charset=UTF-8",
}

// messages judges what is sent: the whole body, and to a FIFO queue a group and an identity.
func (f *faults) messages(name string, templates any, fifo bool) {
	all, _ := templates.(map[string]any)
	for _, contentType := range webhookTypes {
		parts := strings.Split(text(all[contentType]), "&")
		want := []string{"Action=SendMessage", "MessageBody=$util.urlEncode($input.body)"}
		if fifo {
			want = append(want, "MessageGroupId=$context.requestId", "MessageDeduplicationId=$context.requestId")
		}
		slices.Sort(parts)
		slices.Sort(want)
		f.want(name+": a webhook of "+contentType, parts, want)
	}
}

// The patterns of "AWS SAM template Metadata section properties", AWS SAM Developer Guide. `sam publish` refuses what does
// not match.
var publication = map[string]*regexp.Regexp{
	"Name":            regexp.MustCompile(`^[a-zA-Z0-9\-]{1,140}$`),
	"Description":     regexp.MustCompile(`^[\s\S]{1,256}$`),
	"Author":          regexp.MustCompile(`^[a-z0-9]([a-z0-9]|-[a-z0-9])*$`),
	"SpdxLicenseId":   regexp.MustCompile(`^Apache-2\.0$`),
	"LicenseUrl":      regexp.MustCompile(`^LICENSE$`),
	"ReadmeUrl":       regexp.MustCompile(`^README\.md$`),
	"SemanticVersion": regexp.MustCompile(`^\d+\.\d+\.\d+$`),
}

// The application can be published as it is.
func checkPublication(v *views) (wrong []string) {
	var f faults
	metadata, _ := At(map[string]any(v.source), "Metadata", "AWS::ServerlessRepo::Application").(map[string]any)
	for name, pattern := range publication {
		if value := text(metadata[name]); !pattern.MatchString(value) {
			f.add("%s is published as %q, which %s does not match", name, value, pattern)
		}
	}
	labels := toTexts(list(metadata["Labels"]))
	if len(labels) == 0 || len(labels) > 10 {
		f.add("there are %d labels, and 1 to 10 may be", len(labels))
	}
	for _, label := range labels {
		if !regexp.MustCompile(`^[a-zA-Z0-9+\-_:/@]{1,127}$`).MatchString(label) {
			f.add("no label may be called %q", label)
		}
	}
	return f
}

var mutationsOfIngress = []mutation{
	{"ingress", "a stage that stays with the old queue", "Resources/WebhookRestApi/Properties/AlwaysDeploy", nil, "AlwaysDeploy"},
	{"ingress", "more than the parameter says", "Resources/WebhookRestApi/Properties/MethodSettings/0/ThrottlingRateLimit", 500, "the rate of the webhooks is 500"},
	{"ingress", "senders that give up", "Resources/WebhookRestApi/Properties/DefinitionBody/paths", webhook("4\\d{2}", "400", "MessageBody=$util.urlEncode($input.body)"), "where SQS answers 403, the sender of a webhook is told 400"},
	{"ingress", "another queue", "Resources/WebhookRestApi/Properties/DefinitionBody/paths", webhook("[45]\\d{2}", "500", "MessageBody=$util.urlEncode($input.body)"), "the webhooks go to arn:aws:apigateway:eu-west-1:sqs:path/1/other"},
	{"ingress", "a part of the body", "Resources/WebhookRestApi/Properties/DefinitionBody/paths", webhook("[45]\\d{2}", "500", "MessageBody=$input.body"), "a webhook of application/json is [Action=SendMessage MessageBody=$input.body]"},
	{"ingress", "senders that name a charset", "Resources/WebhookRestApi/Properties/DefinitionBody/paths", webhook("[45]\\d{2}", "500", "MessageBody=$util.urlEncode($input.body)"), "a webhook of application/json; charset=utf-8 is []"},

	{"publication", "an author with spaces", "Metadata/AWS::ServerlessRepo::Application/Author", "the authors", "Author is published as"},
	{"publication", "a label with spaces", "Metadata/AWS::ServerlessRepo::Application/Labels/0", "a queue", "no label may be called"},
}

func webhook(pattern, status, body string) map[string]any {
	return map[string]any{"/events": map[string]any{"post": map[string]any{"x-amazon-apigateway-integration": map[string]any{
		"uri":              sub("arn:aws:apigateway:${AWS::Region}:sqs:path/1/other"),
		"requestTemplates": map[string]any{"application/json": "Action=SendMessage&" + body},
		"responses": map[string]any{
			"default": map[string]any{"statusCode": "200"}, pattern: map[string]any{"statusCode": status},
		},
	}}}}
}
