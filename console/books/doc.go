// Package books has the pages for what the cooperative keeps beside its rows: the de-para, the
// audit, acts that wait for approval, and files of rows for decisions in a spreadsheet.
package books
