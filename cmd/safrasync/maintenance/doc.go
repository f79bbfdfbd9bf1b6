// Package maintenance has the commands that maintain the program and its ledger: check, doctor and its
// support bundle, backup, restore, rebuild, purge, the state commands, the export about a producer,
// selftest. They never send a row to the platform; selftest sends only to a sandbox of its own.
package maintenance
