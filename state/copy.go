package state

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// MovePlan describes what moving a ledger to another database would do, or did.
type MovePlan struct {
	From   string      `json:"from"` // where the ledger is now
	To     string      `json:"to"`   // where it is moved to
	Ledger string      `json:"ledger"`
	Tables []MoveTable `json:"tables,omitempty"` // the tables copied and compared
	Sent   int         `json:"sent"`             // rows in state accepted
	// rows in flight as far as the ledger knows; they become in doubt
	Doubts int `json:"doubts"`
	// the ledger was already moved there; only the journal remained to be begun
	Done bool `json:"done"`
}

// MoveTable is one table of a moved ledger. Hash covers its rows in any order; it was the same in
// both databases.
type MoveTable struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Hash string `json:"hash"`
}

// movedTables lists the tables to copy, in an order in which referenced rows come before the rows
// that refer to them. Tables that belong to running processes are not copied, nor are the journals.
var movedTables = []string{
	"audit", "audit_head", "entry", "body", "listing", "sent", "former", "exchange", "sighting", "quarantine", "run",
	"job_kind",
	"job_moved",
	"job_cursor",
	"job_status",
	"reference", "lookup", "block",
	"alert", "alert_message", "task", "person", "cause_owner", "approval",
	"closing_part", "closing",
	"webhook", "inbox", "heard", "candidate",
}

// moveTime is the maximum duration of one step of a move.
const moveTime = 6 * time.Hour

// Move copies a ledger into another database, which must be new, and marks the old one as moved, so
// that nothing is ever sent from both. It refuses a ledger that is in use.
//
// It first marks the new database as an unfinished copy, which nothing but Move opens, then the old
// ledger and its journal; from then on no process can take one of its leases, and an older copy of it
// is refused, too (Restore, Rebuild, Open). It then copies everything in one transaction and compares
// the two sides, begins the journal of the new ledger, and lets the old one name it. If copying fails,
// Move removes the mark of the old ledger, and nothing has changed. If the process dies, the same
// command continues the move. If apply is false, Move only checks and plans.
func Move(ctx context.Context, from, to sqldb.OpenOptions, apply bool,
	record trade.AuditRecord,
) (plan MovePlan, err error) {
	patient := to.Tuning()
	patient.Write = moveTime
	to.Tune = &patient
	from.Moving, from.Begin = true, false // it may be marked as moved already
	old, err := Open(ctx, from)
	if err != nil {
		return plan, err
	}
	defer phrase.Join(&err, old.Close)
	release, err := old.Serve()
	if err != nil {
		return plan, err
	}
	defer phrase.Join(&err, release)
	bare := to
	bare.Journal, bare.ReadOnly, bare.Begin, bare.CopyOf = "", !apply, true, old.db.Where
	fresh, err := Open(ctx, bare)
	if errors.Is(err, sqldb.ErrNoLedger) { // planning does not create a ledger
		fresh, err = openMemory(ctx, from.Tuning())
		if err == nil {
			fresh.db.Where, err = whereOf(bare)
		}
	}
	if err != nil {
		return plan, err
	}
	defer phrase.Join(&err, fresh.Close)
	m := &moving{from: old, to: fresh, plan: MovePlan{From: old.db.Where, To: fresh.db.Where, Ledger: fresh.db.ID}}
	if err := m.look(ctx); err != nil || !apply {
		return m.plan, err
	}
	if m.plan.Done {
		if err := m.from.witness.flushed(); err != nil {
			return m.plan, err
		}
		return m.plan, m.finish(ctx, to)
	}
	err = m.to.db.Do(ctx, "marking the copy as unfinished", `UPDATE ledger SET moved_from = ?`, sqldb.Unfinished+m.from.db.Where)
	if err != nil {
		return m.plan, err
	}
	if err := m.mark(ctx, record); err != nil {
		if m.noted() { // the journal was first
			err = errors.Join(err, m.unmark(ctx))
		}
		return m.plan, err
	}
	// An older copy of the old ledger learns of the move from the witness alone.
	err = m.from.witness.flushed()
	if err == nil {
		// all tables in one transaction
		err = m.to.db.Fault(ctx, copying, m.to.db.InOneTx(ctx, func(t *sqldb.Tx) error { return m.fillIn(t, record) }))
	}
	if err != nil {
		return m.plan, errors.Join(err, m.unmark(ctx))
	}
	return m.plan, m.finish(ctx, to)
}

// countKnown counts the rows that are accepted, and those in flight.
func countKnown(t *sqldb.Tx) (sent, doubts int, err error) {
	err = t.Get(&sent, `SELECT COUNT(*) FROM entry WHERE state = 'accepted'`)
	if err == nil {
		err = t.Get(&doubts, `SELECT COUNT(*) FROM entry WHERE state = 'sending'`)
	}
	return sent, doubts, err
}

// moving is a ledger in the course of a move to another database.
type moving struct {
	from, to *Store
	plan     MovePlan
}

