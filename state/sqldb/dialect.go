package sqldb

// Dialect holds the SQL and the settings in which the two databases differ. All other SQL is the
// same for both.
type Dialect struct {
	Name   string
	Bytes  string // the type of a column of bytes
	Now    string // the database's clock in milliseconds UTC
	Lock   string // at the end of a SELECT, before the table: locks the rows against other writers
	share  string // likewise: keeps the rows as they are; several transactions may share it
	hold   string // likewise: excludes others that lock the rows, but not those that only update
	mark   string // first in each transaction: leaves its mark, returns the durability settings
	safe   func(setting string) error
	Tables string // query for the names of the existing tables, and formerIndex
	Keyed  string // run at the start of a transaction that writes by keys only; "" = nothing
	Within string // function of (text, part): the position of the part in the text; 0 = not found
}

// sqliteDialect is the dialect of SQLite.
var sqliteDialect = Dialect{
	Name:  SQLite,
	Bytes: `BLOB`,
	Now:   `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
	// A transaction of SQLite is the only writer from its BEGIN IMMEDIATE on.
	Lock: ``,
	mark: `INSERT INTO tx_mark (owner, slot, id, at) VALUES (?, ?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER))
		ON CONFLICT (owner, slot) DO UPDATE SET id = excluded.id, at = excluded.at RETURNING ''`,
	safe:   func(string) error { return nil },
	Within: `instr`,
	Tables: `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' OR name = '` + formerIndex + `'`,
}

// postgresDialect is the dialect of PostgreSQL.
var postgresDialect = Dialect{
	Name:  Postgres,
	Bytes: `BYTEA`,
	Now:   `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`,
	Lock:  ` FOR UPDATE OF `,
	share: ` FOR SHARE OF `,
	hold:  ` FOR KEY SHARE OF `,
	mark: `INSERT INTO tx_mark (owner, slot, id, at) VALUES (?, ?, ?, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
		ON CONFLICT (owner, slot) DO UPDATE SET id = excluded.id, at = excluded.at
		RETURNING current_setting('fsync') || ' ' || current_setting('synchronous_commit') || ' ' || current_setting('full_page_writes')`,
	safe: safePostgres,
	// The planner does not know how long an array is, and would read a whole table to join it with
	// a few rows.
	Keyed:  `SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off`,
	Within: `strpos`,
	Tables: `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND (c.relkind IN ('r', 'v', 'm', 'p', 'f') OR c.relname = '` + formerIndex + `')`,
}

// Locked adds the clause that locks the rows of a table until the transaction ends.
func (d Dialect) Locked(query, table string) string { return withLock(query, d.Lock, table) }

// SharedLock adds the clause that keeps rows as they are until the transaction ends. Several
// transactions may hold it at once.
func (d Dialect) SharedLock(query, table string) string { return withLock(query, d.share, table) }

// HeldLock adds the clause that excludes transactions that lock the rows with Locked. A transaction
// that only updates the rows need not wait, so what is read may be slightly outdated.
func (d Dialect) HeldLock(query, table string) string { return withLock(query, d.hold, table) }

func withLock(query, clause, table string) string {
	if clause == "" {
		return query
	}
	return query + clause + table
}
