// Package torture tries to make safrasync lose a row or send one twice, and looks at the result
// only from outside.
//
// It runs the real program again and again beside an ERP that people write to, over a network and
// against a platform that fail in every way, and kills it: at random, when a request has arrived,
// and when one was executed and not answered. A judge then compares the ERP, the platform's own log
// and what `rows --json` says. It knows nothing of the ledger's tables and imports none of the
// packages under trial but the sandbox, whose log is the truth.
//
// `safrasync selftest` runs it for a customer; tools/torture runs it on PostgreSQL, and with
// several machines.
//
// # What must be zero
//
//   - lost: a row in the ERP that is on the platform zero times and that no entry explains
//   - doubled: a row that is on the platform twice
//   - false_accepted: an entry says accepted, and the platform has no such record, or another id
//   - orphaned: the platform has a record, and its entry says that it was not created
//   - over_budget: kills that left more entries in doubt than POSTs may be in flight
//
// In the end the faults stop, a person (a program that looks into the platform's log) decides what
// is in doubt, and every valid row must be there once.
//
// # Where to read on
//
// torture.go is the order of events, workload.go the ERP and its writers, proxy.go the network,
// child.go the program and the kills, person.go the desk, judge.go the verdict. The same seed gives
// the same plan of faults and kills; what a kill hits depends on the machine.
package torture
