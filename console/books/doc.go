// Package books are the pages of what the cooperative keeps beside its rows: the de-para, the audit,
// what waits for somebody's approval, and files of rows that people decide about in a spreadsheet.
package books
