// The group commit: settlements, updates and intents in one transaction and one flush.

package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// groupTx is one Commit: it locks everything that it reads first, decides in Go, and writes with
// few statements.
type groupTx struct {
	*sqldb.Tx
	Lease    trade.Lease
	Group    trade.Group
	Result   trade.GroupResult
	Now      time.Time
	Attempts map[string]*attemptRow
	Entries  map[int64]*narrowRow
	Records  *recordSet
	witness  *watch
	alone    bool // no other job has entries of the kind that this one sends
}

// newGroupTx returns a groupTx that stores a group within a transaction.
func newGroupTx(t *sqldb.Tx, lease trade.Lease, group trade.Group) *groupTx {
	g := &groupTx{
		Tx: t, Lease: lease, Group: group, Now: group.At,
		Result: trade.GroupResult{
			Claimed: map[string]bool{}, Settled: map[string]bool{},
			Conflicts: map[string]string{}, Elsewhere: map[string]bool{},
		},
	}
	if g.Now.IsZero() {
		g.Now = time.Now()
	}
	return g
}

// Commit settles finished attempts, moves entries and makes intents durable, in one transaction and
// one flush. Intents, updates and blocks are fenced by the lease. Settlements are not: they are
// stored even if the lease is lost (I12). What an earlier try of the same call stored, as after
// trade.ErrUncertain, counts as stored now.
func (s *Store) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	if err := checkGroup(group); err != nil {
		return trade.GroupResult{}, err
	}
	if len(group.Intents) > 0 && s.witness != nil {
		s.witness.writer.MindClock() // which may wait: here nobody waits for this group yet
	}
	var g *groupTx
	err := s.db.InHotTx(ctx, "storing a group", func(t *sqldb.Tx) error {
		g = newGroupTx(t, lease, group)
		g.witness = s.witness
		if keyed := s.db.D.Keyed; keyed != "" {
			if err := t.Script(keyed); err != nil {
				return err
			}
		}
		return g.Run()
	})
	if err != nil {
		return trade.GroupResult{}, s.keepAnswers(group, g, err)
	}
	if len(g.Result.Claimed) > 0 {
		if err := s.witness.taken(); err != nil { // another copy of the ledger lives: nothing leaves
			return trade.GroupResult{}, phrase.Errorf("%w (%w)", err, trade.ErrUncertain) // the intents are stored
		}
	}
	return g.Result, nil
}

// checkGroup refuses what no correct caller requests, before anything is written.
func checkGroup(group trade.Group) error {
	for _, s := range group.Settle {
		switch {
		case s.Attempt.Outcome == trade.OutcomeOpen:
			return fmt.Errorf("storing a group: the settlement of attempt %s has no outcome", s.Attempt.ID)
		case s.Attempt.Outcome == trade.OutcomeCreated && s.Attempt.RemoteID == "":
			return fmt.Errorf(
				"storing a group: attempt %s is settled as created without the platform's id; without one it is unknown", s.Attempt.ID)
		case s.Attempt.Outcome == trade.OutcomeUnknown && s.State != trade.InDoubt:
			return fmt.Errorf("storing a group: attempt %s is unknown, but its entry would not be in doubt",
				s.Attempt.ID)
		case s.State == trade.Accepted && s.Attempt.Outcome != trade.OutcomeCreated:
			return fmt.Errorf("storing a group: attempt %s would be accepted although it created nothing", s.Attempt.ID)
		case s.State == trade.Sending || !trade.CanMove(trade.Sending, s.State):
			return fmt.Errorf("storing a group: an attempt cannot end with its entry in state %q", s.State)
		}
	}
	for _, in := range group.Intents {
		if in.Attempt.ID == "" || (len(in.Attempt.Payload) == 0 && len(in.Entry.Payload) == 0) {
			return errors.New("storing a group: an intent needs an id and a payload")
		}
	}
	return nil
}

