package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// writeTries limits how often a transaction that certainly was not applied is run: it is repeated
// after a deadlock, a serialization failure, a race for a platform id, or a connection that broke
// before the commit was sent.
const writeTries = 4

// TimeoutError is the time limit that ended an operation.
type TimeoutError struct{ *phrase.Text }

// TookLonger returns the error of an operation that did not end within a time.
func TookLonger(op string, after time.Duration) *TimeoutError {
	return &TimeoutError{phrase.New("%w took longer than %s", phrase.Fixed(op), after)}
}

// Tx is one write transaction. A write outside an explicit transaction is not allowed: database/sql
// would send it twice if the connection breaks after the server has run it.
type Tx struct {
	Ctx context.Context
	S   *DB
	*sqlx.Tx
	Note *journal.Record // the record that the journal must have before the commit; nil if none
	Seq  int64           // the number of the record
	Then []func()        // functions to run once the transaction is on disk

	// the end of the audit before the first act of the transaction; nil if it has no act
	Audit *AuditHead

	Now  LedgerState // PostgreSQL: the state of the ledger when the transaction began
	had  Confirmed   // what was confirmed before that
	mark string      // of the record Seq
	hot  bool        // its statements are prepared once
}

// Do runs a statement.
func (t *Tx) Do(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// brief returns the context of a prepared statement. Those of SQLite find their rows by keys, under the
// only lock: the driver need not watch them.
func (t *Tx) brief() context.Context {
	if t.S.D.Name == SQLite {
		return context.WithoutCancel(t.Ctx)
	}
	return t.Ctx
}

func (t *Tx) exec(query string, args ...any) (sql.Result, error) {
	if statement := t.prepared(query); statement != nil {
		return statement.ExecContext(t.brief(), args...)
	}
	return t.ExecContext(t.Ctx, t.Rebind(query), args...)
}

// Script runs a text of several statements unchanged.
func (t *Tx) Script(text string) error {
	_, err := t.Tx.ExecContext(t.Ctx, text)
	return err
}

// Changed runs a statement and returns the number of rows that it changed.
func (t *Tx) Changed(query string, args ...any) (int, error) {
	res, err := t.exec(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// ChangedBy runs a statement of SQLite, prepared once, with each of some lists of arguments, and returns
// with which of them it changed something.
func (t *Tx) ChangedBy(query string, lists [][]any) (changed []int, err error) {
	statement, err := t.PreparexContext(t.Ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	for i, args := range lists {
		result, err := statement.ExecContext(t.brief(), args...)
		if err != nil {
			return nil, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			changed = append(changed, i)
		}
	}
	return changed, nil
}

// Get reads one row into dest.
func (t *Tx) Get(dest any, query string, args ...any) error {
	rows, err := t.query(query, args)
	return readOne(dest, rows, err)
}

// All reads all rows into dest, a slice.
func (t *Tx) All(dest any, query string, args ...any) error {
	rows, err := t.query(query, args)
	return readAll(dest, rows, err)
}

func (t *Tx) query(query string, args []any) (*sqlx.Rows, error) {
	if statement := t.prepared(query); statement != nil {
		return statement.QueryxContext(t.brief(), args...)
	}
	return t.QueryxContext(t.Ctx, t.Rebind(query), args...)
}

// Stored is like [DB.InTx] for a function with a result. If nothing was stored, it returns the zero
// value.
func Stored[T any](ctx context.Context, s *DB, op string, fn func(*Tx) (T, error)) (out T, err error) {
	var given T
	if err = s.InTx(ctx, op, func(t *Tx) (err error) {
		given, err = fn(t)
		return err
	}); err == nil {
		out = given
	}
	return out, err
}

// InTx runs fn in one transaction and returns when it is durable. fn may run several times, so it
// must set its results anew each time.
//
// The caller's cancellation counts only before the transaction begins. A transaction that has begun
// is completed within its own time limit, because a result that a shutdown discards becomes a doubt
// for a person.
func (s *DB) InTx(ctx context.Context, op string, fn func(*Tx) error) error {
	return s.inTxWithin(ctx, s.Tune.Write, op, fn)
}

// InLongTx is like InTx for a transaction that touches many rows at once.
func (s *DB) InLongTx(ctx context.Context, op string, fn func(*Tx) error) error {
	return s.inTxWithin(ctx, max(s.Tune.Write, longTx), op, fn)
}

const longTx = time.Hour

func (s *DB) inTxWithin(ctx context.Context, limit time.Duration, op string, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return phrase.Errorf("%w: %w", phrase.Fixed(op), err)
	}
	if s.ReadOnly {
		return s.Refuse(CodePermission,
			phrase.Errorf("%w: the ledger is open for reading only", phrase.Fixed(op)),
			phrase.New("this command only reads"))
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), limit, TookLonger(op, limit))
	defer cancel()
	var slot int
	select {
	case slot = <-s.Slots:
		defer func() { s.Slots <- slot }()
	case <-ctx.Done():
		return s.Fault(ctx, op, ctx.Err())
	}
	for try := 1; ; try++ {
		again, err := s.TryTx(ctx, op, slot, fn)
		if settle := s.settles(err); settle != nil && try < writeTries {
			err = settle(ctx, op, slot)
			if err == nil {
				continue
			}
			again = false
		}
		if err == nil || !again || try == writeTries || ctx.Err() != nil {
			return s.Fault(ctx, op, err)
		}
	}
}

// settles returns what may make a transaction possible that failed because of what happened to the
// ledger elsewhere; nil if nothing does.
func (s *DB) settles(err error) func(ctx context.Context, op string, slot int) error {
	switch {
	case errors.Is(err, journal.ErrAhead):
		return s.SettleCrash
	case s.Journal == nil:
		return nil
	case errors.Is(err, errUnsigned), errors.Is(err, trade.ErrOtherServer), errors.Is(err, trade.ErrWentBack):
		return s.Sign
	}
	return nil
}

// Do runs one statement in a transaction of its own.
func (s *DB) Do(ctx context.Context, op, query string, args ...any) error {
	return s.InTx(ctx, op, func(t *Tx) error { return t.Do(query, args...) })
}

// TryTx runs the transaction once. again means that it certainly was not applied and may succeed
// next time.
func (s *DB) TryTx(ctx context.Context, op string, slot int, fn func(*Tx) error) (again bool, err error) {
	raw, err := s.Write.BeginTxx(ctx, nil)
	if err != nil {
		return mayWorkAgain(err), err
	}
	t := &Tx{Ctx: ctx, S: s, Tx: raw, had: s.Confirmed(), hot: true}
	mark := NewID()
	err = t.leaveMark(slot, mark)
	t.hot = false
	if err == nil {
		err = fn(t)
	}
	if err == nil {
		err = failpoint.Hit("tx.written")
	}
	if err == nil {
		err = t.WriteNote()
	}
	if err == nil {
		err = failpoint.Hit("tx.noted")
	}
	if err != nil {
		// Nothing was committed, whatever the rollback returns. The pool discards a connection that
		// cannot roll back.
		_ = raw.Rollback()
		return mayWorkAgain(err), err
	}
	if err = raw.Commit(); err == nil {
		// an error here simulates a commit whose answer was lost
		err = failpoint.Hit("tx.committed")
	}
	if err == nil {
		t.noted()
		return false, nil // the transaction is on disk
	}
	// The commit may or may not be on disk: the answer was lost, or the disk failed in the middle.
	// A guess would cost a duplicate or a lost row, so the mark is looked up.
	_ = raw.Rollback()
	applied, lookErr := s.WasApplied(ctx, op, slot, mark)
	switch {
	case lookErr != nil:
		return false, s.Uncertain(op, err, lookErr)
	case applied:
		t.noted()
		return false, nil
	}
	return errors.Is(err, driver.ErrBadConn) || isNetwork(err) && s.D.Name == Postgres, err
}

// InOneTx runs fn once, in one transaction that may take long, and leaves no mark. If the commit
// fails, the caller must check whether it took effect.
func (s *DB) InOneTx(ctx context.Context, fn func(*Tx) error) error {
	return s.inOneTx(ctx, s.Write, fn)
}

func (s *DB) inOneTx(ctx context.Context, db *sqlx.DB, fn func(*Tx) error) error {
	raw, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(&Tx{Ctx: ctx, S: s, Tx: raw}); err != nil {
		return errors.Join(err, raw.Rollback())
	}
	return raw.Commit()
}

// eachRow runs one statement for each row, and returns how many rows of the table changed. In
// SQLite this costs no more than one statement for many rows, whose text would have to be parsed
// each time.
func (t *Tx) eachRow(query string, rows [][]any) (changed int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	statement := t.prepared(query)
	if statement == nil {
		statement, err = t.PreparexContext(t.Ctx, t.Rebind(query))
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, statement.Close()) }()
	}
	// the driver would watch a cancellable context for each statement
	short := context.WithoutCancel(t.Ctx)
	for _, row := range rows {
		result, err := statement.ExecContext(short, row...)
		if err != nil {
			return changed, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return changed, err
		}
		changed += int(n)
	}
	return changed, nil
}

