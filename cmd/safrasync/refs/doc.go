// Package refs has the commands for the de-para tables that the ledger keeps: list, import,
// export, set, remove. It reads and writes the CSV files that the console takes too.
package refs
