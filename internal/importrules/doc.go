// Package importrules holds no program code. Its tests read the source of the whole repository and
// keep promises that the compiler does not know:
//
//   - Imports run one way (docs/architecture.md). Above all, the sandbox and the client know
//     nothing of each other: they are two readings of the API's document, and only as long as they
//     are independent does their agreement prove anything.
//   - Everyone who imports our package sync calls it engine, so that sync means the standard
//     library everywhere.
//   - No source names the header of idempotency keys, and none uses cgo.
//
// The rules stand in rules_test.go, each with its reason; a new package needs one. golangci-lint
// repeats them (depguard in .golangci.yml), so that an editor shows a violation while it is being
// typed. The tests read the files themselves instead of asking `go list`: Go's test cache sees
// every file that a test opens, but not what a child process reads.
package importrules
