package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const day = 24 * time.Hour

// later is a time at which everything that the tests make is older than a year.
var later = at.Add(400 * day)

var keepAll = Retention{
	Bodies: 180 * day, Runs: 400 * day, IdleRuns: 30 * day, Lookups: 300 * day,
	Audit: 5 * 365 * day,
}

var byRetention = trade.AuditRecord{Who: "safrasync", From: "test", Target: "ledger", Reason: "the schedule"}

func mustRetain(t testing.TB, s *Store, keep Retention, now time.Time) RetentionPlan {
	t.Helper()
	return must.Get(s.Retain(t.Context(), keep, now, byRetention))(t)
}

func of(p RetentionPlan, kind string) Retained {
	for _, k := range p {
		if k.Kind == kind {
			return k
		}
	}
	return Retained{}
}

var decimals = cmp.Comparer(func(a, b trade.Decimal) bool { return a.Equal(b) })

// everywhere searches all that a ledger keeps of its rows.
func everywhere(t testing.TB, s *Store, text string) (where []string) {
	t.Helper()
	for _, table := range []string{"entry", "sent", "former", "exchange", "audit", "run"} {
		rows := must.Get(s.db.Read.Queryx(`SELECT * FROM ` + table))(t)
		for rows.Next() {
			row := map[string]any{}
			must.Do(t, rows.MapScan(row))
			for column, value := range row {
				if strings.Contains(fmt.Sprintf("%s", value), text) {
					where = append(where, table+"."+column)
				}
			}
		}
		must.Do(t, rows.Err(), rows.Close())
	}
	return where
}

// full is an entry with the secret in everything that it may hold.
func full(key, secret string, state trade.State) trade.Entry {
	e := newEntry(key)
	e.State = state
	e.Values = trade.Values{"preco": {Kind: 'n', Text: "120.50"}, "nome": {Kind: 't', Text: secret}, "obs": {}}
	e.Shown = trade.NewShown(key, []trade.ShownText{{Label: "produtor", Text: secret}})
	e.Facts = trade.Facts{Product: secret, Producer: secret, Branch: secret}
	e.Payload = json.RawMessage(fmt.Sprintf(`{"key":%q,"name":%q}`, key, secret))
	e.PayloadHash = trade.PayloadHash("", e.Payload)
	e.Warnings = []trade.Problem{{
		Field: "price", Rule: trade.RulePositive, Column: "nome", Value: secret,
		Severity: trade.Warning,
	}}
	if state == trade.Invalid {
		e.Payload, e.PayloadHash = nil, ""
		e.Error = &trade.EntryError{
			Kind:   trade.ValidationError,
			Fields: []trade.Problem{{Field: "price", Rule: trade.RulePositive, Value: secret}},
		}
	}
	return e
}

// withAnswer settles an attempt with an answer that holds the secret.
func withAnswer(st trade.Settlement, secret string) trade.Settlement {
	st.Attempt.AnswerBody, st.Attempt.AnswerHead = secret, json.RawMessage(fmt.Sprintf("{%q:1}", secret))
	st.Attempt.RequestHead, st.Attempt.Evidence = json.RawMessage(fmt.Sprintf("[%q]", secret)),
		json.RawMessage(fmt.Sprintf("[%q]", secret))
	return st
}

