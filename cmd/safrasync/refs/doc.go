// Package refs has the commands for the de-para tables in the ledger: list, import, export, set,
// remove.
package refs