// look refuses a move that is not possible, and sets Done if an earlier attempt has copied
// everything.
func (m *moving) look(ctx context.Context) error {
	if m.from.db.ID == m.to.db.ID {
		return m.to.db.Refuse(sqldb.CodeCopy, errors.New("it is the ledger itself"),
			phrase.New("give another database"))
	}
	var moved *string
	err := m.from.db.Peek(ctx, "looking at the ledger", func(t *sqldb.Tx) error {
		if err := nobodyLives(t); err != nil {
			return err
		}
		if err := t.Get(&moved, `SELECT moved_to FROM ledger`); err != nil {
			return err
		}
		var err error
		m.plan.Sent, m.plan.Doubts, err = countKnown(t)
		return err
	})
	if err != nil {
		return err
	}
	var there struct {
		From *string `db:"moved_from"`
		Rows int     `db:"n"`
	}
	if err := m.to.db.Get(ctx, "looking at the new ledger", &there,
		`SELECT moved_from, (SELECT COUNT(*) FROM entry) + (SELECT COUNT(*) FROM audit) + (SELECT COUNT(*) FROM run) AS n FROM ledger`); err != nil {
		return err
	}
	switch {
	case there.From != nil && *there.From == m.from.db.ID && moved != nil:
		m.plan.Done = true
	case there.Rows > 0:
		return m.to.db.Refuse(sqldb.CodeCopy,
			errors.New("it has a ledger already, which is in use or was"),
			phrase.New("give a database without a ledger, or a schema of its own"))
	case moved != nil && strings.TrimPrefix(*moved, sqldb.Unfinished) != m.to.db.Where:
		return refuseOther(m.from.db, 0, moved)
	}
	return nil
}

// nobodyLives refuses a ledger that a live process uses.
func nobodyLives(t *sqldb.Tx) error {
	if err := nobodyRuns(t); err != nil {
		return err
	}
	instances, err := instancesIn(t)
	for _, i := range instances {
		if !i.Dead {
			return t.S.Refuse(sqldb.CodeServed,
				phrase.Errorf("`safrasync %s` works on it, as process %d on %s", i.Command, i.Owner.PID,
					i.Owner.Host),
				phrase.New("stop it first, on every machine"))
		}
	}
	return err
}

// mark records in the old ledger where it is moved to. From then on none of its leases can be
// taken.
func (m *moving) mark(ctx context.Context, record trade.AuditRecord) error {
	detail, err := json.Marshal(m.plan)
	if err != nil {
		return err
	}
	record.Detail = string(detail)
	return m.from.db.InTx(ctx, "marking the ledger as moved", func(t *sqldb.Tx) error {
		// a process that takes a lease at this moment is seen below, or sees the mark
		for _, lock := range []string{"job_lease", "ledger"} {
			if err := t.All(&[]int64{}, t.S.D.Locked(`SELECT 1 FROM `+lock, lock)); err != nil {
				return err
			}
		}
		if err := nobodyLives(t); err != nil {
			return err
		}
		n, err := t.Changed(`UPDATE ledger SET moved_to = ? WHERE moved_to IS NULL`, sqldb.Unfinished+m.to.db.Where)
		if err != nil || n == 0 && m.noted() {
			return err // already marked by an earlier attempt
		}
		noteMoved(t, sqldb.Unfinished+m.to.db.Where)
		if n == 0 {
			return nil
		}
		return books.AddAudit(t, record)
	})
}

// noted reports whether the old ledger's journal says that it is moved.
func (m *moving) noted() bool {
	j := m.from.db.Journal
	return j != nil && j.Header().MovedTo != ""
}

// unmark removes the mark from the old ledger after a move that failed. It does so only if the new
// ledger has received nothing.
func (m *moving) unmark(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	again := func(what string, err error) error {
		return m.from.db.Refuse(sqldb.CodeCopy, errors.Join(errors.New(what), err),
			phrase.New(sqldb.CopyAgain))
	}
	var from string
	if err := m.to.db.Get(ctx, "looking at the new ledger", &from, `SELECT moved_from FROM ledger`); err != nil ||
		!strings.HasPrefix(from, sqldb.Unfinished) {
		return again("nobody knows whether the ledger was moved", err)
	}
	err := m.from.db.InTx(ctx, "taking the mark of the move back", func(t *sqldb.Tx) error {
		noteMoved(t, "")
		return t.Do(`UPDATE ledger SET moved_to = NULL`)
	})
	if err != nil {
		return again("it is still marked as moved, and was not", err)
	}
	return nil
}

// finish opens the new ledger in the normal way, which begins its journal with what the ledger knows
// and runs the usual checks. Then the old one, and its journal, name it as their successor.
func (m *moving) finish(ctx context.Context, to sqldb.OpenOptions) error {
	s, err := Open(ctx, to)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return phrase.Errorf("the ledger is moved; its journal: %w", err)
	}
	return m.from.db.InTx(ctx, "marking the ledger as moved", func(t *sqldb.Tx) error {
		noteMoved(t, m.to.db.Where)
		return t.Do(`UPDATE ledger SET moved_to = ?`, m.to.db.Where)
	})
}
