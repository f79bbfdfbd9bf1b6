package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// groupTx is one Commit: everything that it reads is locked first, decided on in Go, and written in few statements.
type groupTx struct {
	*tx
	lease    trade.Lease
	group    trade.Group
	result   trade.GroupResult
	now      time.Time
	sums     tallyChange
	attempts map[string]*attemptRow
	entries  map[int64]*narrowRow
	alone    bool // no other job has entries of the kind that this one sends
}

func newGroupTx(t *tx, lease trade.Lease, group trade.Group) *groupTx {
	g := &groupTx{
		tx: t, lease: lease, group: group, now: group.At, sums: tallyChange{},
		result: trade.GroupResult{Claimed: map[string]bool{}, Settled: map[string]bool{}, Conflicts: map[string]string{}},
	}
	if g.now.IsZero() {
		g.now = time.Now()
	}
	return g
}

// checkPause looks, for a group that would begin to send, whether the job is paused: once a pause is stored, no intent is (the row is locked until then).
func (g *groupTx) checkPause() error {
	if len(g.group.Intents) == 0 || g.result.LeaseLost {
		return nil
	}
	var rows []struct {
		State string `db:"state"`
		Kin   int    `db:"kin"`
	}
	query := `SELECT s.state, (SELECT COUNT(*) FROM job_kind k WHERE k.sends IN (SELECT o.sends FROM job_kind o WHERE o.job = s.job)) AS kin
		FROM job_status s WHERE s.job = ?`
	if err := g.all(&rows, g.s.d.sharedLock(query, "s"), g.lease.Job); err != nil || len(rows) == 0 {
		return err
	}
	g.result.Paused, g.alone = trade.JobState(rows[0].State) == trade.Paused, rows[0].Kin == 1
	return nil
}

// Commit settles finished attempts, moves entries and makes intents durable, in one transaction and one flush. Intents, updates and blocks are fenced by
// the lease; settlements are not (I12): when the lease is lost they are stored all the same. What the same call stored before, as after
// trade.ErrUncertain, counts as stored now.
func (s *Store) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	if err := checkGroup(group); err != nil {
		return trade.GroupResult{}, err
	}
	if len(group.Intents) > 0 {
		s.marksFile() // before an intent is: one that is not found in the file had not left
	}
	var g *groupTx
	err := s.inTx(ctx, "storing a group", func(t *tx) error {
		g = newGroupTx(t, lease, group)
		if keyed := s.d.keyed; keyed != "" {
			if err := t.exec(keyed); err != nil {
				return err
			}
		}
		return g.run()
	})
	if err != nil {
		return trade.GroupResult{}, s.keepAnswers(group, g, err)
	}
	s.unmark(group.Settle, g.result.Conflicts, g.seq)
	return g.result, nil
}

