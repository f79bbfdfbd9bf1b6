package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// wantedFor is how long somebody who is told stays so on PostgreSQL when no service has said any more
// that it is wanted: the services may read another configuration one after the other. wantedEvery is
// how often they say it.
const (
	wantedFor   = time.Hour
	wantedEvery = 10 * time.Minute
)

type targetRow struct {
	Name, Kinds, Jobs string
	WantedAt, Now     int64
}

// Tell makes the given targets those that are told of changes, from the end of the transaction on,
// whichever process makes them. Without targets nothing is stored of a change. It writes only where
// something is another than before.
func (s *Store) Tell(ctx context.Context, targets []trade.EventTarget) error {
	const op = "recording who is told of changes"
	var have []targetRow
	if err := s.db.All(ctx, op, &have, `SELECT name, kinds, jobs, wanted_at, `+s.db.D.Now+
		` AS now FROM outbox_target`); err != nil {
		return err
	}
	var put, gone []targetRow
	for _, h := range have {
		wanted := slices.ContainsFunc(targets, func(t trade.EventTarget) bool { return t.Name == h.Name })
		if !wanted && s.noLongerWanted(h.WantedAt, h.Now) {
			gone = append(gone, h)
		}
	}
	for _, t := range targets {
		want := targetRow{Name: t.Name, Kinds: commaList(t.Kinds), Jobs: commaList(t.Jobs)}
		if !slices.ContainsFunc(have, func(h targetRow) bool {
			return h.Name == want.Name && h.Kinds == want.Kinds && h.Jobs == want.Jobs &&
				!saidLongAgo(h.WantedAt, h.Now)
		}) {
			put = append(put, want)
		}
	}
	off, err := s.triggersOff(ctx, op, toldTriggers)
	quiet := len(targets) == 0
	if err != nil || len(put)+len(gone) == 0 && (off == quiet || quiet && s.db.D.Name == sqldb.SQLite) {
		return err
	}
	return s.db.InTx(ctx, op, func(t *sqldb.Tx) error {
		added := slices.ContainsFunc(put, func(w targetRow) bool { return !named(have, w.Name) })
		if off != quiet || added || len(gone) > 0 {
			if err := aloneWithEntries(t); err != nil {
				return err
			}
		}
		for _, w := range put {
			if err := t.Do(`INSERT INTO outbox_target (name, kinds, jobs, wanted_at) VALUES (?, ?, ?, `+t.S.D.Now+`)
				ON CONFLICT (name) DO UPDATE SET kinds = excluded.kinds, jobs = excluded.jobs, wanted_at = excluded.wanted_at`,
				w.Name, w.Kinds, w.Jobs); err != nil {
				return err
			}
		}
		for _, g := range gone {
			n, err := t.Changed(`DELETE FROM outbox_target WHERE name = ? AND wanted_at = ?`, g.Name, g.WantedAt)
			if err != nil {
				return err
			}
			if n == 0 {
				continue // another service has just said that it is wanted
			}
			if err := t.Do(`UPDATE outbox SET done_at = `+t.S.D.Now+`, outcome = 'given_up' WHERE target = ? AND done_at IS NULL`,
				g.Name); err != nil {
				return err
			}
		}
		return switchTriggers(t, toldTriggers, `SELECT COUNT(*) FROM outbox_target`)
	})
}

func named(targets []targetRow, name string) bool {
	return slices.ContainsFunc(targets, func(h targetRow) bool { return h.Name == name })
}

// noLongerWanted reports whether what no service of this configuration wants is to go. A ledger in
// SQLite has one service.
func (s *Store) noLongerWanted(wantedAt, now int64) bool {
	return s.db.D.Name == sqldb.SQLite || now-wantedAt > wantedFor.Milliseconds()
}

func saidLongAgo(wantedAt, now int64) bool {
	return now-wantedAt > wantedEvery.Milliseconds() || wantedAt > now
}

// commaList returns the form of a list in which SQL finds an item: ",a,b,"; "" for all.
func commaList(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "," + strings.Join(items, ",") + ","
}

// The triggers of entry that PostgreSQL has enabled only while they have something to do. Those of
// SQLite cost nothing otherwise.
var (
	toldTriggers = []string{"entry_told"}
	fedTriggers  = []string{"entry_fed_new", "entry_fed"}
)

const disabledTriggers = `SELECT COUNT(*) FROM pg_trigger WHERE tgrelid = 'entry'::regclass AND tgenabled = 'D' AND tgname IN `

