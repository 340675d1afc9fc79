package events

// maxWrappers is how many wrappers may stand around an event. Two are a topic behind a bus; more than three is no path
// that anyone builds on purpose, and a limit keeps a crafted message from being read again and again.
const maxWrappers = 3

// layer is what stands inside a number of wrappers: a JSON value, and what its carrier says about it.
type layer struct {
	value      Value
	attributes map[string]Attribute // of the innermost carrier: SQS, or the SNS notification
	binary     bool                 // a CloudEvent in binary mode: value is its data
	bus        Object               // the EventBridge event right around value, else nil
}

// openWrappers takes an event out of SNS notifications and EventBridge events. Nothing of a wrapper becomes the event's
// identity: the same fact on two paths is one event.
func openWrappers(m Message) (layer, *Refusal) {
	l := layer{attributes: m.Attributes}
	var refusal *Refusal
	if l.value, refusal = readJSON(m.Body); refusal != nil {
		return layer{}, refusal
	}
	for opened := 0; ; opened++ {
		if l.binary = isBinaryCloudEvent(l.attributes); l.binary {
			return l, nil
		}
		inner, isWrapper, refusal := l.open()
		if !isWrapper || refusal != nil {
			return l, refusal
		}
		if opened == maxWrappers {
			return layer{}, refuse(NotAnEvent, "more than %d wrappers around it", maxWrappers)
		}
		l = inner
	}
}

// open takes one wrapper away, if there is one.
func (l layer) open() (inner layer, isWrapper bool, refusal *Refusal) {
	fields := l.value.object()
	if message, ok := notification(fields); ok {
		inner.value, refusal = readJSON(message)
		inner.attributes = notificationAttributes(fields)
		return inner, true, refusal
	}
	if detail, ok := busDetail(fields); ok {
		return layer{value: Value{form: formObject, inner: detail}, bus: fields}, true, nil
	}
	return layer{}, false, nil
}

// notification recognises "Parsing Amazon SNS message formats" (Amazon SNS Developer Guide). With raw message delivery
// there is no such wrapper, and the notification's attributes are the SQS message's.
func notification(fields Object) (message string, ok bool) {
	if !fields.Find("Type").is("Notification") {
		return "", false
	}
	return fields.Find("Message").Text()
}

func notificationAttributes(fields Object) map[string]Attribute {
	members := fields.Find("MessageAttributes").object()
	if len(members) == 0 {
		return nil
	}
	attributes := make(map[string]Attribute, len(members))
	for _, m := range members {
		member := m.Value.object()
		typ, _ := member.Find("Type").Text()
		if value, ok := member.Find("Value").Text(); ok && typ != "Binary" {
			attributes[m.Name] = Attribute{Type: typ, Text: value}
		}
	}
	return attributes
}

// busDetail recognises "AWS service event metadata" (Amazon EventBridge User Guide): what a producer sent is the detail.
func busDetail(fields Object) (detail Object, ok bool) {
	if _, named := fields.Find("detail-type").Text(); !named {
		return nil, false
	}
	detail = fields.Find("detail").object()
	return detail, detail != nil
}

// isNotice tells what AWS sends to a queue to try or to set up a path: S3's test notice ("Event message structure", Amazon
// S3 User Guide) and the confirmations of an SNS subscription.
func isNotice(fields Object) bool {
	if fields.Find("Event").is("s3:TestEvent") {
		return true
	}
	typ := fields.Find("Type")
	return fields.Find("TopicArn").Exists() && (typ.is("SubscriptionConfirmation") || typ.is("UnsubscribeConfirmation"))
}
