// What is known to exist of a row on which a person acts.

package acts

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/trade"
)

// Counterpart is what a held row was compared with, as it is now.
type Counterpart struct {
	Job, Key string
	Entry    trade.Entry // zero if the ledger has no such row any more
	ID       string      // of its record on the platform; "" = unknown
	SentAt   time.Time   // when its last request left that made a record, or may have; zero: none did
	Rows     int         // rows of the ERP with the key, if the row's own key is double; else 0
}

// mark returns what identifies a counterpart in the mark of a plan.
func (c *Counterpart) mark() []string {
	if c == nil {
		return nil
	}
	return []string{c.Job, c.Key, c.ID}
}

// sent are the states of rows that were sent, or may have been.
var sent = []trade.State{
	trade.Accepted, trade.InDoubt, trade.Held, trade.Sending, trade.Rejected, trade.Dismissed,
}

// Counterpart returns what a held row was compared with; nil if it is not held, or if nothing is
// known. For a row that the platform says exists, it is the row that was sent with the same content.
func (a *Acts) Counterpart(ctx context.Context, e trade.Entry) (*Counterpart, error) {
	if e.State != trade.Held {
		return nil, nil //nolint:nilnil // it was compared with nothing
	}
	var named trade.Counterpart
	switch {
	case e.Error != nil && e.Error.Counterpart != nil:
		named = *e.Error.Counterpart
	case e.Cause == trade.CauseExists:
		prints := trade.PrintsOf(e.Sends, e.SourceHash, e.Target, e.Payload)
		found, _, err := a.Ledger.Records(ctx, trade.RecordQuery{Kind: e.Sends, Prints: []trade.Prints{prints}})
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if f.Row.ID != e.ID && identity.Same(&f, prints) {
				named = trade.Counterpart{Job: f.Row.Job, Key: f.Row.Key, RemoteID: f.RemoteID}
			}
		}
	}
	if named.Key == "" {
		return nil, nil //nolint:nilnil // nothing is known
	}
	out := &Counterpart{Job: named.Job, Key: named.Key, ID: named.RemoteID, Rows: named.Rows}
	if out.Rows > 0 { // its own key
		return out, nil
	}
	entry, err := a.Ledger.Entry(ctx, named.Job, named.Key)
	if errors.Is(err, trade.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	attempts, err := a.Ledger.Attempts(ctx, entry.ID)
	if err != nil {
		return nil, err
	}
	out.Entry = entry
	if entry.RemoteID != "" {
		out.ID = entry.RemoteID
	}
	out.SentAt = SentAt(attempts)
	return out, nil
}

// Under is what would go under a record once its row is acknowledged.
type Under struct {
	Rows     int    // that wait for it; at most underMost
	Producer string // of the record as it was sent: code and name where they are known, else the id
}

const underMost = 1000

// codeOf returns the code of a table that has an id, or had it, with its name; "" if none does.
func (a *Acts) codeOf(ctx context.Context, kind, id string) (code string, err error) {
	refs, _, err := a.Ledger.References(ctx)
	if err != nil {
		return "", err
	}
	former, err := a.Ledger.FormerReferences(ctx)
	for _, c := range slices.Sorted(maps.Keys(refs[kind])) {
		if now, bad := trade.ParseID(refs[kind][c]); bad == nil && now == id || slices.Contains(former[kind][c], id) {
			code = c
		}
	}
	if err != nil || code == "" {
		return "", err
	}
	labels, err := a.Ledger.Labelled(ctx, []trade.Reference{{Kind: kind, Code: code}})
	for _, l := range labels {
		code += " " + l.Label
	}
	return code, err
}

// SentAt returns when the last request left that made a record, or may have; zero if none did.
func SentAt(attempts []trade.Attempt) (at time.Time) {
	for _, t := range attempts {
		if t.Outcome == trade.OutcomeCreated || t.Undecided() {
			at = t.StartedAt
		}
	}
	return at
}