func TestTheRetentionTakesBodiesOfFinishedRowsOnly(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		entry := func(key string) trade.Entry {
			return mustRecord(t, s, lease, full(key, "secret-"+key, trade.Pending))[0]
		}
		settle := func(st trade.Settlement, key string) {
			st.Attempt.FinishedAt = at
			mustSettle(t, s, lease, withAnswer(st, "secret-"+key))
		}
		act := func(key, name string, change func(*trade.Entry)) {
			e := mustEntry(t, s, "contracts", key)
			from := e.State
			change(&e)
			e.UpdatedAt = at
			done, err := s.Act(t.Context(),
				[]trade.Act{{Audit: trade.AuditRecord{
					Who: "maria", Act: name, Target: "contracts " + key,
					Reason: "why", At: at,
				}, Update: &trade.Update{From: from, Entry: e}}})
			if err != nil || !done[0] {
				t.Fatalf("%s %s: %v, %v", name, key, done, err)
			}
		}
		dismiss := func(key string) {
			act(key, "dismiss", func(e *trade.Entry) {
				e.Dismissal = &trade.Dismissal{From: e.State}
				e.State = trade.Dismissed
			})
		}
		// Finished: they lose what they hold.
		settle(created(mustSend(t, s, lease, entry("accepted")), "r1"), "accepted")
		a := mustSend(t, s, lease, entry("adopted"))
		settle(unknown(a), "adopted")
		act("adopted", "adopt", func(e *trade.Entry) {
			e.State, e.RemoteID, e.Error, e.Cause = trade.Accepted, "r2", nil, ""
		})
		entry("out")
		dismiss("out")
		mustRecord(t, s, lease, full("invalid-out", "secret-invalid-out", trade.Invalid))
		dismiss("invalid-out")
		settle(refused(mustSend(t, s, lease, entry("withdrawn"))), "withdrawn")
		w := mustEntry(t, s, "contracts", "withdrawn")
		w.State, w.Error, w.Cause, w.UpdatedAt = trade.Withdrawn, nil, "", at
		mustUpdate(t, s, lease, trade.Rejected, w)
		// Open, in doubt, or needed: they keep it.
		entry("pending")
		mustRecord(t, s, lease, full("invalid", "secret-invalid", trade.Invalid))
		mustSend(t, s, lease, entry("sending"))
		settle(unknown(mustSend(t, s, lease, entry("doubt"))), "doubt")
		settle(refused(mustSend(t, s, lease, entry("rejected"))), "rejected")
		settle(unknown(mustSend(t, s, lease, entry("doubt-out"))), "doubt-out")
		dismiss("doubt-out")
		weak := refused(mustSend(t, s, lease, entry("weak-out")))
		weak.Weak = true
		settle(weak, "weak-out")
		mustAddUp(t, s, "contracts")
		dismiss("weak-out")
		settle(created(mustSend(t, s, lease, entry("changed")), "r3"), "changed")
		act("changed", "look", func(e *trade.Entry) { e.Flags = e.Flags.With(trade.Changed, true) })

		want := of(RetentionPlan{{Kind: KeptBodies, Rows: 5, Kept: 3}}, KeptBodies)
		plan := must.Get(s.PlanRetention(t.Context(), keepAll, later))(t)
		got := of(plan, KeptBodies)
		if got.Rows != want.Rows || got.Kept != want.Kept || got.Bytes < 500 {
			t.Errorf("plan %+v", got)
		}
		if early := mustRetain(t, s, keepAll, at.Add(179*day)); !early.Empty() {
			t.Errorf("before its time: %+v", early)
		}
		before := map[string]trade.Entry{}
		for _, e := range rowsOf(t, s, trade.RowQuery{}) {
			before[e.Key] = e
		}
		mustRetain(t, s, keepAll, later)
		for _, key := range []string{"accepted", "adopted", "out", "invalid-out", "withdrawn"} {
			if where := everywhere(t, s, "secret-"+key); len(where) > 0 {
				t.Errorf("%s still stands in %v", key, where)
			}
			e, old := mustEntry(t, s, "contracts", key), before[key]
			if e.ReducedAt.UnixMilli() != later.UnixMilli() || e.Payload != nil || !e.Values.Marked() ||
				len(e.Values) != 3 || e.Version != old.Version+1 {
				t.Errorf("%s: %+v", key, e)
			}
			// What prevents a duplicate, and what people are accountable for, is as it was.
			lost := []string{"Payload", "Values", "Shown.Texts", "Facts", "Warnings", "Error", "Version", "ReducedAt"}
			if diff := cmp.Diff(old, e, cmpopts.IgnoreFields(trade.Entry{}, lost...), decimals); diff != "" {
				t.Errorf("%s (-before +after):\n%s", key, diff)
			}
			attempts := must.Get(s.Attempts(t.Context(), e.ID))(t)
			for _, a := range attempts {
				if string(a.Payload) != "{}" || a.PayloadHash != old.PayloadHash || a.Outcome == "" || a.Status != 0 &&
					a.FinishedAt.IsZero() {
					t.Errorf("%s: attempt %+v", key, a)
				}
			}
		}
		for _, key := range []string{
			"pending", "invalid", "sending", "doubt", "rejected", "doubt-out", "weak-out", "changed",
		} {
			if diff := cmp.Diff(before[key], mustEntry(t, s, "contracts", key), decimals); diff != "" {
				t.Errorf("%s lost something (-before +after):\n%s", key, diff)
			}
		}
		mustAddUp(t, s, "contracts")
		if again := mustRetain(t, s, keepAll, later); !again.Empty() {
			t.Errorf("a second time: %+v", again)
		}
		if p, err := s.VerifyAudit(t.Context()); err != nil || p.Broken != 0 {
			t.Errorf("the audit is broken at %d: %v", p.Broken, err)
		}
	})
}

