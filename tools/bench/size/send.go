package size

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// put is an object that is dropped while a table is filled, with the statement that creates it
// again.
type put struct{ drop, again string }

// Send turns every pending entry into one that was sent w.Attempts times, the last time
// successfully.
func (w *World) Send(ctx context.Context) error {
	if w.Attempts == 0 {
		return nil
	}
	if w.Ledger.Driver == SQLite {
		return w.Ledger.on(ctx, func(c *sql.Conn) error { return w.send(ctx, c, sqliteAside, sqliteText) })
	}
	return w.Ledger.on(ctx, func(c *sql.Conn) error { return w.send(ctx, c, postgresAside, postgresText) })
}

// text holds the SQL that differs between the two databases.
type text struct {
	before, after []string // settings of the connection that fills the tables
	uuid          string   // of an attempt: a time in milliseconds %s, and a number %s that makes it unique
	remote        string   // of an entry
	series        string   // numbers from 1 to %d, as n(no)
}

var sqliteText = text{
	before: []string{
		`PRAGMA journal_mode = OFF`, `PRAGMA synchronous = OFF`, `PRAGMA locking_mode = EXCLUSIVE`,
		`PRAGMA cache_size = -1000000`, `PRAGMA temp_store = MEMORY`,
	},
	after:  []string{`PRAGMA locking_mode = NORMAL`, `PRAGMA journal_mode = WAL`, `PRAGMA wal_checkpoint(TRUNCATE)`},
	uuid:   `printf('%%08x-%%04x-7000-8000-%%012x', (%[1]s) >> 16, (%[1]s) & 65535, %[2]s)`,
	remote: `printf('2a000000-0000-4000-8000-%012x', id)`,
	series: `(WITH RECURSIVE s(no) AS (SELECT 1 UNION ALL SELECT no + 1 FROM s WHERE no < %d) SELECT no FROM s) n`,
}

var postgresText = text{
	before: []string{
		`SET session_replication_role = replica`, `SET statement_timeout = 0`,
		`SET maintenance_work_mem = '512MB'`,
	},
	after: []string{
		`SET session_replication_role = origin`, `VACUUM (FULL, ANALYZE) entry`, `VACUUM (ANALYZE) entry`,
		`VACUUM (ANALYZE) sent`, `VACUUM (ANALYZE) former`, `VACUUM (ANALYZE) exchange`,
		`SELECT setval(pg_get_serial_sequence('sent', 'id'), (SELECT MAX(id) FROM sent))`,
	},
	uuid:   `lpad(to_hex((%[1]s) >> 16), 8, '0') || '-' || lpad(to_hex((%[1]s) & 65535), 4, '0') || '-7000-8000-' || lpad(to_hex(%[2]s), 12, '0')`,
	remote: `'2a000000-0000-4000-8000-' || lpad(to_hex(id), 12, '0')`,
	series: `generate_series(1, %d) n(no)`,
}

