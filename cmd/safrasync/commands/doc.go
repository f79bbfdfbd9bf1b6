// Package commands has the commands that ask and order: each turns its flags into a question or an
// order of internal/office, and prints the answer.
//
//   - act.go, job.go, approve.go, decisions.go: people decide about rows and jobs. There is a command for
//     each act of the table of sync/acts, for a job's move, for approvals, and for the decisions of a
//     spreadsheet. A command shows the plan, asks, and does no more than the plan.
//   - api*.go, credit.go, webhooks*.go: the platform by hand. Single records, credit analyses and scores,
//     consents, webhooks. What changes something there shows its plan first and is recorded in the audit.
//     None sends a contract, a delivery or a traceability record: only the engine does.
//   - references*.go: the de-para tables in the ledger.
//   - report*.go, close.go: the reconciliation in every form, the closing of a month, and the audit, which
//     records an export before it is written.
//   - rows.go, why.go, explain.go, cases*.go: they explain rows, or run cases of a mapping, and change
//     nothing. The shapes of their JSON are fixed: see docs/json.md.
//   - sync.go, resync.go, status.go, summary.go: one pass, and the summary of a pass by its causes.
//   - init*.go: a first configuration, proposed from the tables of an ERP. It marks what only a person can
//     know; Load refuses a configuration with such marks.
package commands