// What is reduced comes back when the row does, and goes again in its time.
func TestAReducedRowThatHoldsSomethingAgainLosesItAgain(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, full("a", "first", trade.Pending))[0]
		a := mustSend(t, s, lease, e)
		st := unknown(a)
		st.Attempt.FinishedAt = at
		mustSettle(t, s, lease, st)
		e = mustEntry(t, s, "contracts", "a")
		e.State, e.RemoteID, e.Error, e.Cause, e.UpdatedAt = trade.Accepted, "r1", nil, "", at
		must.Get(s.Act(t.Context(),
			[]trade.Act{{Audit: rebuildAct, Update: &trade.Update{From: trade.InDoubt, Entry: e}}}))(t)
		mustRetain(t, s, keepAll, later)
		// The ERP changes the row: its newest values are kept for the person who looks at it.
		e = mustEntry(t, s, "contracts", "a")
		e.Now, e.Flags, e.UpdatedAt = trade.Values{"nome": {Kind: 't', Text: "second"}},
			e.Flags.With(trade.Changed, true), later
		mustUpdate(t, s, lease, trade.Accepted, e)
		if e = mustEntry(t, s, "contracts", "a"); !e.ReducedAt.IsZero() {
			t.Error("it is said to hold nothing")
		}
		if plan := mustRetain(t, s, keepAll, later.Add(200*day)); of(plan, KeptBodies).Rows != 0 ||
			of(plan, KeptBodies).Kept != 1 {
			t.Errorf("while the change stands: %+v", plan)
		}
		e.Flags, e.AckValues, e.UpdatedAt = e.Flags.With(trade.Changed, false), e.Now, later
		mustUpdate(t, s, lease, trade.Accepted, e)
		mustRetain(t, s, keepAll, later.Add(200*day))
		if where := everywhere(t, s, "second"); len(where) > 0 {
			t.Errorf("it still stands in %v", where)
		}
		// A late answer to the old attempt brings a body back; the next retention takes it too.
		st = created(a, "r1")
		st.Attempt.AnswerBody, st.Attempt.FinishedAt = "third", later
		mustCommit(t, s, lease, trade.Group{At: later, Settle: []trade.Settlement{st}})
		if where := everywhere(t, s, "third"); len(where) != 1 {
			t.Fatalf("the late answer stands in %v", where)
		}
		mustRetain(t, s, keepAll, later.Add(600*day))
		if where := everywhere(t, s, "third"); len(where) > 0 {
			t.Errorf("it still stands in %v", where)
		}
	})
}

func TestTheDatabaseRefusesWhatARetentionMayNotTake(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		a := mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0])
		must.Do(t, s.AppendAudit(t.Context(), rebuildAct))
		for what, query := range map[string]string{
			"the payload of an open attempt":      `UPDATE body SET payload = '{}'`,
			"another payload":                     `UPDATE body SET payload = '{"a":1}'`,
			"deleting an attempt":                 `DELETE FROM sent`,
			"deleting an entry":                   `DELETE FROM entry`,
			"deleting an act":                     `DELETE FROM audit`,
			"altering an act":                     `UPDATE audit SET who = 'other'`,
			"altering an act while reducing it":   `UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = 'other', detail = ''`,
			"another hash for an act":             `UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = '', detail = '', hash = 'x'`,
			"the hash of what an attempt sent":    `UPDATE sent SET payload_hash = ''`,
			"the payload of a row that is to go ": `UPDATE body SET payload = NULL`,
		} {
			if err := byHand(s, query); err == nil {
				t.Errorf("%s was allowed", what)
			}
		}
		st := unknown(a)
		mustSettle(t, s, lease, st)
		if err := byHand(s, `DELETE FROM exchange`); err == nil {
			t.Error("the payload of a row in doubt was taken")
		}
		if err := byHand(s,
			`UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = '', detail = ''`); err != nil {
			t.Error(err)
		}
		if p, err := s.VerifyAudit(t.Context()); err != nil || p.Broken != 1 {
			t.Errorf("an act that no retention reduced: broken at %d, %v", p.Broken, err)
		}
	})
}

