package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// A group that the sender tells its rows with is stored as one whose rows are read: the same rows,
// sendings, results and records of the journal. What happens to rows meanwhile counts in both.
func TestAGroupIsStoredTheSameWithItsRowsUnread(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		told, read := keep(t, b.open(t)), keep(t, b.open(t))
		sides := []*kept{told, read}
		var leases []trade.Lease
		for _, k := range sides {
			leases = append(leases, mustLease(t, k.s, "contracts"))
		}
		n := 0
		var flying [2][]trade.Settlement
		rapid.Check(t, func(r *rapid.T) {
			var intents [2][]trade.Intent
			var keys []string
			for range rapid.IntRange(0, 4).Draw(r, "new") {
				n++
				keys = append(keys, fmt.Sprint(n))
			}
			act := rapid.IntRange(0, 5).Draw(r, "meanwhile")
			outcomes := rapid.SliceOfN(rapid.IntRange(0, 4), len(flying[0]), len(flying[0])).Draw(r, "outcomes")
			ids := make([]string, len(keys))
			for i := range ids {
				ids[i] = fmt.Sprintf("%08d-0000-7000-8000-%012d", n, i)
			}
			results := make([]trade.GroupResult, 2)
			for side, k := range sides {
				var entries []trade.Entry
				for _, key := range keys {
					entries = append(entries, newEntry(key))
				}
				for i, e := range mustRecord(t, k.s, leases[side], entries...) {
					in := intentOf(e)
					in.Attempt.ID = ids[i]
					intents[side] = append(intents[side], in)
				}
				g := trade.Group{At: at, Intents: intents[side]}
				for i, st := range flying[side] {
					out := []func() trade.Settlement{
						func() trade.Settlement { return created(st.Attempt, "remote-"+st.Attempt.ID) },
						func() trade.Settlement { return created(st.Attempt, "remote-of-all") },
						func() trade.Settlement { return unknown(st.Attempt) },
						func() trade.Settlement { return refused(st.Attempt) },
						func() trade.Settlement {
							s := refused(st.Attempt)
							s.State, s.Cause = trade.Held, trade.CauseExists
							return s
						},
					}[outcomes[i]]()
					if k == told {
						out.Entry, out.RecordID = st.Entry, st.RecordID
					}
					g.Settle = append(g.Settle, out)
				}
				switch { // between the sender's look at its rows and the group
				case act == 0 && len(flying[side]) > 0:
					mustSettle(t, k.s, leases[side], unknown(flying[side][0].Attempt)) // as a recovery does
				case act == 1 && len(intents[side]) > 0:
					e := intents[side][0].Entry
					e.Dismiss()
					must.Get(k.s.Act(t.Context(), []trade.Act{{
						Update: &trade.Update{From: trade.Pending, Entry: e},
						Audit:  trade.AuditRecord{At: at, Who: "w", Act: "dismiss", Target: "t", Reason: "r"},
					}}))(t)
				}
				results[side] = mustCommit(t, k.s, leases[side], g)
				if act == 2 { // the answer to the commit was lost, and the call is repeated
					results[side] = mustCommit(t, k.s, leases[side], g)
				}
			}
			told, read := results[0], results[1]
			// the numbers that PostgreSQL gave in a transaction that was not stored are lost
			told.Sendings, read.Sendings = nil, nil
			if diff := cmp.Diff(read, told); diff != "" {
				t.Fatalf("results (-rows read +rows told):\n%s", diff)
			}
			for side := range sides {
				flying[side] = nil
				for _, in := range intents[side] {
					if results[side].Claimed[in.Attempt.ID] {
						flying[side] = append(flying[side], trade.Settlement{
							Attempt: in.Attempt, Entry: in.Entry, RecordID: results[side].Sendings[in.Attempt.ID],
						})
					}
				}
			}
		})
		for _, table := range []string{"entry", "sent", "former", "exchange"} {
			if diff := cmp.Diff(dumpOf(t, read.s, table), dumpOf(t, told.s, table)); diff != "" {
				t.Errorf("%s (-rows read +rows told):\n%s", table, diff)
			}
		}
		if diff := cmp.Diff(recordsIn(t, read), recordsIn(t, told)); diff != "" {
			t.Errorf("journal (-rows read +rows told):\n%s", diff)
		}
	})
}

// dumpOf returns the rows of a table as text.
func dumpOf(t *testing.T, s *Store, table string) (out []string) {
	t.Helper()
	rows := must.Get(s.db.Read.Queryx(`SELECT * FROM ` + table + ` ORDER BY 1`))(t)
	defer func() { must.Do(t, rows.Close()) }()
	for rows.Next() {
		row := map[string]any{}
		must.Do(t, rows.MapScan(row))
		for _, column := range []string{
			"id", "record_id", "owner", "first_seen_at", "resend_audit_id", "decided_by", "updated_at",
		} {
			delete(row, column)
		}
		if row["outcome"] == "none" { // a person's act is at the time of the computer
			delete(row, "sent_at")
		}
		out = append(out, fmt.Sprintf("%s", row))
	}
	return out
}

// recordsIn returns the records of a journal, without what two ledgers cannot share.
func recordsIn(t *testing.T, k *kept) (out []journal.Record) {
	t.Helper()
	must.Get(journal.Read(k.dir(), -1, func(r journal.Record, _ string) error {
		if r.Kind == journal.Tx && !r.Quiet() {
			r.Seq, r.Prev, r.At, r.Audit, r.Void, r.Term = 0, "", time.Time{}, nil, nil, nil
			for i := range r.Sent {
				if r.ActName != "" {
					r.Sent[i].SentAt = 0
				}
			}
			out = append(out, r)
		}
		return nil
	}))(t)
	return out
}
