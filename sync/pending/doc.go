// Package pending groups the rows that did not go by what keeps them: one task for a person,
// however many rows it blocks.
//
// cause.go says which cause a row has, which codes or values are to blame, and of which product it
// is; the command line groups by it too. A [Board] keeps the groups of the whole ledger for the
// console: it remembers a few facts of each row that is stuck, reads again only those whose version
// has changed, and counts rows that wait for other rows under what keeps those.
//
// # What is added to what
//
// Weights are exact decimals in kilograms. A sum is of one kind of record, of one product, and
// never of contracts and their fixations together, which are the same grain; the value of contracts
// is of one product and one currency.
package pending