func TestOldActsLoseTheirPersonsAndTheChainStaysWhole(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i := range 7 {
			r := trade.AuditRecord{
				Who: "maria", From: "host", Act: "adopt", Target: fmt.Sprint("contracts ", i),
				Reason: "because", Detail: "{}", At: at.Add(time.Duration(i) * 365 * day),
			}
			must.Do(t, s.AppendAudit(t.Context(), r))
		}
		now := at.Add(7 * 365 * day)
		if plan := mustRetain(t, s, keepAll, now); of(plan, KeptAudit).Rows != 2 {
			t.Errorf("plan %+v", plan)
		}
		acts, err := s.Audit(t.Context(), 0)
		if err != nil || len(acts) != 8 {
			t.Fatal(len(acts), err)
		}
		for _, a := range acts[:6] {
			if a.Reduced || a.Who == "" {
				t.Errorf("act %+v", a)
			}
		}
		for _, a := range acts[6:] {
			if !a.Reduced || a.Who+a.From+a.Target+a.Reason+a.Detail != "" || a.Act != "adopt" || a.Hash == "" {
				t.Errorf("act %+v", a)
			}
		}
		if p, err := s.VerifyAudit(t.Context()); err != nil || p.Broken != 0 {
			t.Errorf("broken at %d, %v", p.Broken, err)
		}
		// Ten years on the act of the first retention has lost its own words; that of the next one
		// speaks for it.
		mustRetain(t, s, keepAll, now.Add(10*365*day))
		if p, err := s.VerifyAudit(t.Context()); err != nil || p.Broken != 0 {
			t.Errorf("broken at %d, %v", p.Broken, err)
		}
		must.Do(t, s.AppendAudit(t.Context(), rebuildAct))
		must.Do(t, byHand(s,
			`UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = '', detail = '' WHERE seq = 10`))
		if p, err := s.VerifyAudit(t.Context()); err != nil || p.Broken != 10 {
			t.Errorf("broken at %d, want 10, %v", p.Broken, err)
		}
	})
}

func TestOldRunsGoButTheLastOfEachJob(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		run := func(job string, ago time.Duration, change func(*trade.RunReport)) string {
			began := later.Add(-ago)
			r := trade.RunReport{
				ID: sqldb.NewID(), Job: job, StartedAt: began, EndedAt: trade.End{Time: began.Add(time.Minute)},
				Unchanged: 5, States: map[trade.State]int{trade.Accepted: 5}, Flags: map[trade.Flag]int{},
			}
			if change != nil {
				change(&r)
			}
			must.Do(t, s.StartRun(t.Context(), r))
			return r.ID
		}
		run("contracts", 500*day, func(r *trade.RunReport) { r.Sent = 1 })
		run("contracts", 31*day, func(r *trade.RunReport) { r.Notes = trade.Notes{trade.Say("note.recorded_only")} })
		keep := []string{
			run("contracts", 31*day, func(r *trade.RunReport) { r.Sent = 1 }),
			run("contracts", 31*day, func(r *trade.RunReport) { r.New = 1 }),
			run("contracts", 31*day, func(r *trade.RunReport) { r.Changed = 1 }),
			run("contracts", 31*day, func(r *trade.RunReport) { r.Sweep = true }),
			run("contracts", 31*day, func(r *trade.RunReport) { r.EndedAt = trade.End{} }),
			run("contracts", 31*day, func(r *trade.RunReport) { r.Stopped = &trade.Stop{Code: "key"} }),
			run("contracts", 29*day, nil),
			run("old job", 900*day, nil), // the last of its job
			run("contracts", time.Hour, nil),
		}
		if plan := mustRetain(t, s, keepAll, later); of(plan, KeptRuns).Rows != 2 {
			t.Errorf("plan %+v", plan)
		}
		runs := must.Get(s.Runs(t.Context(), "", 0))(t)
		got := map[string]bool{}
		for _, r := range runs {
			got[r.ID] = true
		}
		for i, id := range keep {
			if !got[id] || len(runs) != len(keep) {
				t.Errorf("run %d is gone; %d are left", i, len(runs))
			}
		}
	})
}