// Peek runs fn in a transaction that is rolled back. If a SQLite ledger is open for writing, nobody
// else writes meanwhile.
func (s *DB) Peek(ctx context.Context, op string, fn func(*Tx) error) error {
	raw, err := s.Write.BeginTxx(ctx, nil)
	if err != nil {
		return s.Fault(ctx, op, err)
	}
	defer func() { _ = raw.Rollback() }()
	return s.Fault(ctx, op, fn(&Tx{Ctx: ctx, S: s, Tx: raw}))
}

// AtOneMoment runs fn in a read-only transaction, so that everything it reads is from one snapshot.
func (s *DB) AtOneMoment(ctx context.Context, fn func(*sqlx.Tx) error) error {
	t, err := s.Read.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(fn(t), t.Rollback()) // nothing was written
}

// momentLimit is how long a [DB.Moment] lasts at most. As long, the log of a SQLite ledger can only
// grow, and a PostgreSQL server keeps what was replaced since.
const momentLimit = 30 * time.Minute

// Moment returns a DB that reads the ledger as it is now, in one transaction, and writes nothing. It
// holds up nobody, and takes one connection. One goroutine at a time may use it. It must be closed.
func (s *DB) Moment(ctx context.Context, op string) (*DB, error) {
	at := &DB{
		D: s.D, Tune: s.Tune, Write: s.Write, Read: s.Read, ID: s.ID, Where: s.Where, ReadOnly: true, Memory: s.Memory,
		end: func() {},
	}
	if s.Memory { // it has one connection, which nobody else uses
		return at, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, momentLimit, TookLonger(op, momentLimit))
	t, err := s.Read.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err == nil && s.D.Name == Postgres {
		// what is read may be given to somebody who takes his time
		_, err = t.ExecContext(ctx, `SET LOCAL idle_in_transaction_session_timeout = `+
			strconv.FormatInt(momentLimit.Milliseconds(), 10))
	}
	if err != nil {
		cancel() // it also rolls back
		return nil, s.Fault(ctx, op, err)
	}
	at.moment, at.during = t, ctx
	at.end = func() {
		_ = t.Rollback() // nothing was written
		cancel()
	}
	return at, nil
}

