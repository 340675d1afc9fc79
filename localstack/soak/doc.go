// Package soak sends hundreds of thousands of events through a local cloud's queue to the deployed consumer, while its functions
// are killed at random all the time, and judges what has become of them. It holds tests only.
//
//	INORDER_CLOUD=host go test ./localstack/soak -v -timeout 3h -args -events 1000000
//
// Queue, event source mapping, functions and template are those of the other tests here. The functions ask DynamoDB's engine
// itself ([cloud.Options], Direct), or LocalStack would spend most of its time on handing their requests on. What is sent and what
// must become of it is told in inorder/cmd/inorder/soak.
//
// In mode docker there is no soak: it kills processes, weighs them, and reads what they write, all of it by their numbers.
package soak
