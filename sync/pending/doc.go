// Package pending groups the rows that were not sent by what keeps them: one task for a person,
// however many rows it blocks.
//
// cause.go determines the cause of a row, the codes or values to blame, and the row's product.
// [Causes] groups the rows of a list by it, for summaries, alerts and dry runs. A [Board] keeps the
// groups of the whole ledger for the console: it keeps a few facts of each stuck row in memory,
// reads only those rows again whose version has changed, and counts rows that wait for other rows
// under the cause of those.
//
// # What is summed
//
// Weights are exact decimals in kilograms. A sum is for one kind of record and one product;
// contracts and their fixations, which are the same grain, are never summed together. The value of
// contracts is for one product and one currency.
package pending
