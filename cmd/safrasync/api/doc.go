// Package api has the commands that call the platform by hand: reading single records, credit
// analyses, credit scores, consents of lists of producers, and the webhooks, which are compared with
// the configuration and whose events are listed. A call that changes something on the platform shows
// its plan first and is recorded in the audit. None of them sends a contract, a delivery or a
// traceability record: only the engine does.
package api
