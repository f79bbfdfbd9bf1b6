// Package throwaway is what the throwaway servers of tests have in common (pgtest, mariatest,
// fbtest): a child process that dies with the test process in whatever way, a folder that is
// removed even after a kill, a free port, the user to run as, and the end of the test process. It
// works on Linux and may be imported by tests, and by tools/bench, only (see internal/importrules).
package throwaway
