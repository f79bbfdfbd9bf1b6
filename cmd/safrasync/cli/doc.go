// Package cli has what the commands share: App, which is one execution of a command with its
// streams, its language and what it has opened; tables and JSON; confirmation and audit records of
// acts; exit codes. It imports the configuration, and no command.
//
// What a command opens is closed when the command ends, newest first. A command that only reads
// opens the ledger with ToRead, and then cannot write.
package cli