// Run stores the group, in one transaction. What a crash leaves:
//
//	before Commit          nothing of the group: entries are pending, answers that have come are
//	                       lost, and their rows in doubt
//	in a step below        the same: the transaction is rolled back
//	record in the journal  the next start finds one record more than the ledger has and applies
//	                       it: an intent in it is in doubt, an answer in it counts
//	COMMIT, no answer yet  the caller gets trade.ErrUncertain and sends nothing; repeating the
//	                       call finds what is stored (claim)
//	after COMMIT           entries in sending, which Recover puts in doubt
//
// The journal's record is flushed after the last step and before COMMIT (sqldb.Tx.WriteNote). The
// first byte of a request leaves after Commit has returned (I1).
func (g *groupTx) Run() error {
	// The fence locks the row of the lease: no other owner can take it until this transaction ends
	// (I12).
	err := fence(g.Tx, g.Lease)
	if errors.Is(err, trade.ErrLeaseLost) {
		g.Result.LeaseLost, err = true, nil // settlements are stored nevertheless
	}
	if err != nil {
		return err
	}
	// On another server than the recorded one, or if the ledger went back, and while the job is paused, no
	// intent is stored. Settlements are.
	intends := len(g.Group.Intents) > 0
	if intends {
		g.Result.Refused = g.witness.mayNotSend()
	}
	if intends && g.Result.Refused == nil {
		err := g.SameServer()
		var other *sqldb.Error
		if errors.As(err, &other) && (other.Code == sqldb.CodeServer || other.Code == sqldb.CodeRolledBack) {
			g.Result.Refused, err = other, nil
		}
		if err != nil {
			return err
		}
	}
	if intends && !g.Result.LeaseLost {
		var rows []struct {
			State string
			Kin   int
		}
		query := `SELECT s.state, (SELECT COUNT(*) FROM job_kind k WHERE k.sends IN (SELECT o.sends FROM job_kind o WHERE o.job = s.job)) AS kin
			FROM job_status s WHERE s.job = ?`
		// The shared lock lasts until the transaction ends, so no intent is stored once a pause is.
		if err := g.All(&rows, g.S.D.SharedLock(query, "s"), g.Lease.Job); err != nil {
			return err
		}
		for _, row := range rows {
			g.Result.Paused, g.alone = trade.JobState(row.State) == trade.Paused, row.Kin == 1
		}
	}
	// Attempts are locked first, then entries in id order, so that no two groups deadlock.
	if err := g.Load(); err != nil {
		return err
	}
	// Settlements come before intents: a generation whose attempt was certainly not created is free
	// for the next attempt (I3).
	if err := g.Settle(); err != nil {
		return err
	}
	if !g.Result.LeaseLost {
		if _, err := applyUpdates(g.Tx, g.Entries, g.Records, g.Group.Updates, g.Now); err != nil {
			return err
		}
		// The attempt is written before its entry: the database lets an entry become sending only
		// if its open attempt exists.
		if err := g.claim(); err != nil {
			return err
		}
		if err := setBlocks(g.Tx, g.Group.Block, g.Group.Unblock, g.Now); err != nil {
			return err
		}
	}
	return g.Records.note()
}

// Load locks everything that the group touches: attempts first, which are those that it settles and all
// of the entries that it has intents for, then entries in id order.
func (g *groupTx) Load() error {
	ids := trade.Map(g.Group.Settle, func(s trade.Settlement) string { return s.Attempt.ID })
	intended := trade.Map(g.Group.Intents, func(in trade.Intent) int64 { return in.Entry.ID })
	g.Attempts = make(map[string]*attemptRow, len(ids)+len(intended))
	rows := make([]attemptRow, 0, len(ids)+len(intended))
	if len(ids)+len(intended) > 0 {
		query := `SELECT a.id, a.entry_id, a.generation, a.no, a.epoch, a.owner, a.outcome, a.counts, a.remote_id, a.finished_at
			FROM attempt a WHERE ` + g.S.D.Among("a.id") + ` OR ` + g.S.D.Among("a.entry_id") + ` ORDER BY a.id`
		if err := g.All(&rows, g.S.D.Locked(query, "a"), sqldb.ListOf(g.S.D, ids),
			sqldb.ListOf(g.S.D, intended)); err != nil {
			return err
		}
	}
	entryIDs := append(updateIDs(g.Group.Updates), intended...)
	for i := range rows {
		g.Attempts[rows[i].ID] = &rows[i]
		entryIDs = append(entryIDs, rows[i].EntryID)
	}
	var err error
	g.Entries, err = lockEntries(g.Tx, entryIDs)
	if err != nil {
		return err
	}
	g.Records, err = loadRecords(g.Tx, slices.Collect(maps.Values(g.Entries)), g.Now)
	return err
}

