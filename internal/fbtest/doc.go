// Package fbtest provides tests with a real Firebird 3 that needs no setup: one throwaway server
// per test process, started by the first test that asks for it and stopped when the process ends.
// Everything that Firebird stores outside its programs (configuration, users, lock files) is in a
// temporary folder, which the environment variable FIREBIRD names. The server listens on loopback
// only, on a free port, and ends with the test process. A missing Firebird is a failure with a
// hint, never a skipped test.
//
// A package that uses it calls throwaway.M in its TestMain.
package fbtest
