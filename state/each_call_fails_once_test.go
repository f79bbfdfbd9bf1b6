package state

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/sickdb"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

var long = os.Getenv("SAFRASYNC_TEST_LONG") != ""

// tuning puts the breaker before the database; what is tried again ends soon.
func (b *breaker) tuning() sqldb.Tuning {
	tune := sqldb.DefaultTuning
	tune.Through, tune.Write, tune.Settle = sickdb.Through(b), 20*time.Second, 30*time.Millisecond
	return tune
}

// fragile is a ledger with a journal, behind a breaker.
type fragile struct {
	*kept
	b      *breaker
	broken int // calls that failed
	spoilt int // values that were damaged
}

// frail opens a ledger with a journal behind a breaker.
func frail(t *testing.T, backend backend, b *breaker, adapt ...func(*sqldb.Tuning)) *fragile {
	t.Helper()
	f := &fragile{kept: &kept{t: t, o: backend.open(t)}, b: b}
	f.o.Version, f.o.Journal = "1.0.0-test", filepath.Join(t.TempDir(), "journal")
	tune := b.tuning()
	for _, change := range adapt {
		change(&tune)
	}
	if err := f.try(tune); err != nil {
		t.Fatal(err)
	}
	return f
}

// breakable runs a test on both databases.
func breakable(t *testing.T, run func(t *testing.T, f *fragile)) {
	t.Helper()
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			f := frail(t, backend, &breaker{})
			run(t, f)
			t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
		})
	}
}

// each calls an operation of the ledger again and again, and lets its first call of the database
// fail, then its second, and so on until none is left to fail: each time once with all after it,
// and once alone. An operation that failed has stored nothing, and one whose database failed says
// so.
func (f *fragile) each(name string, op func() error) { f.t.Helper(); f.fail(name, op, true, false) }

// read does the same to an operation that only reads.
func (f *fragile) read(name string, op func() error) { f.t.Helper(); f.fail(name, op, false) }

func (f *fragile) fail(name string, op func() error, lastings ...bool) {
	f.t.Helper()
	writes := len(lastings) > 1
	before := content(f.t, f.s)
	f.spoil(name, op)
	if diff := f.changed(before); diff != "" {
		f.t.Fatalf("%s with values that were damaged has stored something (-before +after):\n%s", name, diff)
	}
	first, step := sampled(name, 3)
	for at := first; ; at += step {
		for _, lasting := range lastings {
			f.b.arm(at, lasting)
			err := op()
			hit := f.b.disarm()
			if hit == "" {
				if err != nil {
					f.t.Fatalf("%s: %v", name, err)
				}
				return
			}
			f.broken++
			if err == nil {
				f.t.Errorf("%s: its call %d of the database failed (%s), and it says nothing", name, at, hit)
				return
			}
			if !writes {
				continue
			}
			if diff := f.changed(before); diff != "" {
				f.t.Fatalf(
					"%s failed (%v) at its call %d of the database (%s), and has stored something (-before +after):\n%s", name, err, at, hit, diff)
			}
		}
	}
}

// changed is what the ledger holds more or less than before. Most of the time it is nothing, and
// comparing maps is a small part of telling how they differ.
func (f *fragile) changed(before map[string]int) string {
	f.t.Helper()
	after := content(f.t, f.s)
	if maps.Equal(before, after) {
		return ""
	}
	return cmp.Diff(before, after)
}

// sampled is which calls fail, or which values are damaged: each, or in the short form only each
// so-manieth, beginning with another one in each operation.
func sampled(name string, short int) (first, step int) {
	if long {
		return 1, 1
	}
	return 1 + len(name)%short, short
}

// spoil calls an operation again and again while one value of what the database answers is damaged.
// No commit succeeds meanwhile.
func (f *fragile) spoil(name string, op func() error) {
	f.t.Helper()
	first, step := sampled(name, 14)
	for at := first; ; at += step {
		f.b.null = at%2 == 0
		f.b.damages(at)
		_ = op() // it may not need the value
		if f.b.mends() == "" {
			return
		}
		f.spoilt++
		if long {
			f.b.null = !f.b.null
			f.b.damages(at)
			_ = op()
			f.b.mends()
		}
	}
}

