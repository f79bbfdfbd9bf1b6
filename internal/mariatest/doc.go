// Package mariatest gives tests a real MariaDB that nobody has to set up: one throwaway server per
// test process, started by the first test that asks and stopped when the process ends. It listens
// on loopback only, on a free port, keeps its data in a temporary folder and dies with the test
// process. A missing MariaDB is a failure with a hint, never a skipped test.
//
// A package that uses it calls throwaway.M in its TestMain.
package mariatest
