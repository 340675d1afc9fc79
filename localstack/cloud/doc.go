// Package cloud starts a LocalStack on this machine, deploys the stack to it with the SAM CLI, and stops it.
//
// There are two ways to run it:
//
//   - docker: LocalStack's own image, by compose.yaml; functions are containers.
//   - host: LocalStack as a Python library, by host/host.py; functions are processes of this machine, and DynamoDB is
//     dynoxide. For Linux only, since functions are Linux programs.
//
// Guarantees, cited by the tests that prove them:
//
//	C1. A mode that was asked for by name is what runs, or Start fails; there is no silent replacement.
//	C2. A Cloud answers when Start returns; when Stop returns it is gone, and so are its functions and its files.
//	C3. A Cloud ends with the process that started it, in whatever way that ends, unless it was detached.
//	C4. It listens on 127.0.0.1 only, and writes below its folder only.
//	C5. Nothing of the user's AWS configuration reaches it, and no request to it can reach AWS.
//	C6. One process at a time changes the Cloud of a folder. One that has ended, or lost its DynamoDB, is told from one that runs.
package cloud
