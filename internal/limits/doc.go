// Package limits keeps the product from growing, its functions readable, and the state of an entry
// in one place.
//
// It has only tests. They measure all Go files of the product, without tests and without tools/:
// the lines of code in all, and the lines of each function. A function may be longer where it tells
// a whole story from top to bottom; then it stands in [exceptions] with the reason. golangci-lint
// measures the columns of a line. Another test finds assignments to the state of a trade.Entry, which
// only its methods change.
package limits
