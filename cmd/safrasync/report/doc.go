// Package report has the command report: the reconciliation in every form, and the closing of a
// month. The figures are those of sync/reconcile. An export stands in the audit before it is
// written.
package report
