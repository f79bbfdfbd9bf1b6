// Package limits keeps packages, types and functions small enough for a newcomer to read.
//
// It has only tests. They measure all Go files of the product, without tests and without tools/.
// They fail if a limit is exceeded without an entry in [exceptions], or if an exception allows more
// than is needed, so that the list can only get shorter. golangci-lint measures the columns of a
// line.
package limits
