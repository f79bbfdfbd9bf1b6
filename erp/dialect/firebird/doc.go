// Package firebird reads Firebird 3 and later. Its driver knows no read-only snapshot: the
// transaction is always rolled back, and a read that changed records is an error.
package firebird
