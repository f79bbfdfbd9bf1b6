// Package erptest has the battery of tests that every engine must pass on a real database, and
// helpers that the tests of the reader and of its engines share. Only tests import it.
package erptest
