package state

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// A ledger belongs to one platform, identified by the base address that it has sent to: ids and
// doubts are meaningless elsewhere. The address is stored before the first intent, with the lease
// under which an intent may be stored, and stays while a lease is held. A person changes it
// (Rebind).

// actPlatform is the act in the audit when the program itself sets the address.
const actPlatform = "platform"

// bindPlatform allows the holder of a lease to send to an address, or returns *trade.OtherPlatformError. A
// ledger that has created nothing yet takes any address. A process that sends nothing passes "".
func bindPlatform(t *sqldb.Tx, platform string) error {
	if platform == "" {
		return nil
	}
	const query = `SELECT platform FROM ledger`
	var was string
	if err := t.Get(&was, query); err != nil {
		return err
	}
	if was == platform { // a change of the address waits for this lock, and then sees the lease
		if err := t.Get(&was, t.S.D.HeldLock(query, "ledger")); err != nil || was == platform {
			return err
		}
	}
	if err := t.Get(&was, t.S.D.Locked(query, "ledger")); err != nil || was == platform {
		return err
	}
	if err := belongsTo(t.Ctx, t, was, platform); err != nil {
		return err
	}
	if was != "" { // no other process may be about to send to the former address
		if err := nobodyRuns(t); err != nil {
			return err
		}
		if _, err := books.AddOwnAudit(t, actPlatform, platform, map[string]any{
			"was": was, "is": platform, "why": trade.Say("audit.platform", "was", was),
		}); err != nil {
			return err
		}
	}
	if err := setPlatform(t, platform); err != nil {
		return err
	}
	return noteHeader(t, "")
}

// setPlatform stores an address; "" changes nothing.
func setPlatform(t *sqldb.Tx, platform string) error {
	if platform == "" {
		return nil
	}
	return t.Do(`UPDATE ledger SET platform = ?`, platform)
}

// noteHeader records in the journal the place of the ledger and the platform that it belongs to.
func noteHeader(t *sqldb.Tx, program string) error {
	if t.S.Journal == nil {
		return nil
	}
	header := t.S.Journal.Header()
	header.Place = t.S.Where
	if program != "" {
		header.Program = program
	}
	if err := t.Get(&header.Platform, `SELECT platform FROM ledger`); err != nil {
		return err
	}
	t.Noting(time.Now()).Head = &header
	return nil
}

// noteMoved records in the journal where the ledger is moved to; "" takes that back.
func noteMoved(t *sqldb.Tx, to string) {
	note := t.Noting(time.Now())
	if t.S.Journal == nil { // WriteNote refuses it, if the ledger has one
		return
	}
	header := t.S.Journal.Header()
	header.MovedTo = to
	note.Head = &header
}

// rowGetter reads one row: it is a transaction, or the pool for reading.
type rowGetter interface {
	GetContext(ctx context.Context, dest any, query string, args ...any) error
}

// Belongs returns *trade.OtherPlatformError if a run that sends to this address would be refused.
// It changes nothing.
func (s *Store) Belongs(ctx context.Context, platform string) error {
	was, err := s.Platform(ctx)
	if err != nil || platform == "" || was == platform {
		return err
	}
	return s.db.Fault(ctx, "looking where the ledger has sent", belongsTo(ctx, s.db.Read, was, platform))
}

// Platform returns the base address that the ledger has sent to, or is about to, or "" if it has
// not sent yet.
func (s *Store) Platform(ctx context.Context) (platform string, err error) {
	err = s.db.Get(ctx, "looking where the ledger has sent", &platform, `SELECT platform FROM ledger`)
	return platform, err
}

// belongsTo refuses another address if something was created at the former one, or may have been.
func belongsTo(ctx context.Context, from rowGetter, was, now string) error {
	if was == "" {
		return nil
	}
	accepted, doubts, err := countSent(ctx, from)
	if err != nil || accepted+doubts == 0 {
		return err
	}
	return &trade.OtherPlatformError{Ledger: was, Now: now, Accepted: accepted, Doubts: doubts}
}

// countSent counts the rows that the platform has, and those that it may have: those with an
// attempt that may have created a record.
func countSent(ctx context.Context, from rowGetter) (accepted, doubts int, err error) {
	if err = from.GetContext(ctx, &accepted, `SELECT COUNT(*) FROM entry WHERE state = 'accepted'`); err != nil {
		return 0, 0, err
	}
	err = from.GetContext(ctx, &doubts, `SELECT COUNT(*) FROM entry e WHERE e.state <> 'accepted' AND (e.state IN ('in_doubt', 'sending') OR
		EXISTS (SELECT 1 FROM sent a WHERE a.origin = e.id AND a.outcome IN ('open', 'unknown', 'created')))`)
	return accepted, doubts, err
}
