// Package report has the command report: the reconciliation in every form, the closing of a month, and
// the audit. The figures come from sync/reconcile. The audit records an export before it is written.
package report
