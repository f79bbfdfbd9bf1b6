// Package acts has the commands with which people decide about rows and jobs: retry, dismiss,
// reopen, adopt, resend, acknowledge, pause, resume, release, job move, approve, decline, decisions
// from a spreadsheet, and the audit. A command shows the engine's plan, asks, and does no more than
// the plan. What an act does is decided in sync/acts.
package acts