func (w *World) send(ctx context.Context, c *sql.Conn, aside func(context.Context, *sql.Conn) ([]put, error),
	t text,
) error {
	run := func(statements ...string) error {
		for _, s := range statements {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%w in: %.300s", err, strings.Join(strings.Fields(s), " "))
			}
		}
		return nil
	}
	if err := run(t.before...); err != nil {
		return err
	}
	puts, err := aside(ctx, c)
	if err != nil {
		return err
	}
	for _, p := range puts {
		if err := run(p.drop); err != nil {
			return err
		}
	}
	// The rows came one after the other over w.Age. Each was tried every ten minutes until it was
	// accepted.
	ago := fmt.Sprintf(`(%[1]d - e.id %% %[1]d) * %[2]d / %[1]d`, w.Rows, w.Age.Milliseconds())
	began := fmt.Sprintf(`(e.first_seen_at - %s - (%d - n.no) * 600000)`, ago, w.Attempts)
	last := fmt.Sprintf(`n.no = %d`, w.Attempts)
	// Of rows that were accepted before w.Bodies, retention has left only what prevents a second
	// sending.
	old := fmt.Sprintf(`(%s > %d)`, ago, w.Bodies.Milliseconds())
	if w.Bodies == 0 {
		old = `1 = 0`
	}
	body := func(column, reduced string) string {
		return `CASE WHEN ` + old + ` THEN ` + reduced + ` ELSE ` + column + ` END`
	}
	if w.Stuck > 0 {
		if err := run(w.stick()); err != nil {
			return err
		}
	}
	if err := w.records(ctx, c, t.remote); err != nil {
		return err
	}
	id := fmt.Sprintf(t.uuid, began, fmt.Sprintf(`e.id * %d + n.no`, w.Attempts))
	tries := ` FROM entry e JOIN body b ON b.entry_id = e.id CROSS JOIN ` + fmt.Sprintf(t.series, w.Attempts) + ` WHERE e.state = 'pending' `
	lastID := strings.ReplaceAll(id, "n.no", fmt.Sprint(w.Attempts))
	lastBegan := strings.ReplaceAll(began, "n.no", fmt.Sprint(w.Attempts))
	err = run(
		`INSERT INTO former (attempt, origin, generation, no, outcome, run_id, owner, epoch, target, payload_hash, started_at, finished_at, counts, late, status, messages, answer_id, reason)
		SELECT `+id+`, e.id, 1, n.no, 'not_created', (SELECT MIN(id) FROM run), 'filled', 1, b.target, e.payload_hash, `+began+`, `+began+` + 150, 1, 0, 503, '[]', '', ''
			`+tries+`AND NOT `+last+` ORDER BY e.id, n.no`,
		`INSERT INTO exchange (attempt, payload, evidence, request_head, answer_head, answer_body)
		SELECT `+id+`, b.payload, '{"wrote_headers":true,"wrote_request":true,"first_byte":true,"bytes":812,"reused":true,"addr":"203.0.113.7:443"}',
			'POST /v1/order-commitments HTTP/1.1', 'HTTP/1.1 201 Created',
			CASE WHEN `+last+` THEN '{"id":"' || `+strings.ReplaceAll(t.remote, "id", "e.id")+` || '"}' ELSE '{"error":"service unavailable"}' END
			`+tries+`AND NOT `+old+` ORDER BY e.id, n.no`,
		`UPDATE sent SET attempt = `+lastID+`, no = `+fmt.Sprint(w.Attempts)+`, outcome = 'created', run_id = (SELECT MIN(id) FROM run), owner = 'filled', epoch = 1,
			target = b.target, payload_hash = e.payload_hash, started_at = `+lastBegan+`, finished_at = `+lastBegan+` + 150, counts = 1, status = 201, answer_id = sent.remote_id
			FROM entry e JOIN body b ON b.entry_id = e.id WHERE e.id = sent.origin AND e.state = 'pending'`,
		`UPDATE entry AS e SET state = 'accepted', record_id = id`+
			fmt.Sprintf(`, attempts = %d, version = version + %d`, w.Attempts, 2*w.Attempts)+
			`, first_seen_at = first_seen_at - `+ago+`, updated_at = updated_at - `+ago+`, sendable = `+
			body(`1`, `0`)+`, reduced_at = `+body(`NULL`, `updated_at`)+` WHERE state = 'pending'`,
		`UPDATE body AS b SET payload = NULL FROM entry e WHERE e.id = b.entry_id AND e.reduced_at IS NOT NULL`)
	if w.Stuck > 0 && err == nil {
		err = run(
			`UPDATE entry SET flags = '["changed"]' WHERE state = 'accepted' AND id % 1000 = 999`,
			`UPDATE body SET now_cells = cells WHERE entry_id IN (SELECT id FROM entry WHERE state = 'accepted' AND id % 1000 = 999)`)
	}
	for i := len(puts) - 1; i >= 0 && err == nil; i-- {
		err = run(puts[i].again)
	}
	return errors.Join(err, run(t.after...))
}

// stick returns a statement that turns some pending entries into stuck ones: a third waits for one
// of nine wallets, a third was rejected, a third lacks a field.
func (w *World) stick() string {
	of := func(waiting, refused, invalid string) string {
		return `CASE id / 100 % 3 WHEN 0 THEN ` + waiting + ` WHEN 1 THEN ` + refused + ` ELSE ` + invalid + ` END`
	}
	return `UPDATE entry SET version = version + 1, state = ` + of(`'waiting'`, `'rejected'`, `'invalid'`) + `, cause = ` + of(`'ref:wallets'`, `'message.wallet.not-found'`, `'payday'`) + `,
		waiting_for = ` + of(`'[{"ref":"wallets","code":"1000' || (id % 9 + 1) || '"}]'`, `'[]'`, `'[]'`) + `,
		error = ` + of(`NULL`, `'{"kind":"api","status":400,"messages":["message.wallet.not-found"]}'`, `'{"kind":"mapping","fields":[{"field":"payday","rule":"required","column":"pagamento"}]}'`) +
		fmt.Sprintf(` WHERE state = 'pending' AND id %% 100 < %d`, w.Stuck)
}

// sqliteAside returns the indexes and triggers of the three large tables.
func sqliteAside(ctx context.Context, c *sql.Conn) ([]put, error) {
	return puts(ctx, c, `SELECT 'DROP ' || type || ' "' || name || '"', sql FROM sqlite_master WHERE tbl_name IN ('entry', 'body', 'sent', 'former', 'exchange') AND type IN ('index', 'trigger') AND sql IS NOT NULL
		ORDER BY type DESC, name`)
}

// postgresAside returns the indexes that no constraint needs; a setting of the session disables
// triggers and foreign keys.
func postgresAside(ctx context.Context, c *sql.Conn) ([]put, error) {
	return puts(ctx, c, `SELECT 'DROP INDEX "' || i.indexname || '"', i.indexdef FROM pg_indexes i WHERE i.schemaname = current_schema() AND i.tablename IN ('entry', 'body', 'sent', 'former', 'exchange')
		AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conname = i.indexname) ORDER BY i.indexname`)
}

func puts(ctx context.Context, c *sql.Conn, query string) (out []put, err error) {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p put
		if err := rows.Scan(&p.drop, &p.again); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}
