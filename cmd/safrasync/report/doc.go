// Package report has the command report: the reconciliation in every form, and the closing of a
// month. The figures come from sync/reconcile. The audit records an export before it is written.
package report