// leaveMark writes the transaction's id where WasApplied finds it, and verifies the settings that
// make the commit durable (I1): an administrator can turn fsync off at any time.
func (t *Tx) leaveMark(slot int, mark string) error {
	var setting string
	if err := t.Get(&setting, t.S.D.mark, t.S.MarkedBy, slot, mark); err != nil {
		return err
	}
	setting, state, there := strings.Cut(setting, ";")
	if err := t.S.D.safe(setting); err != nil || !there {
		return err
	}
	return json.Unmarshal([]byte(state), &t.Now)
}

// WasApplied reports whether the transaction with this mark is in the database. On PostgreSQL the
// upsert waits for the row that the transaction in question wrote first, so that a COMMIT on which
// the server is still working has ended before the mark is read.
func (s *DB) WasApplied(ctx context.Context, op string, slot int, mark string) (bool, error) {
	if s.Memory {
		// a commit in memory that fails was rolled back; no second connection could read it
		return false, nil
	}
	limit := TookLonger(op+": reading back an uncertain commit", s.Tune.Settle)
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.Tune.Settle, limit)
	defer cancel()
	if s.D.Name == SQLite {
		// A new connection, because after a failed fsync the old one has pages that are not on disk. What
		// it finds is not necessarily durable either: so the log is copied into the file and flushed.
		if err := s.discardWriter(ctx); err != nil {
			return false, err
		}
		var found string
		err := s.Write.GetContext(ctx, &found, `SELECT id FROM tx_mark WHERE owner = ? AND slot = ?`, s.MarkedBy, slot)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err != nil || found != mark {
			return false, err
		}
		var busy, pages, copied int
		if err := s.Write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(FULL)`).Scan(&busy, &pages, &copied); err != nil {
			return false, err
		}
		if busy != 0 || pages != copied {
			return false, errors.New("a reader keeps the transaction from being flushed")
		}
		return true, nil
	}
	for {
		found, err := s.readMark(ctx, slot)
		if err == nil {
			return found == mark, nil
		}
		if !s.pause(ctx, 100*time.Millisecond) {
			return false, errors.Join(context.Cause(ctx), err)
		}
	}
}

func (s *DB) readMark(ctx context.Context, slot int) (found string, err error) {
	t, err := s.Write.BeginTxx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = t.Rollback() }() // nothing is to be kept
	err = t.GetContext(ctx, &found, t.Rebind(`INSERT INTO tx_mark (owner, slot, id, at) VALUES (?, ?, '', 0)
		ON CONFLICT (owner, slot) DO UPDATE SET at = excluded.at RETURNING id`), s.MarkedBy, slot)
	return found, err
}

// discardWriter makes the pool open a new connection.
func (s *DB) discardWriter(ctx context.Context) error {
	conn, err := s.Write.Conn(ctx)
	if err != nil {
		return err
	}
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); err != nil && !errors.Is(err, driver.ErrBadConn) {
		return errors.Join(err, conn.Close())
	}
	return nil
}

// pause waits, and reports whether there is time left.
func (s *DB) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// mayWorkAgain reports whether a transaction that was not committed may succeed if it is run again.
func mayWorkAgain(err error) bool {
	var server *pq.Error
	if errors.As(err, &server) {
		switch string(server.Code) {
		case "40001", "40P01": // serialization failure, deadlock
			return true
		// two transactions raced for one platform id; the second run sees the first one's and
		// reports a conflict
		case "23505":
			return server.Constraint == "sent_one_remote"
		}
		return false
	}
	return errors.Is(err, driver.ErrBadConn)
}
