// Package acts has the commands by which people decide about rows and jobs: retry, dismiss,
// reopen, adopt, resend, acknowledge, pause, resume, release, job move, decisions from a
// spreadsheet, and the audit that lists them. It shows the engine's plan, asks, and does no more
// than the plan said. What an act does is decided in sync/acts.
package acts
