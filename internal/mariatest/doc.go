// Package mariatest provides tests with a real MariaDB that needs no setup: one throwaway server
// per test process, started by the first test that asks for it and stopped when the process ends.
// The server listens on loopback only, on a free port, keeps its data in a temporary folder and
// ends with the test process. A missing MariaDB is a failure with a hint, never a skipped test.
//
// A package that uses it calls throwaway.M in its TestMain.
package mariatest
