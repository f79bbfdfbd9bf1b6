// Package rehearse says what a run would do, and stores and sends nothing: one row (explain.go), a
// mapping case (case.go), all rows of the ERP against the rules (audit.go), what was sent against
// the present configuration (compare.go), what a configuration does to what is the same
// (check_identity.go), and the recheck of a dry run (dry_look.go).
//
// All of them judge rows through judge.go, with the code that a run uses.
package rehearse
