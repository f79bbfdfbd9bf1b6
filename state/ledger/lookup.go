// Lookups of many values at once.

package ledger

import "github.com/safrasync/safrasync/state/sqldb"

// Distinct returns each value once, without the empty one. A value that many rows share would
// otherwise be searched for each of them.
func Distinct[T comparable](values []T) []T {
	var none T
	seen := map[T]bool{none: true}
	out := []T{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// Lookup selects a column of the rows of a table in which another column has one of the values of a
// list, and a condition holds. The form for PostgreSQL leaves no choice to scan the whole table:
// for a table that grows while rows are sent, PostgreSQL does not know its size.
func Lookup(d sqldb.Dialect, column, table, wanted, kind, condition string) string {
	if d.Name == sqldb.Postgres {
		return `SELECT found.` + column + ` FROM unnest(CAST(? AS ` + kind +
			`[])) AS w (value) CROSS JOIN LATERAL (SELECT ` + column + ` FROM ` + table +
			` WHERE ` + wanted + ` = w.value AND ` + condition + ` OFFSET 0) AS found`
	}
	among := d.Among(wanted)
	if kind == `BYTEA` {
		among = d.AmongHashes(wanted)
	}
	return `SELECT ` + column + ` FROM ` + table + ` WHERE ` + among + ` AND ` + condition
}
