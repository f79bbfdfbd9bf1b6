package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

var rebuildAct = trade.AuditRecord{
	At: at, Who: "ana", From: "ana@srv", Act: "rebuild", Target: "ledger",
	Reason: "the disk was replaced",
}

// proven is what a rebuilt ledger must have in common with the original.
type proven struct {
	State      trade.State
	RemoteID   string
	Generation int
}

// provenOf returns the rows of all jobs that exist, or may exist, on the platform. What the
// original is sending is in doubt after a rebuilding.
func provenOf(t testing.TB, s *Store) map[string]proven {
	t.Helper()
	d := Diagnosis{}
	must.Do(t, s.diagnoseRows(t.Context(), &d))
	if d.Problem != "" {
		t.Errorf("lists have something else than the rows: %v", d.Args)
	}
	out := map[string]proven{}
	for _, e := range rowsOf(t, s, trade.RowQuery{}) {
		if e.State == trade.Sending {
			e.State = trade.InDoubt
		}
		if e.State == trade.Accepted || e.State == trade.InDoubt || e.State == trade.Dismissed {
			out[e.Job+" "+e.Key] = proven{e.State, e.RemoteID, e.Generation}
		}
	}
	return out
}

// wantProven compares what a ledger proves with what the original proved.
func wantProven(t testing.TB, s *Store, want map[string]proven) {
	t.Helper()
	if diff := cmp.Diff(want, provenOf(t, s)); diff != "" {
		t.Errorf("what the ledger proves (-want +got):\n%s", diff)
	}
}

// lastRecord returns the record with which a journal ends.
func lastRecord(dir string) (last journal.Record, err error) {
	_, err = journal.Read(dir, -1, func(r journal.Record, _ string) error {
		last = r
		return nil
	})
	return last, err
}

// live makes a random history of n steps: rows are found, sent and settled in every way, and people
// act. after is told of each step.
func (k *kept) live(seed uint64, n int, after func(step int)) {
	k.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var open []trade.Attempt
	found := 0
	for step := range n {
		lease := mustLease(k.t, k.s, "contracts")
		switch rng.IntN(6) {
		case 0, 1:
			for range 1 + rng.IntN(3) {
				found++
				mustRecord(k.t, k.s, lease, newEntry(fmt.Sprintf("%04d", found)))
			}
		case 2, 3, 4:
			g := trade.Group{At: at}
			for len(open) > 0 && rng.IntN(3) > 0 {
				a := open[0]
				open = open[1:]
				g.Settle = append(g.Settle,
					[]trade.Settlement{
						created(a, "remote-"+a.ID), created(a, "remote-"+a.ID), unknown(a),
						refused(a),
					}[rng.IntN(4)])
			}
			due := must.Get(k.s.Due(k.t.Context(), "contracts", at, 0, 1+rng.IntN(4)))(k.t)
			for _, e := range due {
				g.Intents = append(g.Intents, intentOf(e))
			}
			r := mustCommit(k.t, k.s, lease, g)
			for _, in := range g.Intents {
				if r.Claimed[in.Attempt.ID] {
					open = append(open, in.Attempt)
				}
			}
		case 5:
			// A person decides about a doubt.
			must.Get(k.s.Watch(k.t.Context(), "contracts", "boot", 0))(k.t)
			for _, e := range rowsOf(k.t, k.s, trade.RowQuery{States: []trade.State{trade.InDoubt}, Limit: 1}) {
				acts := []trade.Act{adoption(e, "adopted-"+e.Key), adoption(e, ""), dismissal(e), resending(e)}
				k.order(acts[rng.IntN(len(acts))])
			}
		}
		must.Do(k.t, k.s.ReleaseLease(k.t.Context(), lease))
		after(step)
	}
}

