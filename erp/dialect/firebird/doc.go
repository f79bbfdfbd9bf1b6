// Package firebird reads Firebird 3 and later. Its driver has no read-only snapshot, so the
// transaction is always rolled back, and a read that changed records is an error.
package firebird
