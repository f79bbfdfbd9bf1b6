// Package ledgertest provides tests with ledgers that are as good as new, faster than creating one:
// the tables are created once per test process and database, and then copied.
//
// What it guarantees: nobody has opened a copy before, and its id, its journal and its marks are
// its own, because the test's own opening creates them. Only the lookup key, which is created with
// the tables, is the same in all copies. Only tests may import it (see internal/importrules); the
// tests of package state, which it imports, have their own version of it.
package ledgertest
