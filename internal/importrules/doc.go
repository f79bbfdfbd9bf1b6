// Package importrules holds no program code. Its tests read the source of the whole repository and
// enforce rules that the compiler does not know:
//
//   - Imports go one way. Above all, the sandbox and the client must not
//     know each other: they are two readings of the API's document, and their agreement proves
//     something only while they are independent.
//   - Every import of our package sync names it engine, so that sync means the standard library
//     everywhere.
//   - No source contains the name of the header for idempotency keys, and none uses cgo.
//
// The rules are in rules_test.go, each with its reason; a new package needs a rule. golangci-lint
// repeats most of them (depguard in .golangci.yml), so that an editor shows a violation while it is
// being typed. The tests read the files themselves instead of asking `go list`: Go's test cache sees
// every file that a test opens, but not what a child process reads.
package importrules
