// Package refs has the commands for the de-para tables in the ledger: list, import, export, set,
// remove. The console uses its functions to read and write the same CSV files.
package refs