// checkGroup refuses what no correct caller asks for, before anything is written.
func checkGroup(group trade.Group) error {
	for _, s := range group.Settle {
		switch {
		case s.Attempt.Outcome == trade.OutcomeOpen:
			return fmt.Errorf("storing a group: the settlement of attempt %s has no outcome", s.Attempt.ID)
		case s.Attempt.Outcome == trade.OutcomeCreated && s.Attempt.RemoteID == "":
			return fmt.Errorf("storing a group: attempt %s is settled as created without the platform's id; without one it is unknown", s.Attempt.ID)
		case s.Attempt.Outcome == trade.OutcomeUnknown && s.State != trade.InDoubt:
			return fmt.Errorf("storing a group: attempt %s is unknown, but its entry would not be in doubt", s.Attempt.ID)
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

func (g *groupTx) run() error {
	err := fence(g.tx, g.lease)
	if errors.Is(err, trade.ErrLeaseLost) {
		g.result.LeaseLost, err = true, nil
	}
	if err != nil {
		return err
	}
	if err := g.checkServer(); err != nil {
		return err
	}
	if err := g.checkPause(); err != nil {
		return err
	}
	if err := g.load(); err != nil {
		return err
	}
	if err := g.settle(); err != nil {
		return err
	}
	if !g.result.LeaseLost {
		changed := changedSince(g.entries, g.group.Updates)
		if _, err := applyUpdates(g.tx, g.entries, g.group.Updates, g.now, g.sums); err != nil {
			return err
		}
		if err := g.noteFacts(changed, g.now); err != nil {
			return err
		}
		if err := g.claim(); err != nil {
			return err
		}
		if err := setBlocks(g.tx, g.group.Block, g.group.Unblock, g.now); err != nil {
			return err
		}
	}
	return g.sums.apply(g.tx)
}

// load locks all that the group touches: attempts first, then entries in the order of their numbers.
func (g *groupTx) load() error {
	ids := make([]string, len(g.group.Settle))
	for i, s := range g.group.Settle {
		ids[i] = s.Attempt.ID
	}
	g.attempts = make(map[string]*attemptRow, len(ids)+len(g.group.Intents))
	if len(ids) > 0 {
		if err := g.loadAttempts("a.id", listOf(g.s.d, ids)); err != nil {
			return err
		}
	}
	entryIDs := updateIDs(g.group.Updates)
	for _, a := range g.attempts {
		entryIDs = append(entryIDs, a.EntryID)
	}
	for _, in := range g.group.Intents {
		entryIDs = append(entryIDs, in.Entry.ID)
	}
	var err error
	g.entries, err = lockEntries(g.tx, entryIDs)
	return err
}

func (g *groupTx) loadAttempts(column string, list any) error {
	query := `SELECT a.id, a.entry_id, a.generation, a.no, a.epoch, a.owner, a.outcome, a.counts, a.remote_id, a.finished_at
		FROM attempt a WHERE ` + g.s.d.among(column) + ` ORDER BY a.id`
	rows, err := gather(g.ctx, g.tx, func(a *attemptRow) []any {
		return []any{&a.ID, &a.EntryID, &a.Generation, &a.No, &a.Epoch, &a.Owner, &a.Outcome, &a.Counts, &a.RemoteID, &a.FinishedAt}
	}, g.Rebind(g.s.d.locked(query, "a")), list)
	if err != nil {
		return err
	}
	for i := range rows {
		if g.attempts[rows[i].ID] == nil { // one that is loaded is as this group has left it
			g.attempts[rows[i].ID] = &rows[i]
		}
	}
	return nil
}

// claim makes intents durable. One whose entry has moved, or whose generation has an attempt that may have created a record, is left out: not an error.
func (g *groupTx) claim() error {
	history, err := g.history()
	if err != nil {
		return err
	}
	waits := g.result.Paused || g.result.Stop != nil
	var taken sentByOthers
	if !waits {
		if taken, err = g.sentElsewhere(); err != nil {
			return err
		}
	}
	var attempts [][]any
	var began []int64
	for _, in := range g.group.Intents {
		e := g.entries[in.Entry.ID]
		if have := g.attempts[in.Attempt.ID]; have != nil {
			// The same call was stored before and its answer was lost: it is ours, and open.
			g.result.Claimed[in.Attempt.ID] = e != nil && e.State == string(trade.Sending) && !have.Outcome.Valid && have.EntryID == e.ID && have.Epoch == g.lease.Epoch
			continue
		}
		if taken.has(in.Entry) && !in.Entry.Ordered() {
			if g.result.Elsewhere == nil {
				g.result.Elsewhere = map[string]bool{}
			}
			g.result.Elsewhere[in.Attempt.ID] = true
			continue
		}
		if waits || e == nil || e.Job != g.lease.Job || e.Version != in.Entry.Version || e.State != string(trade.Pending) || history[e.ID].spent[e.Generation] {
			continue
		}
		a := in.Attempt
		a.EntryID, a.Generation, a.No, a.Epoch, a.Outcome = e.ID, e.Generation, history[e.ID].last+1, g.lease.Epoch, trade.OutcomeOpen
		if a.Owner == "" {
			a.Owner = g.lease.Owner.Instance
		}
		if len(a.Payload) == 0 {
			a.Target, a.Payload, a.PayloadHash, a.Content = in.Entry.Target, in.Entry.Payload, in.Entry.PayloadHash, in.Entry.Content
		}
		row, err := attemptRowOf(a, g.now, false)
		if err != nil {
			return err
		}
		if err := g.sums.move(e, string(trade.Sending)); err != nil {
			return err
		}
		e.State, e.Version = string(trade.Sending), e.Version+1
		g.attempts[a.ID] = row
		g.result.Claimed[a.ID] = true
		g.noteIntent(e, a, in.Entry.SourceHash)
		attempts = append(attempts, row.args())
		began = append(began, e.ID)
	}
	for id, ok := range g.result.Claimed {
		if !ok {
			delete(g.result.Claimed, id)
		}
	}
	// The attempts come first: the database lets an entry be sent only when its attempt is there.
	if err := g.insertRows("attempt", attemptColumns, attempts, ""); err != nil {
		return err
	}
	return g.begin(began)
}

// begin moves entries from pending to sending.
func (g *groupTx) begin(ids []int64) error {
	for chunk := range slices.Chunk(ids, arrayRows) {
		n, err := g.changed(`UPDATE entry SET state = 'sending', cause = '', error = NULL, next_attempt_at = NULL, updated_at = ?, version = version + 1 WHERE `+g.s.d.among("id"),
			g.now.UnixMilli(), listOf(g.s.d, chunk))
		if err = allWritten("entry", n, len(chunk), err); err != nil {
			return err
		}
	}
	return nil
}

// attemptsOf is what a claim must know of an entry's earlier attempts.
type attemptsOf struct {
	last  int          // the highest number
	spent map[int]bool // generations with an attempt that is open, unknown or created (I3)
}

// history reads the earlier attempts of the entries that the group's intents are of. What a settlement of this group ended counts as ended.
func (g *groupTx) history() (map[int64]attemptsOf, error) {
	out := make(map[int64]attemptsOf, len(g.group.Intents))
	if len(g.group.Intents) == 0 {
		return out, nil
	}
	ids := make([]int64, len(g.group.Intents))
	for i, in := range g.group.Intents {
		ids[i] = in.Entry.ID
	}
	if err := g.loadAttempts("a.entry_id", listOf(g.s.d, ids)); err != nil {
		return nil, err
	}
	for _, a := range g.attempts {
		h := out[a.EntryID]
		if h.spent == nil {
			h.spent = map[int]bool{}
		}
		h.last = max(h.last, a.No)
		if o := trade.Outcome(a.Outcome.String); o == trade.OutcomeOpen || o == trade.OutcomeUnknown || o == trade.OutcomeCreated {
			h.spent[a.Generation] = true
		}
		out[a.EntryID] = h
	}
	return out, nil
}

// checkServer keeps a group from beginning to send on another server. What was on the wire is settled all the same.
func (g *groupTx) checkServer() error {
	if len(g.group.Intents) == 0 {
		return nil
	}
	err := g.sameServer()
	var other *Error
	if errors.As(err, &other) && other.Code == CodeServer {
		g.result.Stop = &trade.Stop{Code: "ledger", Text: other.Error(), All: true}
		return nil
	}
	return err
}
