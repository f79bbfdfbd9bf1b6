// Package rack tries to make safrasync lose a row or send one twice, and judges the result only
// from outside.
//
// It runs the real program again and again. People write to the ERP at the same time, and the
// network and the platform fail in every way. The program is killed: at random, when a request has
// arrived, and when one was executed but not answered. A judge then compares the ERP, the
// platform's own log and the output of `rows --json`. It knows nothing of the ledger's tables and
// imports none of the packages under trial except the sandbox, whose log is the truth.
//
// tools/torture runs it on both ledgers, and with several machines; tools/failover judges with it.
//
// # What must be zero
//
//   - lost: a row in the ERP that is not on the platform and that no entry explains
//   - doubled: a row that is on the platform twice
//   - false_accepted: an entry is accepted, but the platform has no such record, or has it under
//     another id
//   - orphaned: the platform has a record, but its entry states that it was not created
//   - over_budget: kills that left more entries in doubt than POSTs may be in flight
//
// At the end the faults stop, a person (simulated by reading the platform's log) decides about the
// rows in doubt, and every valid row must be on the platform once.
//
// # Where to read on
//
// torture.go has the order of events, workload.go the ERP and its writers, proxy.go the network,
// child.go the program and the kills, person.go the person's decisions, judge.go the verdict. The
// same seed leads to the same plan of faults and kills; what a kill hits depends on the machine.
package rack
