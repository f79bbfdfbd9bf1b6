// Package paper lays out a report for people, in the few columns that fit on a screen and on A4:
// names first, and what belongs to a figure beneath it. It makes the tables of the console, a page
// for printing, and the PDF/A that is kept and signed, which has of single rows only the open ones.
// Files for programs and spreadsheets have all columns and rows; package reconcile writes them.
package paper
