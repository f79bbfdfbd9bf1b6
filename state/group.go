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
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// groupTx is one Commit: it locks everything that it reads first, decides in Go, and writes with
// few statements.
type groupTx struct {
	*sqldb.Tx
	Lease   trade.Lease
	Group   trade.Group
	Result  trade.GroupResult
	Now     time.Time
	Former  map[string]string // the outcomes of settled attempts whose places others have taken
	Entries map[int64]*trade.Entry
	Records *recordSet
	witness *watch
	alone   bool // no other job has entries of the kind that this one sends
	assumed bool // its rows are as the sender has them, and are not read
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
	// what no correct caller requests is refused before anything is written
	for _, s := range group.Settle {
		switch {
		case s.Attempt.Outcome == trade.OutcomeOpen:
			return trade.GroupResult{}, fmt.Errorf("storing a group: the settlement of attempt %s has no outcome", s.Attempt.ID)
		case s.Attempt.Outcome == trade.OutcomeCreated && s.Attempt.RemoteID == "":
			return trade.GroupResult{}, fmt.Errorf(
				"storing a group: attempt %s is settled as created without the platform's id; without one it is unknown", s.Attempt.ID)
		case s.Attempt.Outcome == trade.OutcomeUnknown && s.State != trade.InDoubt:
			return trade.GroupResult{}, fmt.Errorf("storing a group: attempt %s is unknown, but its entry would not be in doubt",
				s.Attempt.ID)
		case s.State == trade.Accepted && s.Attempt.Outcome != trade.OutcomeCreated:
			return trade.GroupResult{}, fmt.Errorf("storing a group: attempt %s would be accepted although it created nothing", s.Attempt.ID)
		case s.State == trade.Sending || !trade.CanMove(trade.Sending, s.State):
			return trade.GroupResult{}, fmt.Errorf("storing a group: an attempt cannot end with its entry in state %q", s.State)
		}
	}
	for _, in := range group.Intents {
		if in.Attempt.ID == "" || len(in.Entry.Payload) == 0 {
			return trade.GroupResult{}, errors.New("storing a group: an intent needs an id and a payload")
		}
	}
	if len(group.Intents) > 0 && s.witness != nil {
		s.witness.writer.MindClock() // which may wait: here nobody waits for this group yet
	}
	var g *groupTx
	assumed := group.Simple()
	store := func(t *sqldb.Tx) error {
		g = newGroupTx(t, lease, group)
		g.witness, g.assumed = s.witness, assumed
		if keyed := s.db.D.Keyed; keyed != "" {
			if err := t.Script(keyed); err != nil {
				return err
			}
		}
		return g.Run()
	}
	err := s.db.InHotTx(ctx, "storing a group", store)
	var missed *sqldb.MissedError
	if assumed && errors.As(err, &missed) { // a row is not as the sender has it: all are read
		assumed = false
		err = s.db.InHotTx(ctx, "storing a group", store)
	}
	if err != nil {
		return trade.GroupResult{}, s.journalAnswers(group, g, err)
	}
	if len(g.Result.Claimed) > 0 {
		if err := s.witness.conflict(); err != nil { // another copy of the ledger lives: nothing leaves
			return trade.GroupResult{}, phrase.Errorf("%w (%w)", err, trade.ErrUncertain) // the intents are stored
		}
	}
	return g.Result, nil
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
	// Sendings are locked first, then entries in id order, so that no two groups deadlock.
	load := g.Load
	if g.assumed {
		load = g.assume
	}
	if err := load(); err != nil {
		return err
	}
	// Settlements come before intents, which see what they have decided (I3).
	if err := g.Settle(); err != nil {
		return err
	}
	if !g.Result.LeaseLost {
		if _, err := applyUpdates(g.Tx, g.Entries, g.Records, g.Group.Updates, g.Now); err != nil {
			return err
		}
		// The sending is written before its entry: the database lets an entry become sending only
		// if its open attempt exists.
		if err := g.claim(); err != nil {
			return err
		}
		for _, b := range g.Group.Block { // if it names a record twice, the last one counts
			if err := g.Tx.Do(`INSERT INTO block (kind, id, message, first_at, next_at, tries) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE
			SET message = excluded.message, first_at = excluded.first_at, next_at = excluded.next_at, tries = excluded.tries`,
				b.Kind, b.ID, b.Message, sqldb.AtOr(b.FirstAt, g.Now), sqldb.Millis(b.NextAt), b.Tries); err != nil {
				return err
			}
		}
		for _, b := range g.Group.Unblock {
			if err := g.Tx.Do(`DELETE FROM block WHERE kind = ? AND id = ?`, b.Kind, b.ID); err != nil {
				return err
			}
		}
	}
	g.Records.note()
	return nil
}

// assume takes the rows of the group as the sender has them. A statement that does not find one so
// fails with [sqldb.MissedError], and the group is stored anew with what the ledger has. On PostgreSQL they
// are locked in the order of Load.
func (g *groupTx) assume() error {
	g.Entries, g.Records = map[int64]*trade.Entry{}, newRecords(g.Tx, g.Now)
	g.Records.assumed = true
	for _, in := range g.Group.Intents {
		g.Entries[in.Entry.ID] = &in.Entry
	}
	for _, st := range g.Group.Settle {
		e := &st.Entry
		moveEntry(e, 0, g.Now, (*trade.Entry).Begin)
		g.Entries[e.ID] = e
		have := g.Records.upsert(e, e.Generation, trade.Maybe, st.Entry)
		have.ID, have.SentAt, have.Version = st.RecordID, sqldb.AtOr(st.Attempt.StartedAt, g.Now), 1
		have.attemptRow = newAttempt(e, st.Attempt, st.Entry)
		have.stored = have.sentRow
		g.Records.byID[have.ID], g.Records.byAttempt[have.Attempt] = have, have
	}
	clear(g.Records.changed)
	ids := slices.Collect(maps.Keys(g.Entries))
	if err := lockSendings(g.Tx, ids); err != nil || g.S.D.Lock == "" {
		return err
	}
	query := g.S.D.Locked(`SELECT id FROM entry WHERE `+g.S.D.Among("id")+` ORDER BY id`, "entry")
	return g.All(&[]int64{}, query, sqldb.ListOf(g.S.D, ids))
}

