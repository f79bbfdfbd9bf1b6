// Package limits keeps the product from growing, its functions readable, and the state of an entry
// in one place.
//
// It has only tests. They measure all files of the product, without tests and without tools/: the
// lines of code and the tokens in all, the lines of the catalogues, of the SQL and of the templates,
// and the lines of each function. golangci-lint measures the columns of a line. Another test finds
// assignments to the state of a trade.Entry, which only its methods change.
package limits
