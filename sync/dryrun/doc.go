// Package dryrun computes what a run would do, but stores and sends nothing: for one row
// (explain.go), a mapping case (case.go), or a dry run with its recheck (run.go). It checks all
// rows of the ERP against the rules (audit.go) and the configuration against the rows (survey.go),
// compares what was sent with the present configuration (compare.go), and reports how a
// configuration changes the identity of rows (check_identity.go).
//
// Previews, cases, audits and comparisons judge rows through explain.go, with the code of a run.
package dryrun
