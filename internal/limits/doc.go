// Package limits keeps packages, types and functions small enough for a stranger to read.
//
// It has only a test. The test measures all Go files of the product, without tests and without
// tools/, and fails where a limit is passed that [exceptions] does not name, and where an exception
// allows more than is needed, so that the list can only get shorter. golangci-lint measures the
// columns of a line.
package limits
