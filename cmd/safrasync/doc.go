// Command safrasync reads new and changed contracts, deliveries and traceability rows from a
// cooperative's ERP, sends each one to the platform at most once, and can report at every moment
// what it knows.
//
// This package only assembles the program. The commands are in the folders beside it, and what they
// share is in cli. The engine is package sync, the ledger state, the ERP erp, the API apiclient,
// and the terms of the business trade. It guarantees three things to its users:
//
//   - Results go to standard output, messages and progress to standard error. With --json the
//     results are JSON, English always, one object a line for lists; what people read follows the
//     language of the configuration, else of the environment, else Portuguese.
//   - The exit code is the result: cli/command.go lists all of them.
//   - Commands that do not write open the ledger for reading only: sync --dry-run, status, rows,
//     why, explain, check and refs list cannot change it.
//
// Read on: root.go has all commands; cli/app.go is one execution of one command; config is the
// configuration; docs/json.md has the shapes of the JSON.
package main