// Load locks everything that the group touches: first the sendings whose attempts it settles, and all
// of the entries that it has intents for, then entries in id order.
func (g *groupTx) Load() error {
	ids := trade.Map(g.Group.Settle, func(s trade.Settlement) string { return s.Attempt.ID })
	intended := trade.Map(g.Group.Intents, func(in trade.Intent) int64 { return in.Entry.ID })
	entryIDs := append(updateIDs(g.Group.Updates), intended...)
	if len(ids)+len(intended) > 0 {
		var sent []struct {
			Origin  int64
			Attempt string
		}
		query := `SELECT s.origin, s.attempt FROM sent s WHERE s.id ` + amongFound(g.S.D,
			`SELECT id FROM sent WHERE attempt <> '' AND `+g.S.D.Among("attempt"),
			`SELECT id FROM sent WHERE `+g.S.D.Among("origin")) + ` ORDER BY s.id`
		if err := g.All(&sent, g.S.D.Locked(query, "s"), sqldb.ListOf(g.S.D, ids),
			sqldb.ListOf(g.S.D, intended)); err != nil {
			return err
		}
		found := map[string]bool{}
		for _, s := range sent {
			found[s.Attempt] = true
			entryIDs = append(entryIDs, s.Origin)
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return found[id] })
	}
	if len(ids) > 0 {
		var former []attemptRow
		if err := g.All(&former, `SELECT attempt, outcome FROM former WHERE `+g.S.D.Among("attempt"),
			sqldb.ListOf(g.S.D, ids)); err != nil {
			return err
		}
		g.Former = map[string]string{}
		for _, a := range former {
			g.Former[a.Attempt] = a.Outcome
		}
	}
	var err error
	g.Entries, err = lockEntries(g.Tx, entryIDs)
	if err != nil {
		return err
	}
	g.Records, err = loadRecords(g.Tx, slices.Collect(maps.Values(g.Entries)), g.Now)
	return err
}

// claimable are the columns of an entry that must be as the intent has them.
var claimable = []string{"version", "state", "generation", "job", "payload_hash"}

// claim makes intents durable. It leaves out an intent whose entry has changed, or whose generation
// has an attempt that may have created a record; this is not an error.
func (g *groupTx) claim() error {
	// The highest number of an attempt of each entry.
	last := map[int64]int{}
	for _, have := range g.Records.origins {
		last[have.Origin] = max(last[have.Origin], have.No)
	}
	// an answer with the id of another row proves nothing, and the sender stops (F100)
	waits := g.Result.Paused || g.Result.Refused != nil || len(g.Result.Conflicts) > 0
	if waits && g.assumed { // what an earlier try has stored is found by reading
		return sqldb.AllWritten("sent", 0, len(g.Group.Intents), nil)
	}
	var taken sentByOthers
	if !waits {
		var err error
		taken, err = g.sentElsewhere()
		if err != nil {
			return err
		}
	}
	var sending []*trade.Entry
	for _, in := range g.Group.Intents {
		e := g.Entries[in.Entry.ID]
		if have := g.Records.byAttempt[in.Attempt.ID]; have != nil {
			// The same call was stored before, and its answer was lost: the attempt is ours, and
			// open.
			g.Result.Claimed[in.Attempt.ID] = e != nil && e.State == trade.Sending && have.isOpen() &&
				have.Origin == e.ID && have.Epoch == g.Lease.Epoch
			continue
		}
		if taken.has(in.Entry) && !in.Entry.SendOrdered() {
			g.Result.Elsewhere[in.Attempt.ID] = true
			continue
		}
		if waits || e == nil || e.Job != g.Lease.Job || e.Version != in.Entry.Version ||
			e.PayloadHash != in.Entry.PayloadHash {
			continue
		}
		// I3: a generation goes again only if none of its attempts has created anything, or may have. What
		// this group has settled goes again with the next one, because the journal has one image of it.
		have := g.Records.ofGeneration(e, e.Generation)
		if have != nil && (!have.Free() || have.noted || g.Records.changed[have]) {
			continue
		}
		if !moveEntry(e, 0, g.Now, (*trade.Entry).Begin) {
			continue
		}
		a := in.Attempt
		a.No, a.Epoch = last[e.ID]+1, g.Lease.Epoch
		if a.Owner == "" {
			a.Owner = g.Lease.Owner.Instance
		}
		g.Result.Claimed[a.ID] = true
		g.Records.touch(e)
		g.Records.intend(e, a, in.Entry)
		sending = append(sending, e)
	}
	maps.DeleteFunc(g.Result.Claimed, func(_ string, ok bool) bool { return !ok })
	if err := g.Records.Write(); err != nil {
		return err
	}
	g.Result.Sendings = make(map[string]int64, len(g.Result.Claimed))
	for id := range g.Result.Claimed {
		g.Result.Sendings[id] = g.Records.byAttempt[id].ID
	}
	return g.ChangeRows("entry", stateColumns, claimable, trade.Map(sending, func(e *trade.Entry) []any {
		was := []any{e.Version - 1, string(trade.Pending), e.Generation, e.Job, e.PayloadHash}
		return append(movedValues(e, stateColumns), was...)
	}))
}