func TestLookupsAndLinesOfTheQuarantineGo(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		must.Do(t, s.RecordLookups(t.Context(), "document", []trade.Lookup{
			{Code: "old", ID: "x", FirstAt: at, AskedAt: at, NextAt: at},
			{Code: "new", ID: "y", FirstAt: later, AskedAt: later, NextAt: later},
		}))
		for _, key := range []string{"doubt", "settled"} {
			a := mustSend(t, s, lease, mustRecord(t, s, lease, newEntry(key))[0])
			st := unknown(a)
			st.Attempt.FinishedAt = at
			mustSettle(t, s, lease, st)
			for _, boot := range []string{sqldb.Self().Boot, "another"} {
				must.Get(s.Watch(t.Context(), "contracts", boot, time.Hour))(t)
			}
			if key == "settled" {
				mustSettle(t, s, lease, created(a, "r"))
			}
		}
		plan := mustRetain(t, s, keepAll, later)
		if of(plan, KeptLookups).Rows != 1 || of(plan, KeptQuarantine).Rows != 3 {
			t.Errorf("plan %+v", plan)
		}
		if got, err := s.Lookups(t.Context(), "document"); err != nil || len(got) != 1 || got["new"].ID != "y" {
			t.Errorf("lookups %v, %v", got, err)
		}
		if got, err := s.Watched(t.Context(), mustEntry(t, s, "contracts", "doubt").ID,
			sqldb.Self().Boot); err != nil || len(got) != 1 {
			t.Errorf("this boot's line of a doubt is gone: %v, %v", got, err)
		}
	})
}

// A run that works beside the retention finds its rows as it left them, or is told that they moved.
func TestTheRetentionTakesShortStepsBesideARun(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var entries []trade.Entry
		for i := range 900 {
			e := newEntry(fmt.Sprint("w", i))
			e.State, e.UpdatedAt = trade.Withdrawn, at
			entries = append(entries, e)
		}
		for i := range entries {
			entries[i].State = trade.Waiting
		}
		entries = mustRecord(t, s, lease, entries...)
		var updates []trade.Update
		for _, e := range entries {
			e.State = trade.Withdrawn
			updates = append(updates, trade.Update{From: trade.Waiting, Entry: e})
		}
		if lost, err := s.Record(t.Context(), lease, trade.Page{Updates: updates}); err != nil || lost != 0 {
			t.Fatal(lost, err)
		}
		stop := make(chan struct{})
		done := make(chan error)
		go func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				e := newEntry(fmt.Sprint("p", n))
				if _, err := s.Record(context.Background(), lease, trade.Page{New: []trade.Entry{e}}); err != nil {
					done <- err
					return
				}
			}
		}()
		plan := mustRetain(t, s, keepAll, later)
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if of(plan, KeptBodies).Rows != 900 {
			t.Errorf("plan %+v", plan)
		}
		var left sql.NullInt64
		if err := s.db.Read.Get(&left,
			`SELECT COUNT(*) FROM entry WHERE state = 'withdrawn' AND reduced_at IS NULL`); err != nil ||
			left.Int64 != 0 {
			t.Errorf("%v left, %v", left, err)
		}
		mustAddUp(t, s, "contracts")
		if s.db.D.Name == sqldb.SQLite && walSize(s.db.Where) > 1<<20 {
			t.Errorf("the write-ahead log has %d bytes", walSize(s.db.Where))
		}
	})
}

