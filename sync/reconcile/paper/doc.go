// Package paper lays out a report for people, in the few columns that fit on a screen and on A4:
// names first, and what belongs to a figure beneath it. Files for programs and spreadsheets have
// all columns; package reconcile writes them.
package paper