// F058, F066: the ledger is rolled back to 150 older copies of random histories, and deleted, also
// where the journal began again in the middle: each is noticed, and the rebuilt ledger has what the
// original proves.
func TestF058AnyOlderCopyIsNoticedAndRebuilt(t *testing.T) {
	t.Parallel()
	for seed := range uint64(7) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			k := keep(t, backends[0].open(t))
			copies, steps := t.TempDir(), 60
			var begins []int // steps at which the journal begins again
			if seed > 3 {
				steps, begins = 40, []int{15, 30}
			}
			k.live(seed, steps, func(step int) {
				if slices.Contains(begins, step) {
					k.beginAgain()
					if first := k.firstRecord(); first < 2 {
						t.Errorf("the journal still begins with record %d", first)
					}
				}
				must.Do(t, k.s.Backup(t.Context(), filepath.Join(copies, fmt.Sprint(step))))
			})
			want, resent := provenOf(t, k.s), generations(t, k.s)
			mustBeWell(t, k.s, k.o.Journal)
			dir := k.dir()
			k.close()
			whole := t.TempDir()
			must.Do(t, os.CopyFS(whole, os.DirFS(dir)))
			for step := -1; step < steps; step++ {
				near := slices.Contains(begins, step) || slices.Contains(begins, step+1)
				if step >= 0 && step%3 != int(seed)%3 && step < steps-10 && !near {
					continue
				}
				must.Do(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(whole)))
				removeLedger(t, k.o.DSN)
				if step >= 0 {
					copyFile(t, filepath.Join(copies, fmt.Sprint(step)), k.o.DSN)
				}
				k.noticedAndRebuilt(step, want, resent)
			}
		})
	}
}

func removeLedger(t testing.TB, path string) {
	t.Helper()
	must.Do(t, os.RemoveAll(path), os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm"))
}

// generations returns the rows that a person ordered to be sent again.
func generations(t testing.TB, s *Store) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, e := range rowsOf(t, s, trade.RowQuery{}) {
		out[e.Job+" "+e.Key] = e.Generation > 1
	}
	return out
}

func (k *kept) noticedAndRebuilt(step int, want map[string]proven, resent map[string]bool) {
	t := k.t
	t.Helper()
	err := k.try(sqldb.DefaultTuning)
	var e *sqldb.Error
	switch {
	case err == nil: // in step, or one group behind, which was settled as doubts
		defer k.close()
	case !errors.As(err, &e) || e.Code != sqldb.CodeRolledBack && e.Code != sqldb.CodeEmptied:
		t.Fatalf("step %d: %v", step, err)
	default:
		planned, err := Rebuild(t.Context(), k.o, nil, false, trade.AuditRecord{})
		if err != nil {
			t.Fatalf("step %d: planning: %v", step, err)
		}
		if k.try(sqldb.DefaultTuning) == nil {
			t.Fatalf("step %d: a plan changed the ledger", step)
		}
		done, err := Rebuild(t.Context(), k.o, nil, true, rebuildAct)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if diff := cmp.Diff(planned, done); diff != "" {
			t.Errorf("step %d: planned and done differ:\n%s", step, diff)
		}
		last := must.Get(lastRecord(k.dir()))(t)
		if last.Kind != journal.Tx || last.ActName != books.RebuildName || len(last.Sent) > 0 {
			t.Errorf("step %d: the journal ends with %s %q and %d records of the platform", step, last.Kind, last.ActName,
				len(last.Sent))
		}
		k.open()
		defer k.close()
	}
	if odd := must.Get(k.s.Unrecorded(t.Context()))(t); len(odd) > 0 {
		t.Errorf("step %d: rows and records contradict each other: %v", step, odd)
	}
	got := provenOf(t, k.s)
	for key, w := range want {
		g, ok := got[key]
		if w.State == trade.Accepted && w.RemoteID == "" {
			w.RemoteID = g.RemoteID
		}
		if !ok || g != w {
			t.Errorf("step %d: %s is %+v, want %+v", step, key, g, w)
		}
	}
	for key, g := range got {
		// What the original sends again by a person's order, or was refused after one, is in doubt:
		// rebuilding decides nothing that can double.
		if _, ok := want[key]; !ok && (g.State != trade.InDoubt || err != nil && !resent[key]) {
			t.Errorf("step %d: %s is %+v, and the original proves nothing of it", step, key, g)
		}
	}
	mustAddUp(t, k.s, "contracts")
	if due, err := k.s.Due(t.Context(), "contracts", at, 0, 1000); err != nil {
		t.Fatal(err)
	} else {
		for _, e := range due {
			if _, sent := want["contracts "+e.Key]; sent {
				t.Errorf("step %d: %s is due again", step, e.Key)
			}
		}
	}
}

