// Package api has the commands that call the platform by hand: reading single records, credit
// analysis, scores, consents of lists of producers, webhooks. What changes something on the
// platform shows its plan first and stands in the audit. None of it sends a contract, a delivery
// or a traceability record: that is the engine's.
package api
