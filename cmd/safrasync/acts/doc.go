// Package acts has the commands with which people decide about rows and jobs: one for each act of
// the table of sync/acts, job move, approvals, decisions from a spreadsheet, and the audit. A
// command shows the office's plan, asks, and does no more than the plan. What an act does is decided
// in sync/acts.
package acts