// F047, F048, F050: every call of the database fails once, in every operation of the ledger, on
// both databases and with a journal: the operation says so, has stored nothing of itself, and
// succeeds the next time. The same with every value that it answers: whatever stands there, the
// operation ends, and has stored nothing.
func TestEveryCallOfTheDatabaseFailsOnce(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s

		// Leases, pages of discovery, references.
		var lease trade.Lease
		f.each("AcquireLease", func() (err error) {
			lease, err = s.AcquireLease(ctx, "contracts", sqldb.Self())
			return err
		})
		f.each("RenewLease", func() error { return s.RenewLease(ctx, lease) })
		entries := []trade.Entry{
			newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"), newEntry("e"), newEntry("f"),
			newEntry("g"),
		}
		waits := short("w", trade.OrderCommitments, trade.Waiting, sacas("1"), wallet("12"))
		orphan := short("o", trade.OrderCommitments, trade.Waiting, sacas("1"), contract("a"))
		f.each("Record", func() error {
			return second(s.Record(ctx, lease, trade.Page{
				New:    append(entries, waits, orphan),
				Cursor: &trade.Cursor{Bound: "x", SweptAt: at, Sweep: &trade.Sweep{InScope: 9}},
			}))
		})
		b := mustEntry(t, s, "contracts", "b")
		b.SourceHash, b.Quantity = trade.HashOf("another"), sacas("7")
		f.each("Record of a change", func() error {
			return second(s.Record(ctx, lease, trade.Page{Updates: []trade.Update{{From: trade.Pending, Entry: b}}}))
		})
		f.each("ReplaceReferences",
			func() error {
				return second(s.ReplaceReferences(ctx, "wallets", map[string]string{"1": "x", "2": "y"}, nil))
			})
		f.each("ReplaceReferences with others",
			func() error { return second(s.ReplaceReferences(ctx, "wallets", map[string]string{"1": "z"}, nil)) })
		f.each("ImportReferences", func() error {
			_, _, err := s.ImportReferences(ctx, "farms", map[string]string{"1": "x", "2": "y"}, nil, anAct("farms"))
			return err
		})
		f.each("RemoveReferences",
			func() error { return second(s.RemoveReferences(ctx, "farms", []string{"2"}, anAct("farms"))) })
		f.each("RecordLookups", func() error {
			return s.RecordLookups(ctx, trade.ProducerByDocument,
				[]trade.Lookup{{Code: "a", ID: "x", FirstAt: at, AskedAt: at, NextAt: at}})
		})

		// Groups with everything that can be in one, the recovery, late answers.
		commit := func(name string, g trade.Group) {
			t.Helper()
			g.At = at
			f.each(name, func() error { return second(s.Commit(ctx, lease, g)) })
		}
		var ins []trade.Intent
		attempts := map[string]trade.Attempt{}
		for _, key := range []string{"a", "b", "c", "d"} {
			in := intentOf(mustEntry(t, s, "contracts", key))
			in.Attempt.EntryID = in.Entry.ID
			ins, attempts[key] = append(ins, in), in.Attempt
		}
		commit("Commit of intents", trade.Group{Intents: ins})
		gone := mustEntry(t, s, "contracts", "e")
		gone.State, gone.Cause, gone.Payload = trade.Held, trade.CauseVanished, nil
		block := trade.Block{
			Kind: "wallets", ID: "w-1", Message: "message.wallet.not-found", FirstAt: at,
			NextAt: at.Add(time.Hour), Tries: 1,
		}
		commit("Commit of everything", trade.Group{
			Settle: []trade.Settlement{
				created(attempts["a"], "remote-a"), refused(attempts["b"]), unknown(attempts["c"]),
			},
			Updates: []trade.Update{{From: trade.Pending, Entry: gone}},
			Intents: []trade.Intent{intentOf(mustEntry(t, s, "contracts", "f"))},
			Block:   []trade.Block{block},
		})
		commit("Commit of a conflict", trade.Group{Settle: []trade.Settlement{created(attempts["d"], "remote-a")}})
		printed := mustEntry(t, s, "contracts", "a")
		printed.Newest = trade.Prints{Fields: "00"}
		f.each("Reprint", func() error { return s.Reprint(ctx, lease, []trade.Entry{printed}) })
		f.each("Wake", func() error { return second(s.Wake(ctx, lease, at.Add(time.Hour))) })
		blocked := mustEntry(t, s, "contracts", "b")
		blocked.State, blocked.WaitingFor = trade.Waiting, []trade.Awaited{{Platform: "wallets", ID: "w-1"}}
		commit("Commit of a row that waits",
			trade.Group{Updates: []trade.Update{{From: trade.Pending, Entry: blocked}}})
		f.each("WakeBlocked", func() error { return second(s.WakeBlocked(ctx, lease, "wallets", "w-1")) })
		commit("Commit that ends a block", trade.Group{Unblock: []trade.Block{block}})
		f.each("ReleaseLease", func() error { return s.ReleaseLease(ctx, lease) })
		late := lease
		lease = mustLease(t, s, "contracts")
		f.each("Recover", func() error { return second(s.Recover(ctx, lease, at)) })
		f.each("a late answer, the lease lost", func() error {
			return second(s.Commit(ctx, late, trade.Group{At: at, Settle: []trade.Settlement{refused(attempts["d"])}}))
		})
		f.each("Watch", func() error { return second(s.Watch(ctx, "contracts", "boot", 0)) })
		resend := resending(mustEntry(t, s, "contracts", "c"))
		f.each("Act: a second sending", func() error { return second(s.Act(ctx, []trade.Act{resend})) })
		twice := intentOf(mustEntry(t, s, "contracts", "c"))
		commit("Commit of a second sending", trade.Group{Intents: []trade.Intent{twice}})
		twice.Attempt.EntryID = twice.Entry.ID
		commit("Commit of both answers", trade.Group{Settle: []trade.Settlement{
			created(attempts["c"], "remote-c"),
			created(twice.Attempt, "remote-c2"),
		}})
		if got := statesOf(t, s, "contracts"); got["a"] != trade.Accepted || got["c"] != trade.Accepted ||
			got["e"] != trade.Held || got["f"] != trade.InDoubt {
			t.Fatalf("states %v", got)
		}

		// What people do.
		act := func(name string, a trade.Act) {
			t.Helper()
			f.each("Act: "+name, func() error {
				done, err := s.Act(ctx, []trade.Act{a})
				if err == nil && !done[0] {
					err = errors.New("it was not done")
				}
				return err
			})
		}
		act("dismissal", dismissal(mustEntry(t, s, "contracts", "g")))
		act("adoption", adoption(mustEntry(t, s, "contracts", "f"), "remote-f"))
		ask := dismissal(mustEntry(t, s, "contracts", "w"))
		ask.Ask = []trade.Block{{Kind: "wallets", ID: "w-1"}}
		act("dismissal that asks again", ask)
		takes := mustEntry(t, s, "contracts", "e")
		act("an id that goes to another row", takeover(mustEntry(t, s, "contracts", "a"), takes))
		if err := s.ReleaseLease(ctx, lease); err != nil {
			t.Fatal(err)
		}
		pause := trade.JobStatus{
			Job: "contracts", State: trade.Paused, Since: at,
			Stop: &trade.Stop{Code: "paused", Why: trade.Say("stop.paused.by", "who", "maria", "why", "the harvest")},
		}
		act("pause", trade.Act{Job: &trade.JobAct{Job: "contracts", Status: pause}, Audit: anAct("contracts")})
		saw, err := s.JobStatus(ctx, "contracts")
		if err != nil {
			t.Fatal(err)
		}
		act("resume", trade.Act{Job: &trade.JobAct{
			Job: "contracts", Saw: &saw, Cursor: &trade.Cursor{Bound: "y"},
			Status: trade.JobStatus{Job: "contracts", State: trade.Idle, Since: at},
		}, Audit: anAct("contracts")})
		f.each("AppendAudit", func() error { return s.AppendAudit(ctx, anAct("x")) })

		// Runs, tasks, alerts, the service.
		run := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at, States: map[trade.State]int{},
			Flags: map[trade.Flag]int{},
		}
		f.each("StartRun", func() error { return s.StartRun(ctx, run) })
		run.EndedAt = trade.End{Time: at.Add(time.Minute)}
		f.each("FinishRun", func() error { return s.FinishRun(ctx, run) })
		f.each("SetJobStatus", func() error {
			return s.SetJobStatus(ctx, trade.JobStatus{Job: "contracts", State: trade.Running, Since: at})
		})
		f.each("TaskBegan", func() error { return s.TaskBegan(ctx, "refs", at) })
		save := func(name string, a trade.Alert, messages ...trade.AlertMessage) {
			t.Helper()
			f.each(name, func() error { return second(s.SaveAlert(ctx, a, messages)) })
		}
		save("SaveAlert", newAlert("contracts"))
		a := onlyAlert(t, s)
		a.RaisedAt = at.Add(time.Minute)
		save("SaveAlert with messages", a, messageTo("a"), messageTo("b"))
		m := mustDue(t, s, at, 2)[0]
		f.each("ClaimMessage", func() error { return second(s.ClaimMessage(ctx, m, at.Add(time.Minute))) })
		m.Outcome, m.DoneAt = "delivered", at.Add(time.Hour)
		f.each("SettleMessage", func() error { return s.SettleMessage(ctx, m) })
		f.each("SaveDigest",
			func() error { return second(s.SaveDigest(ctx, time.Time{}, at, []trade.AlertMessage{messageTo("a")})) })
		a = onlyAlert(t, s)
		a.GoneAt, a.ClosedAt = at.Add(time.Hour), at.Add(time.Hour)
		save("SaveAlert that ends", a, messageTo("a"))
		f.each("PruneAlerts", func() error { return s.PruneAlerts(ctx, at.Add(24*time.Hour)) })
		f.each("Announce", func() error { return s.Announce(ctx, "1.0.0", at) })
		f.each("StillServing", func() error { return s.StillServing(ctx, at, time.Hour) })
		f.each("SignOfLife", func() error { return s.SignOfLife(ctx, []string{"contracts"}, at, time.Hour) })
		f.each("Withdraw", func() error { return s.Withdraw(ctx) })
		f.each("Beat", func() error { return second(s.Beat(ctx, trade.Instance{Owner: sqldb.Self(), Command: "run"})) })
		f.each("Depart", func() error { return s.Depart(ctx, sqldb.Self().Instance) })
		f.each("Beat again",
			func() error { return second(s.Beat(ctx, trade.Instance{Owner: sqldb.Self(), Command: "run"})) })
		f.each("Announce again", func() error { return s.Announce(ctx, "1.0.0", at) })

		// All that only reads.
		entry := func(trade.Entry) error { return nil }
		from, before := at.Add(-time.Hour), at.Add(time.Hour)
		row := mustEntry(t, s, "contracts", "a")
		for name, op := range map[string]func() error{
			"References":     func() error { _, _, err := s.References(ctx); return err },
			"ListReferences": func() error { return second(s.ListReferences(ctx, "farms")) },
			"LookupKey":      func() error { return second(s.LookupKey(ctx)) },
			"Lookups":        func() error { return second(s.Lookups(ctx, trade.ProducerByDocument)) },
			"Awaiting":       func() error { return s.Awaiting(ctx, "contracts", "wallets", entry) },
			"Cursor":         func() error { return second(s.Cursor(ctx, "contracts")) },
			"Known":          func() error { return second(s.Known(ctx, "contracts", []string{"a", "b"})) },
			"Parents": func() error {
				return second(s.Parents(ctx,
					[]trade.ParentKey{{Job: "contracts", Key: "a"}, {Job: "contracts", Key: "c"}}))
			},
			"Orphans":    func() error { return s.Orphans(ctx, "contracts", func([]trade.Entry) error { return nil }) },
			"Entries":    func() error { return second(s.Entries(ctx, []int64{row.ID})) },
			"Entry":      func() error { return second(s.Entry(ctx, "contracts", "a")) },
			"Attempts":   func() error { return second(s.Attempts(ctx, row.ID)) },
			"EachKnown":  func() error { return s.EachKnown(ctx, "contracts", func(trade.Known) error { return nil }) },
			"Stale":      func() error { return s.Stale(ctx, "contracts", "m2", []trade.State{trade.Pending}, entry) },
			"Arrivals":   func() error { return second(s.Arrivals(ctx, "contracts", 0, 3)) },
			"Counts":     func() error { return second(s.Counts(ctx, "contracts")) },
			"CountIn":    func() error { return second(s.CountIn(ctx, "contracts", trade.Pending)) },
			"FlagCounts": func() error { return second(s.FlagCounts(ctx, "contracts")) },
			"Due":        func() error { return second(s.Due(ctx, "contracts", at, 0, 10)) },
			"DueKeys":    func() error { return second(s.DueKeys(ctx, "contracts", []string{"a"}, at)) },
			"Records": func() error {
				_, _, err := s.Records(ctx, trade.RecordQuery{
					Job: "other", Kind: trade.OrderCommitments, Keys: []string{"a"}, IDs: []int64{1}, Rows: []int64{1},
					Prints: []trade.Prints{{Cells: trade.HashOf("source-a")}},
				})
				return err
			},
			"Unsent": func() error {
				return second(s.Unsent(ctx, trade.OrderCommitments, []trade.Hash{trade.HashOf("source-a")}))
			},
			"Unrecorded": func() error { return second(s.Unrecorded(ctx)) },
			"Blocks":     func() error { return second(s.Blocks(ctx)) },
			"Watched":    func() error { return second(s.Watched(ctx, row.ID, "boot")) },
			"Holder":     func() error { return second(s.Holder(ctx, trade.OrderCommitments, "nobody", 0)) },
			"Runs":       func() error { return second(s.Runs(ctx, "contracts", 3)) },
			"RunsEnded": func() error {
				return s.RunsEnded(ctx, from, before, func(trade.RunReport) error { return nil })
			},
			"JobStatus":   func() error { return second(s.JobStatus(ctx, "contracts")) },
			"Jobs":        func() error { return second(s.Jobs(ctx)) },
			"Leases":      func() error { return second(s.Leases(ctx)) },
			"Instances":   func() error { return second(s.Instances(ctx)) },
			"LastTask":    func() error { return second(s.LastTask(ctx, "refs")) },
			"Rows":        func() error { return s.Rows(ctx, trade.RowQuery{}, entry) },
			"Ages":        func() error { return second(s.Ages(ctx, "contracts")) },
			"StuckStates": func() error { return second(s.StuckStates(ctx, "contracts")) },
			"Sent":        func() error { return s.Sent(ctx, from, before, func(trade.Sent) error { return nil }) },
			"PayloadsOf":  func() error { return second(s.PayloadsOf(ctx, trade.OrderCommitments, []string{"remote-a"})) },
			"Acts":        func() error { return second(s.Acts(ctx, from, before)) },
			"Audit":       func() error { return second(s.Audit(ctx, 0)) },
			"VerifyAudit": func() error {
				p, err := s.VerifyAudit(ctx)
				if p.Broken != 0 && err == nil {
					err = fmt.Errorf("record %d of the audit is broken", p.Broken)
				}
				return err
			},
			"Alerts":        func() error { return second(s.Alerts(ctx)) },
			"DueMessages":   func() error { return second(s.DueMessages(ctx, at, 10)) },
			"DigestedUntil": func() error { return second(s.DigestedUntil(ctx)) },
			"Backlog":       func() error { return second(s.Backlog(ctx)) },
			"Services":      func() error { return second(s.Services(ctx)) },
			"BrokenKeys":    func() error { return second(s.brokenKeys(ctx)) },
			// a ledger that does not answer when it is compared with its journal is one that does not
			// fit
			"Diagnose": func() error {
				all, err := s.Diagnose(ctx, f.o.Journal, true, 0)
				for _, d := range all {
					// an act that read a damaged end of the audit has noted it in the journal
					ends := d.Check == "audit" && d.Problem == "broken"
					if !d.OK && err == nil && !ends {
						err = errors.New(d.Problem)
					}
				}
				return err
			},
			"JournalReport": func() error { return second(s.JournalReport(ctx, f.o.Journal)) },
			"Verify":        func() error { return s.verify(ctx) },
			"Health": func() error {
				all, err := s.Health(ctx)
				for _, d := range all {
					if d.Name == "quick_check" && !d.OK && err == nil {
						err = errors.New(d.Hint.String())
					}
				}
				return err
			},
		} {
			f.read(name, op)
		}
		if s.db.D.Name == sqldb.Postgres { // of a file, only its length is asked
			f.read("Sizes", func() error { return second(s.Sizes(ctx)) })
		}
		mustAddUp(t, s, "contracts")
	})
}
