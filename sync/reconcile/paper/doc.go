// Package paper lays out a report for people, in the few columns that fit on a screen and on A4:
// names first, and what belongs to a figure beneath it. It makes the tables of the console, and one
// page for printing that begins with a cover and ends with lines to sign on.
// Files for programs and spreadsheets have all columns and rows; package reconcile writes them.
package paper
