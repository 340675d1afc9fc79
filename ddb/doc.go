// Package ddb is how it is kept: entities, their logs and markers in two DynamoDB tables. It is the only package that
// knows DynamoDB, and it decides nothing: every write is one constructor with the condition that ordering.Store names,
// and every answer of the database becomes one of that interface's errors.
//
// Entities: key _pk, see EntityPK. The state's attributes stand at top level under their own names, bookkeeping begins
// with _. Items: key _pk and _sk, the log of an entity and its audit rows under its own _pk, markers under one of theirs,
// the place where a consumer's sweeper stopped under the consumer alone. Items expire by expires_at, in epoch seconds; one
// that is past it and still there counts as there. Audit rows do not expire.
//
// Names stand in expressions as placeholders always, so that no attribute of an event can meet a reserved word.
package ddb
