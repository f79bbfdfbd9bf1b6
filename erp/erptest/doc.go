// Package erptest is the battery of tests that every engine must pass on a real database, and what
// the tests of the reader and of its engines have in common. Only tests import it.
package erptest
