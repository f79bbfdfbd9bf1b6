// Package cli is what the commands share: App, one execution of a command, with its streams, its
// language and what it has opened; tables and JSON; questions to people and the audit record of
// their answer; exit codes. It knows the configuration, and no command.
//
// What a command opens is closed when the command ends, the newest first. A command that only
// reads opens the ledger with ToRead, and then cannot write.
package cli