// triggersOff reports whether PostgreSQL has some of the triggers disabled.
func (s *Store) triggersOff(ctx context.Context, op string, names []string) (bool, error) {
	if s.db.D.Name == sqldb.SQLite {
		return false, nil
	}
	var off int
	err := s.db.Get(ctx, op, &off, disabledTriggers+`(`+sqldb.Placeholders(len(names))+`)`, sqldb.Anys(names)...)
	return off > 0, err
}

// aloneWithEntries waits on PostgreSQL for all transactions that write entries, and keeps others from it
// until this one ends. Whoever begins or ends what the triggers of entry write does so first: of two
// services the later one counts what the earlier one left, and no writer waits for this one meanwhile.
func aloneWithEntries(t *sqldb.Tx) error {
	if t.S.D.Name == sqldb.SQLite {
		return nil // its only writer
	}
	return t.Do(`LOCK TABLE entry IN SHARE ROW EXCLUSIVE MODE`)
}

// switchTriggers enables the triggers if the query counts something, else it disables them. That waits
// for all transactions that write entries: what commits later is told.
func switchTriggers(t *sqldb.Tx, names []string, count string) error {
	if t.S.D.Name == sqldb.SQLite {
		return nil
	}
	var wanted, off int
	if err := t.Get(&wanted, count); err != nil {
		return err
	}
	if err := t.Get(&off, disabledTriggers+`(`+sqldb.Placeholders(len(names))+`)`, sqldb.Anys(names)...); err != nil {
		return err
	}
	do := ` ENABLE TRIGGER `
	if wanted == 0 {
		do, off = ` DISABLE TRIGGER `, len(names)-off
	}
	if off == 0 {
		return nil
	}
	for _, name := range names {
		if err := t.Do(`ALTER TABLE entry` + do + name); err != nil {
			return err
		}
	}
	return nil
}

// TakeTarget makes this process the only one that delivers to a target, for a time on the database's
// clock; taken again, for that time from now on. taken is false while another living process has it.
func (s *Store) TakeTarget(ctx context.Context, target string, lasts time.Duration) (taken bool, err error) {
	owner, err := json.Marshal(sqldb.Self())
	if err != nil {
		return false, phrase.Errorf("taking the lease: %w", err)
	}
	return sqldb.Stored(ctx, s.db, "taking a target of events", func(t *sqldb.Tx) (bool, error) {
		var rows []struct {
			Owner        string
			Expires, Now int64
		}
		query := `SELECT o.owner, o.expires, ` + t.S.D.Now + ` AS now FROM outbox_target o WHERE o.name = ?`
		if err := t.All(&rows, t.S.D.Locked(query, "o"), target); err != nil || len(rows) == 0 {
			return false, err
		}
		if has := rows[0]; has.Owner != "" && has.Owner != string(owner) && has.Expires > has.Now {
			var other trade.Owner
			if err := json.Unmarshal([]byte(has.Owner), &other); err == nil && !sqldb.Gone(other) {
				return false, nil
			}
		}
		return true, t.Do(`UPDATE outbox_target SET owner = ?, expires = `+t.S.D.Now+` + ? WHERE name = ?`,
			string(owner), lasts.Milliseconds(), target)
	})
}

type outRow struct {
	Seq                                                         int64
	Target, Kind, Job, Key, Sends, State, Cause, Outcome, Fault string
	RemoteID                                                    string
	EntryID, DoneAt                                             sql.NullInt64
	Generation, Tries                                           int
	Version, At, NextAt                                         int64
}

const selectOutbox = `SELECT o.seq, o.target, o.kind, o.entry_id, o.job, o.key, o.sends, o.state, o.cause, o.remote_id, o.generation,
	o.version, o.at, o.tries, o.next_at, o.done_at, o.outcome, o.fault FROM outbox o `

func (r outRow) event() trade.OutEvent {
	e := trade.OutEvent{
		Seq: r.Seq, Target: r.Target, Kind: trade.EventKind(r.Kind), EntryID: r.EntryID.Int64, Job: r.Job, Key: r.Key,
		Sends: trade.Kind(r.Sends), State: r.State, Cause: r.Cause, RemoteID: r.RemoteID, Generation: r.Generation,
		Version: r.Version, At: time.UnixMilli(r.At).UTC(), Tries: r.Tries, DoneAt: sqldb.Instant(r.DoneAt),
		Outcome: r.Outcome, Fault: r.Fault,
	}
	if r.NextAt > 0 {
		e.NextAt = time.UnixMilli(r.NextAt).UTC()
	}
	return e
}

