// Package office has the questions and the orders of people: what waits and why, one row and all
// about it, the state of the jobs, runs, de-para tables and their files, reports and closings,
// alerts, acts and their approvals. The command line, the console and the HTTP API ask here and
// print, so that no question has two answers and no order two rules.
//
// An Office works on one ledger with one reading of the configuration, and in a service on an engine
// and a scheduler. It guarantees:
//
//   - Who holds an Office reads the ledger through the interface Reads, and changes it by orders
//     alone. Each order names a person, and stands in the audit before or with its effect.
//   - An order does only what its plan showed, under the mark of that plan. If a row of it has
//     changed since, nothing is done; of a plan for all rows of a filter (acts.go) those are left
//     out, and told, that have changed. How a row is decided is planned in sync/acts alone.
//   - What needs the consent of other people waits for it, whoever ordered it and wherever. The rules
//     for that are read in one place (sync/acts).
//   - An order whose person has not the role that the table of acts (sync/acts) asks for is refused
//     with trade.ErrRole, from wherever it comes. Which pages a role sees is the console's to check,
//     and which addresses a token may ask is the HTTP API's.
//
// Answers are data; a reader's language comes in only where an answer is a sentence, and then from
// internal/words.
package office
