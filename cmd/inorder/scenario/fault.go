package scenario

import "inorder/cmd/inorder/backend"

// sendOperation is what a request to a queue counts as.
const sendOperation = backend.SendOperation

// fail answers as AWS does when it fails in that way.
var fail = backend.Fail

// A rule makes requests of one invocation fail: of those that match, the nth and the ones after it.
type rule struct {
	op      string // a DynamoDB operation, SendMessage, or any
	failure string // throttle, timeout, internal or denied
	nth     int
	times   int
	after   bool // the request takes effect before it is reported as failed

	matched int
}

// strikes counts a request and reports whether it fails.
func (r *rule) strikes(operation string) bool {
	if r.op != "any" && r.op != operation {
		return false
	}
	r.matched++
	return r.matched >= r.nth && r.matched-r.nth < r.times
}
