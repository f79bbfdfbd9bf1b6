// Command lend runs a command with one PostgreSQL server for the tests of all packages that the
// command tests: `go run ./internal/pgtest/lend go test ./...`. It ends with the exit code of the
// command. [pgtest.Lend] does the work.
package main
