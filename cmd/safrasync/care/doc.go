// Package care has the commands that look after the program and its ledger: check, doctor and its
// bundle for support, backup, restore, rebuild, purge, the state commands, the file about a
// producer, selftest. They never send a row.
package care
