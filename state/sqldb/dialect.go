package sqldb

// Dialect holds what the two databases write differently. Everything else is one text for both.
type Dialect struct {
	Name   string
	Bytes  string // the type of bytes
	Now    string // the database's clock in milliseconds UTC
	Lock   string // at the end of a SELECT, before the table: keep the rows from other writers
	share  string // the same: keep the rows as they are, as others may too
	hold   string // the same: keep the rows from those that lock them, not from those that only write to them
	mark   string // first statement of each transaction: leaves its mark, and returns what makes a commit durable
	safe   func(setting string) error
	Folder string // of the migrations
	Tables string // names of the tables that exist
	Keyed  string // at the start of a transaction that writes by keys only; "" = nothing
	Within string // function of (text, part): where the part begins in the text, 0 = nowhere
	// after a table: only its rows that wait for something or need a person are gone through; ""
	// where the database decides that well
	ByStuck string
	ByState string // after a table: it is gone into by state; "" where the database decides that well
	ByFlags string // the same for rows with a flag
	Pack    string // puts attempts that have become small closer together; "" where the database does that by itself
}

// SqliteDialect is how SQLite writes what the two databases write differently.
var SqliteDialect = Dialect{
	Name:  SQLite,
	Bytes: `BLOB`,
	Now:   `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
	// A transaction of SQLite is the only writer from its BEGIN IMMEDIATE on.
	Lock: ``,
	mark: `INSERT INTO tx_mark (owner, slot, id, at) VALUES (?, ?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER))
		ON CONFLICT (owner, slot) DO UPDATE SET id = excluded.id, at = excluded.at RETURNING ''`,
	safe:    func(string) error { return nil },
	Within:  `instr`,
	ByState: `INDEXED BY entry_due `,
	ByFlags: `INDEXED BY entry_flags `,
	ByStuck: `INDEXED BY entry_stuck `,
	Folder:  "migrations/sqlite",
	// A row of SQLite that becomes smaller leaves a hole in its page, which nothing fills; one that
	// gets another row number is written anew, beside those that became small before, and its page
	// is joined with its neighbours. The row number of an attempt means nothing. The last one
	// stays:
	// new
	// ones count on from it.
	Pack:   `UPDATE attempt SET rowid = rowid - 4611686018427387904 WHERE rowid > 0 AND rowid < (SELECT MAX(rowid) FROM attempt)`,
	Tables: `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
}

// PostgresDialect is how PostgreSQL writes what the two databases write differently.
var PostgresDialect = Dialect{
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
	// some rows.
	Keyed:  `SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off`,
	Folder: "migrations/postgres",
	Within: `strpos`,
	Tables: `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'v', 'm', 'p', 'f')`,
}

// Locked adds the clause that locks the rows of a table until the transaction ends.
func (d Dialect) Locked(query, table string) string { return withLock(query, d.Lock, table) }

// SharedLock adds the clause that keeps rows as they are until the transaction ends; several may do
// so at once.
func (d Dialect) SharedLock(query, table string) string { return withLock(query, d.share, table) }

// HeldLock adds the clause that keeps rows from those that lock them (locked). Who only writes to
// them need not wait: what is read may be a moment old.
func (d Dialect) HeldLock(query, table string) string { return withLock(query, d.hold, table) }

// FreeRows locks the rows of a table as Locked does, and leaves out those that others have locked.
func (d Dialect) FreeRows(query, table string) string {
	if d.Lock == "" {
		return query
	}
	return d.Locked(query, table) + ` SKIP LOCKED`
}

func withLock(query, clause, table string) string {
	if clause == "" {
		return query
	}
	return query + clause + table
}
