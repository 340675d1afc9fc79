// Package soak makes hundreds of thousands of events, and judges what a consumer has made of them. Its own tests play them
// through the handlers, called as Lambda calls them; localstack/soak plays them through a deployed stack:
//
//	go test ./cmd/inorder/soak -run TestSoak -v -args -events 1000000
//
// What a producer says here ([Producer]) goes through a network that shuffles, copies and loses it. What must become of it is
// told by the producer's own books, in the plainest way there is: this package knows nothing of events, ordering, ddb and
// functions, so that a fault of theirs cannot hide in what is expected of them. What is stored is read with the SDK.
//
// Nothing here grows with the number of events but the list of the poisoned ones, of which there is one in thousands, so that a
// soak can tell whether what it tests does.
package soak
