// Package consoletest opens consoles for tests, on a real ledger and without an engine, and
// browsers that keep cookies. It builds a console as the program does, so that tests of its parts
// see what people see.
package consoletest