func TestRebuildingIsAuditedAndRefusedBesideARun(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	k.close()
	removeLedger(t, k.o.DSN)
	plan := must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	if want := []RebuildChange{
		{Job: "contracts", To: trade.Accepted, Rows: 2},
		{Job: "contracts", To: trade.InDoubt, Rows: 1},
	}; !cmp.Equal(plan.Changes, want) || plan.Rows() != 3 {
		t.Errorf("plan %+v", plan)
	}
	k.open()
	audit, err := k.s.Audit(t.Context(), 0)
	if err != nil || len(audit) != 1 || audit[0].Reason != rebuildAct.Reason || !json.Valid([]byte(audit[0].Detail)) ||
		k.s.LedgerID() != plan.Ledger {
		t.Errorf("audit %+v, %v", audit, err)
	}
	mustLease(t, k.s, "contracts")
	var leased *trade.LeasedError
	if _, err := Rebuild(t.Context(), k.o, nil, true, rebuildAct); !errors.As(err, &leased) {
		t.Errorf("rebuilding beside a run: %v", err)
	}
	if _, err := NewJournal(t.Context(), k.o, nil, true, rebuildAct); !errors.As(err, &leased) {
		t.Errorf("a new journal beside a run: %v", err)
	}
}

// F058: the database was restored from a backup of PostgreSQL's own. Two hosts lose the ledger that
// they share: what only one of them knows must be back before the other sends.

// One bit of an id of the platform is flipped on the disk. SQLite reads the page as before, and what is
// sent next would name a record that does not exist. The id stands in the record and in its index, and
// in the attempt, under which nothing is sent.
func TestAnIDWithAFlippedBitIsNoticed(t *testing.T) {
	k := sqliteKept(t)
	k.sendAll("a", 20)
	want := provenOf(t, k.s)
	k.close()
	whole := must.Get(os.ReadFile(k.o.DSN))(t)
	look := sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: k.o.DSN, ReadOnly: true}
	noticed, places := 0, 0
	for at := 0; ; at++ {
		next := bytes.Index(whole[at:], []byte("remote-a7"))
		if next < 0 {
			break
		}
		at += next
		places++
		text := bytes.Clone(whole)
		text[at+3] ^= 1 << (places % 4)
		must.Do(t, os.WriteFile(k.o.DSN, text, 0o600))
		s := mustOpen(t, look)
		for _, f := range must.Get(s.Health(t.Context()))(t) {
			if f.Name == "quick_check" && !f.OK {
				noticed++
				if !strings.Contains(f.Hint.String(), "ids of the platform") {
					t.Errorf("%+v", f)
				}
				found := must.Get(s.Diagnose(t.Context(), k.o.Journal, false, 0))(t)
				if !slices.ContainsFunc(found, func(d Diagnosis) bool { return d.Problem == ProblemDamaged }) {
					t.Errorf("doctor says %+v", found)
				}
			}
		}
		must.Do(t, s.Close())
		if noticed == 2 {
			break
		}
	}
	if noticed != 2 {
		t.Fatalf("of %d places 2 are those of records, and %d were noticed", places, noticed)
	}
	plan := must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	if diff := cmp.Diff(want, provenOf(t, k.s)); diff != "" || plan.Damaged == "" {
		t.Errorf("rebuilt (-want +got):\n%s", diff)
	}
}

// F049: a file that cannot be read is kept, and the ledger is made anew from its journal.
func TestF049ADamagedLedgerIsRebuilt(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 4)
	want := provenOf(t, k.s)
	k.close()
	whole := must.Get(os.ReadFile(k.o.DSN))(t)
	for name, damage := range map[string]func(text []byte){
		"no database any more": func(text []byte) { copy(text, strings.Repeat("x", 4096)) },
		"a page overwritten":   func(text []byte) { copy(text[len(text)-4096*20:], strings.Repeat("\xee", 4096*4)) },
	} {
		text := bytes.Clone(whole)
		damage(text)
		removeLedger(t, k.o.DSN)
		must.Do(t, os.WriteFile(k.o.DSN, text, 0o600))
		plan, err := Rebuild(t.Context(), k.o, nil, false, rebuildAct)
		if err != nil || plan.Damaged != k.o.DSN || plan.Rows() != 4 {
			t.Fatalf("%s: plan %+v, %v", name, plan, err)
		}
		if plan, err = Rebuild(t.Context(), k.o, nil, true, rebuildAct); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// SQLite counts its transactions in the first page, also those that fail.
		if kept, err := os.ReadFile(plan.Damaged); err != nil || len(kept) != len(text) ||
			!bytes.Equal(kept[4096:], text[4096:]) {
			t.Errorf("%s: the damaged file was not kept: %v", name, err)
		}
		k.open()
		if diff := cmp.Diff(want, provenOf(t, k.s)); diff != "" {
			t.Errorf("%s: rebuilt (-want +got):\n%s", name, diff)
		}
		k.close()
	}
}