// claim makes intents durable. It leaves out an intent whose entry has changed, or whose generation
// has an attempt that may have created a record; this is not an error.
func (g *groupTx) claim() error {
	// Of the earlier attempts of entries claim must know the highest number, and the generations with one
	// that is open, unknown or created (I3). One that this group settles counts with its new outcome.
	type generation struct {
		entry int64
		no    int
	}
	last, spent := map[int64]int{}, map[generation]bool{}
	for _, a := range g.Attempts {
		last[a.EntryID] = max(last[a.EntryID], a.No)
		if o := trade.Outcome(a.Outcome.String); o == trade.OutcomeOpen || o == trade.OutcomeUnknown ||
			o == trade.OutcomeCreated {
			spent[generation{a.EntryID, a.Generation}] = true
		}
	}
	// an answer with the id of another row proves nothing, and the sender stops (F100)
	waits := g.Result.Paused || g.Result.Refused != nil || len(g.Result.Conflicts) > 0
	var taken sentByOthers
	if !waits {
		var err error
		taken, err = g.sentElsewhere()
		if err != nil {
			return err
		}
	}
	var attempts [][]any
	var sending []*narrowRow
	for _, in := range g.Group.Intents {
		e := g.Entries[in.Entry.ID]
		if have := g.Attempts[in.Attempt.ID]; have != nil {
			// The same call was stored before, and its answer was lost: the attempt is ours, and
			// open.
			g.Result.Claimed[in.Attempt.ID] = e != nil && e.State == string(trade.Sending) && !have.Outcome.Valid &&
				have.EntryID == e.ID && have.Epoch == g.Lease.Epoch
			continue
		}
		if taken.has(in.Entry) && !in.Entry.Ordered() {
			g.Result.Elsewhere[in.Attempt.ID] = true
			continue
		}
		if waits || e == nil || e.Job != g.Lease.Job || e.Version != in.Entry.Version ||
			spent[generation{e.ID, e.Generation}] {
			continue
		}
		switch began, err := e.move(0, (*trade.Entry).Begin); {
		case err != nil:
			return err
		case !began:
			continue
		}
		a := in.Attempt
		a.EntryID, a.Generation, a.No = e.ID, e.Generation, last[e.ID]+1
		a.Epoch, a.Outcome = g.Lease.Epoch, trade.OutcomeOpen
		if a.Owner == "" {
			a.Owner = g.Lease.Owner.Instance
		}
		if len(a.Payload) == 0 {
			a.Target, a.Payload, a.PayloadHash = in.Entry.Target, in.Entry.Payload, in.Entry.PayloadHash
		}
		row, err := attemptRowOf(a, g.Now, false)
		if err != nil {
			return err
		}
		g.Attempts[a.ID] = row
		g.Result.Claimed[a.ID] = true
		begun := journal.Attempt{ID: a.ID, Generation: a.Generation}
		if a.PayloadHash != e.PayloadHash {
			begun.Payload = a.PayloadHash
		}
		g.Records.touch(e, begun)
		g.Noting(g.Now).By = a.Owner
		g.Records.intend(e, a, in.Entry)
		attempts = append(attempts, row.Args())
		sending = append(sending, e)
	}
	maps.DeleteFunc(g.Result.Claimed, func(_ string, ok bool) bool { return !ok })
	if err := g.Records.Write(); err != nil {
		return err
	}
	// The attempts come first: the database lets an entry become sending only if its attempt
	// exists.
	if err := g.InsertRows("attempt", attemptColumns, attempts, ""); err != nil {
		return err
	}
	return writeMoved(g.Tx, sending, 0, g.Now)
}
