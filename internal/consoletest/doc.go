// Package consoletest opens consoles for tests, on a real ledger and without an engine, and
// browsers that keep cookies. It puts a console together as the program does, so that tests of its
// parts see what people see.
package consoletest
