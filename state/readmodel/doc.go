// Package readmodel answers what people ask of a ledger: pages of rows, one row with its attempts
// and its acts, what hangs on it, what waits for which reference, and closed reports.
//
// It changes no entry. A page costs the same on a ledger of a million entries as on a small one.
package readmodel
