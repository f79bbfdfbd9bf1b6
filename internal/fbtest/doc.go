// Package fbtest gives tests a real Firebird 3 that nobody has to set up: one throwaway server per
// test process, started by the first test that asks and stopped when the process ends. Everything
// that Firebird keeps outside its programs (configuration, users, lock files) is in a temporary
// folder, which the environment variable FIREBIRD names; it listens on loopback only, on a free
// port, and dies with the test process. A missing Firebird is a failure with a hint, never a
// skipped test.
//
// A package that uses it calls throwaway.M in its TestMain.
package fbtest
