// Package paper lays a report out for people, in the few columns that a screen and a sheet of A4
// hold: the names first, and what belongs to a figure beneath it. Files for programs and
// spreadsheets have all columns; they are those of package reconcile.
package paper
