// Package throwaway is the common part of the throwaway servers of tests (pgtest, mariatest,
// fbtest): a child process that ends with the test process, however that ends, a folder that is
// removed even after a kill, a free port, the user to run as, and the end of the test process. It
// works on Linux and may be imported by tests, and by tools/bench, only (see internal/importrules).
package throwaway
