// Package ledgertest gives tests ledgers that are as good as new, for less than it takes to make
// one: the tables are made once in a test process, on each database, and copied.
//
// What it guarantees: nobody has opened a copy before, and its id, its journal and its marks are
// its own, because the test's own opening makes them. Only the key of lookups, which is made with
// the tables, is the same in all copies. May be imported by tests only (see internal/importrules);
// the tests of package state, which it imports, have the same of their own.
package ledgertest