// DueOutbox returns the events that a target is to be told now, at most limit, and at most one of each
// row: a later one waits until the earlier one is delivered or given up. Those that were not tried yet
// come first, in their order: what a program does not take keeps nothing else from it. While a target
// does not answer it is one event. A try planned further ahead than messageRests is due, too.
func (s *Store) DueOutbox(ctx context.Context, target string, now time.Time, limit int) ([]trade.OutEvent, error) {
	const op = "reading the events to deliver"
	at, far := now.UnixMilli(), now.Add(messageRests).UnixMilli()
	var failing []int
	if err := s.db.All(ctx, op, &failing,
		`SELECT failures FROM outbox_target WHERE name = ? AND (next_at <= ? OR next_at > ?)`, target, at, far); err != nil ||
		len(failing) == 0 {
		return nil, err
	}
	if failing[0] > 0 {
		limit = 1
	}
	return sqldb.Made(ctx, s.db, op, outRow.event, selectOutbox+`WHERE o.target = ? AND o.done_at IS NULL
		AND (o.next_at <= ? OR o.next_at > ?) AND (o.entry_id IS NULL OR NOT EXISTS
		(SELECT 1 FROM outbox e WHERE e.target = o.target AND e.entry_id = o.entry_id AND e.done_at IS NULL AND e.seq < o.seq)) ORDER BY o.next_at, o.seq LIMIT ?`, target, at, far, limit)
}

// SettleEvents stores what became of events that were tried, all of one target. If it did not answer,
// it rests until pause says, which is asked with how often in a row that has been so.
func (s *Store) SettleEvents(ctx context.Context, target string, events []trade.OutEvent, answered bool,
	pause func(failures int) time.Time,
) error {
	return s.db.InTx(ctx, "recording deliveries of events", func(t *sqldb.Tx) error {
		for _, e := range events {
			if err := t.Do(`UPDATE outbox SET tries = ?, next_at = ?, done_at = ?, outcome = ?, fault = ? WHERE seq = ? AND done_at IS NULL`,
				e.Tries, sqldb.AtOr(e.NextAt, e.At), sqldb.Millis(e.DoneAt), e.Outcome, sqldb.CleanText(e.Fault),
				e.Seq); err != nil {
				return err
			}
		}
		var failures []int
		if err := t.All(&failures, `SELECT failures FROM outbox_target WHERE name = ?`, target); err != nil ||
			len(failures) == 0 || answered && failures[0] == 0 {
			return err
		}
		if answered {
			return t.Do(`UPDATE outbox_target SET failures = 0, next_at = 0 WHERE name = ?`, target)
		}
		return t.Do(`UPDATE outbox_target SET failures = ?, next_at = ? WHERE name = ?`, failures[0]+1,
			pause(failures[0]+1).UnixMilli(), target)
	})
}

// Outbox returns events for targets, the newest first.
func (s *Store) Outbox(ctx context.Context, f trade.OutEventFilter) ([]trade.OutEvent, error) {
	where, args := outboxWhere(f)
	query := selectOutbox + where + ` ORDER BY o.seq DESC`
	if f.Limit > 0 {
		query, args = query+` LIMIT ?`, append(args, f.Limit)
	}
	return sqldb.Made(ctx, s.db, "reading the events for other programs", outRow.event, query, args...)
}

func outboxWhere(f trade.OutEventFilter) (string, []any) {
	where, args := []string{`1 = 1`}, []any(nil)
	if f.Target != "" {
		where, args = append(where, `o.target = ?`), append(args, f.Target)
	}
	if f.Open {
		where = append(where, `o.outcome <> 'delivered'`)
	}
	if !f.Since.IsZero() {
		where, args = append(where, `o.at >= ?`), append(args, f.Since.UnixMilli())
	}
	if len(f.Seqs) > 0 {
		where = append(where, `o.seq IN (`+sqldb.Placeholders(len(f.Seqs))+`)`)
		args = append(args, sqldb.Anys(f.Seqs)...)
	}
	return `WHERE ` + strings.Join(where, " AND "), args
}

// Redeliver makes events due again, also those that were delivered or given up, in their order, with an
// audit record if there are any. One that was delivered since it was read stays. It returns how many.
func (s *Store) Redeliver(ctx context.Context, events []trade.OutEvent, record trade.AuditRecord) (int, error) {
	return sqldb.Stored(ctx, s.db, "delivering events again", func(t *sqldb.Tx) (n int, err error) {
		for _, planned := range []struct {
			delivered bool
			still     string
		}{{false, `outcome <> 'delivered' AND `}, {true, ``}} {
			var seqs []int64
			for _, e := range events {
				if (e.Outcome == trade.EventDelivered) == planned.delivered {
					seqs = append(seqs, e.Seq)
				}
			}
			for chunk := range slices.Chunk(seqs, sqldb.InList) {
				// of a target that is no longer told nothing would be delivered
				some, err := t.Changed(`UPDATE outbox SET done_at = NULL, outcome = '', fault = '', tries = 0, next_at = 0, again_at = ?
					WHERE target IN (SELECT name FROM outbox_target) AND `+planned.still+`seq IN (`+sqldb.Placeholders(len(chunk))+`)`,
					append([]any{record.At.UnixMilli()}, sqldb.Anys(chunk)...)...)
				if err != nil {
					return 0, err
				}
				n += some
			}
		}
		if n == 0 {
			return 0, nil
		}
		if err := t.Do(`UPDATE outbox_target SET failures = 0, next_at = 0`); err != nil {
			return 0, err
		}
		return n, addAudit(t, record)
	})
}

