package state

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// addToJournal changes the end of a journal's last segment: its last lines are replaced by bytes.
func (k *kept) addToJournal(lines int, end []byte) {
	k.t.Helper()
	names := must.Get(filepath.Glob(filepath.Join(k.dir(), "*.journal")))(k.t)
	path := slices.Max(names)
	all := bytes.SplitAfter(must.Get(os.ReadFile(path))(k.t), []byte{'\n'})
	all = all[:len(all)-1]
	must.Do(k.t, os.WriteFile(path, slices.Concat(bytes.Join(all[:len(all)-lines], nil), end), 0o600))
}

// reported checks that opening, and what `check` and `doctor` ask, refuse the ledger.
func (k *kept) reported(code string, words ...string) {
	k.t.Helper()
	wantCode(k.t, k.try(sqldb.DefaultTuning), code)
	look := k.o
	look.ReadOnly = true
	s := mustOpen(k.t, look)
	_, err := s.JournalReport(k.t.Context(), k.o.Journal)
	text := wantCode(k.t, err, code)
	for _, word := range words {
		if !strings.Contains(text, word) {
			k.t.Errorf("check: %s, without %q", text, word)
		}
	}
	all := must.Get(s.Diagnose(k.t.Context(), k.o.Journal, false, 0))(k.t)
	if i := slices.IndexFunc(all, func(d Diagnosis) bool { return d.Check == "journal" }); all[i].OK {
		k.t.Error("doctor finds nothing")
	}
}

// braked checks that each of the jobs is paused by the brake, once the journal can be used again.
func (k *kept) braked(names ...string) {
	k.t.Helper()
	k.open()
	for _, job := range names {
		status := must.Get(k.s.JobStatus(k.t.Context(), job))(k.t)
		if status.State != trade.Paused || status.Stop.Code != "brake_new_journal" ||
			status.Stop.Brake.Until.IsZero() ||
			!strings.Contains(status.Stop.Text(), "the end of the journal was damaged") {
			k.t.Errorf("job %s: %+v", job, status)
		}
	}
	k.close()
}

// F056, F058: the end of the journal is damaged, and the ledger is an older copy: nobody knows what
// was sent after the last record that can be read.
func TestADamagedEndOfTheJournalBesideAnOlderLedger(t *testing.T) {
	t.Parallel()
	for name, end := range map[string][]byte{
		"noise":                      bytes.Repeat([]byte{7, 0xfe, 'a', 200}, 375),
		"what a torn line may leave": []byte("70b2"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, backends[0].open(t))
			k.send("a", 2)
			k.close()
			old := filepath.Join(t.TempDir(), "old.db")
			copyFile(t, k.o.DSN, old)
			k.open()
			k.send("b", 2)
			k.send("c", 3)
			k.close()
			removeLedger(t, k.o.DSN)
			copyFile(t, old, k.o.DSN)
			k.addToJournal(3, end)
			k.reported(sqldb.CodeRolledBack)

			plan := must.Get(Rebuild(t.Context(), k.o, []string{"new"}, false, rebuildAct))(t)
			want := []string{"contracts", "new"}
			if plan.Lost != int64(len(end)) || !cmp.Equal(plan.Braked, want) || plan.Until.IsZero() ||
				plan.Rows() == 0 {
				t.Errorf("plan: %+v", plan)
			}
			k.reported(sqldb.CodeRolledBack) // it has changed nothing
			done := must.Get(Rebuild(t.Context(), k.o, []string{"new"}, true, rebuildAct))(t)
			if diff := cmp.Diff(plan, done); diff != "" {
				t.Error(diff)
			}
			k.braked(want...)
			// the journal has the pauses: they come back with it
			removeLedger(t, k.o.DSN)
			again := must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
			if again.Lost != 0 || !cmp.Equal(again.Paused, want) {
				t.Errorf("once more: %+v", again)
			}
			k.braked(want...)
		})
	}
}

// The same while the ledger has all that can be read: what one interrupted write has left is cut off
// in silence; other bytes were perhaps records.
func TestADamagedEndOfTheJournalBesideALedgerInStep(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	k.sendAll("a", 2)
	must.Do(t, k.s.SetJobStatus(t.Context(), trade.JobStatus{
		Job: "contracts", State: trade.Paused, Since: at, Stop: &trade.Stop{Code: "person", Why: trade.Say("Ana")},
	}))
	k.close()
	k.addToJournal(0, []byte(`70b2 {"seq":`)[:4])
	k.open()
	k.close()
	k.addToJournal(0, bytes.Repeat([]byte{7, 0xfe, 'a', 200}, 375))
	k.reported(sqldb.CodeJournalEnd, "1500 bytes", k.dir())
	done := must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	if done.Lost != 1500 || done.Rows() != 0 {
		t.Errorf("done: %+v", done)
	}
	kept := must.Get(filepath.Glob(filepath.Join(k.dir(), "*.damaged-*")))(t)
	if len(kept) != 1 {
		t.Errorf("kept: %v", kept)
	}
	k.braked("contracts")
	k.open()
	if was := must.Get(k.s.JobStatus(t.Context(), "contracts"))(t).Stop.Brake.Paused; was == nil || was.Stop.Text() != "Ana" {
		t.Errorf("the person's pause: %+v", was)
	}
	must.Do(t, k.sendTo(production)) // it is written again
	k.close()
	k.open()
	k.close()
}

// A process that dies after it has paused the jobs has cut nothing off, and the rebuild goes on.
func TestARebuildThatDiesBesideADamagedEnd(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		k := keep(t, backends[0].open(t))
		k.send("a", 2)
		k.close()
		k.addToJournal(0, bytes.Repeat([]byte{7, 0xfe, 'a', 200}, 375))
		b := &breaker{closes: true}
		b.arm(at, false)
		_, err := rebuild(t.Context(), k.o, b.tuning(), nil, true, rebuildAct)
		hit := b.disarm()
		if hit == "" {
			must.Do(t, err)
			t.Logf("%d calls", at-1)
			return
		}
		must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
		k.braked("contracts")
		if t.Failed() {
			t.Fatalf("call %d: %s: %v", at, hit, err)
		}
	}
}
