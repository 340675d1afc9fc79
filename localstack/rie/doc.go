// Package rie runs the functions' own binaries, built as `sam build` builds them, under AWS's runtime interface emulator,
// which speaks Lambda's runtime API to them. It holds tests only.
//
// What they prove, cited by number:
//
//	R1. A function starts once, says which code it is, and answers every invocation after that in the same process.
//	R2. Whatever a function prints is one whole line per line of its log: a JSON log line, or a metric document that is
//	    valid against AWS's schema, since CloudWatch takes a line for an event.
//	R3. An answer is what the event source mapping expects of it: exactly what must come back is named.
//	R4. When database or queue hang, the function answers before its timeout, gives back what it could not do, and its
//	    metrics are written.
//	R5. With wrong settings the init fails and its output says everything that is wrong.
//	R6. The zip stays small. How long an init takes is measured by `make bench-cold`, not asserted: it is the machine's.
//
// The emulator is named by INORDER_RIE; `make tools` installs it into .tools/. It begins an init with the first
// invocation, and the `Init Duration` of its REPORT line is the time that it took to ask for one, some hundredths of a
// millisecond. The line `INIT REPORT(durationMs: ...)` of its own log is the init, from the start of the process to its
// first request for an invocation, which is what Lambda calls so ("Understanding the Lambda execution environment
// lifecycle", AWS Lambda Developer Guide). Beside this it knows no frozen processes, no memory limit and no permissions.
package rie
