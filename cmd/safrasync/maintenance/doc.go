// Package maintenance has the commands that maintain the program and its ledger: check, doctor and its
// support bundle, backup, restore, rebuild, purge, the state commands, the export about a producer.
// They never send a row to the platform.
package maintenance