func TestAMarkTellsAnotherValueAndNothingElse(t *testing.T) {
	t.Parallel()
	mark := func(text string) trade.Cell { return trade.Mark("01|1", "preco", trade.Cell{Kind: 't', Text: text}) }
	if mark("120.50") != mark(" 120.5 ") || mark("Soja") != mark("SOJA") || mark("120.5") == mark("120.6") ||
		mark("a") == trade.Mark("01|2", "preco", trade.Cell{Kind: 't', Text: "a"}) {
		t.Error("marks differ where values do not, or the other way round")
	}
	if m := mark("x"); trade.Mark("01|1", "preco", m) != m || len(m.Text) != 4 || strings.Contains(m.Text, "x") {
		t.Errorf("mark %+v", m)
	}
}

// What was purged is in no file of the ledger: not in free space of its pages, not in the write-ahead
// log, not in the journal.
func TestAPersonWhoWasPurgedIsInNoFile(t *testing.T) {
	const person = "UNICANOME DA SILVA 529.982.247-25"
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	var ids []int64
	for i := range 60 {
		text := "outra pessoa"
		if i%6 == 0 {
			text = person
		}
		e := mustRecord(t, k.s, lease, full(fmt.Sprintf("k%03d", i), text, trade.Pending))[0]
		a := mustSend(t, k.s, lease, e)
		mustSettle(t, k.s, lease, withAnswer(created(a, sqldb.NewID()), text))
		e = mustEntry(t, k.s, "contracts", e.Key)
		for j := range 3 { // the row changes, and grows and shrinks
			e.Now = trade.Values{"nome": {Kind: 't', Text: strings.Repeat(text, 1+(i+j)%5)}}
			e.Flags, e.UpdatedAt = e.Flags.With(trade.Changed, j < 2), at.Add(time.Duration(j)*time.Minute)
			mustUpdate(t, k.s, lease, trade.Accepted, e)
			e = mustEntry(t, k.s, "contracts", e.Key)
		}
		e.AckValues = e.Now
		mustUpdate(t, k.s, lease, trade.Accepted, e)
		if text == person {
			ids = append(ids, e.ID)
		}
	}
	in := func() (where []string) {
		files := must.Get(filepath.Glob(k.o.DSN + "*"))(t)
		files = append(files, must.Get(filepath.Glob(filepath.Join(k.dir(), "*")))(t)...)
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			for _, part := range []string{"UNICANOME", "529.982", "NOME DA SILVA"} {
				if n := strings.Count(string(text), part); n > 0 {
					where = append(where, fmt.Sprintf("%s has %q %d times", filepath.Base(file), part, n))
				}
			}
		}
		return where
	}
	if len(in()) == 0 {
		t.Fatal("the person is nowhere: the test shows nothing")
	}
	if n, err := k.s.Erase(t.Context(), ids, nil, later, byRetention); err != nil || n != len(ids) {
		t.Fatal(n, err)
	}
	if where := in(); len(where) > 0 {
		t.Errorf("it is still there: %v", where)
	}
}

// Who reads the ledger for long, as a report does, does not let the retention keep writers waiting. The
// write-ahead log is emptied when nobody reads.
func TestTheRetentionKeepsNoWriterWaitingForAReader(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	tune := sqldb.DefaultTuning
	tune.Busy = time.Hour
	s := must.Get(open(t.Context(), o, tune))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	lease := mustLease(t, s, "contracts")
	mustRecord(t, s, lease, newEntry("1"))
	reading := must.Get(s.Moment(t.Context()))(t)
	must.Get(reading.Jobs(t.Context()))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.Do(t, s.db.EmptyLog(ctx))
	if walSize(o.DSN) == 0 {
		t.Error("the log is gone while it is read")
	}
	mustRecord(t, s, lease, newEntry("2"))
	must.Do(t, reading.Close(), s.db.EmptyLog(ctx))
	if size := walSize(o.DSN); size != 0 {
		t.Errorf("the log has %d bytes", size)
	}
	var busy int64
	must.Do(t, s.db.Write.Get(&busy, `PRAGMA busy_timeout`))
	if busy != tune.Busy.Milliseconds() {
		t.Errorf("the connection waits %d ms for other writers", busy)
	}
}