// OutboxStates returns what the targets have not been told, by name.
func (s *Store) OutboxStates(ctx context.Context) ([]trade.OutboxState, error) {
	return sqldb.Made(ctx, s.db, "counting events to deliver", func(r outboxStateRow) trade.OutboxState {
		out := trade.OutboxState{
			Target: r.Name, Open: r.Waiting, Oldest: sqldb.Instant(r.Oldest), GivenUp: r.GivenUp, Failures: r.Failures,
		}
		if r.NextAt > 0 {
			out.NextAt = time.UnixMilli(r.NextAt).UTC()
		}
		return out
	}, `SELECT t.name, t.failures, t.next_at, (SELECT COUNT(*) FROM outbox o WHERE o.target = t.name AND o.done_at IS NULL) AS waiting,
		(SELECT MIN(o.at) FROM outbox o WHERE o.target = t.name AND o.done_at IS NULL) AS oldest,
		(SELECT COUNT(*) FROM outbox o WHERE o.target = t.name AND o.outcome = 'given_up') AS given_up FROM outbox_target t ORDER BY t.name`)
}

// OutboxLast returns what became of the newest tries to tell a target.
func (s *Store) OutboxLast(ctx context.Context, target string) (trade.OutboxLast, error) {
	var row struct {
		Delivered sql.NullInt64
		Fault     string
	}
	err := s.db.Get(ctx, "reading the last deliveries of events", &row, `SELECT
		(SELECT MAX(o.done_at) FROM outbox o WHERE o.target = ? AND o.outcome = 'delivered') AS delivered,
		COALESCE((SELECT o.fault FROM outbox o WHERE o.target = ? AND o.outcome <> 'delivered' AND o.fault <> ''
			ORDER BY o.next_at DESC, o.seq DESC LIMIT 1), '') AS fault`, target, target)
	return trade.OutboxLast{DeliveredAt: sqldb.Instant(row.Delivered), Fault: row.Fault}, err
}

type outboxStateRow struct {
	Name              string
	Failures, Waiting int
	GivenUp           int
	NextAt            int64
	Oldest            sql.NullInt64
}

// outboxBatch is how many events one transaction of PruneOutbox changes.
const outboxBatch = 500

// PruneOutbox gives up events that are older than keep and were not delivered, and removes those that
// were; those that were given up after twice the time, so that somebody sees them. The time of one that
// was to be delivered again begins anew with that. It returns how many were given up now.
func (s *Store) PruneOutbox(ctx context.Context, now time.Time, keep time.Duration) (givenUp int, err error) {
	old, older := now.Add(-keep).UnixMilli(), now.Add(-2*keep).UnixMilli()
	var some []int64
	if err := s.db.All(ctx, "looking for old events", &some, `SELECT seq FROM outbox WHERE at < ? LIMIT 1`, old); err != nil ||
		len(some) == 0 {
		return 0, err
	}
	for _, step := range []struct {
		query string
		args  []any
		gives bool
	}{
		{
			`UPDATE outbox SET done_at = ?, outcome = 'given_up' WHERE seq IN (SELECT seq FROM outbox WHERE at < ? AND again_at < ? AND done_at IS NULL LIMIT ?)`,
			[]any{now.UnixMilli(), old, old, outboxBatch},
			true,
		},
		{
			`DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox WHERE at < ? AND again_at < ? AND (outcome = 'delivered'
				OR outcome = 'given_up' AND at < ? AND again_at < ?) LIMIT ?)`,
			[]any{old, old, older, older, outboxBatch},
			false,
		},
	} {
		for n := outboxBatch; n == outboxBatch; {
			n, err = sqldb.Stored(ctx, s.db, "removing old events",
				func(t *sqldb.Tx) (int, error) { return t.Changed(step.query, step.args...) })
			if err != nil {
				return givenUp, err
			}
			if step.gives {
				givenUp += n
			}
		}
	}
	return givenUp, nil
}
