// Package readmodel answers the queries of people: pages of rows, one row with its attempts and
// acts, what depends on it, what waits for which reference, and closed reports.
//
// It changes no entry. A page takes the same time on a ledger of a million entries as on a small
// one.
package readmodel
