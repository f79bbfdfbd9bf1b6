// Package acts has the commands with which people decide about rows and jobs: one for each act of
// the table of sync/acts, job move, approvals, and the decisions of a spreadsheet. A command shows the
// office's plan, asks, and does no more than the plan. What an act does is decided in sync/acts.
package acts
