package state

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// old fills the ledger with what a retention takes: finished rows with bodies, errors and warnings,
// a doubt that is over, answers to questions by document, events, runs, acts of persons. The keys
// begin with the prefix.
func (k *kept) old(prefix string) []int64 {
	k.t.Helper()
	ctx, s := k.t.Context(), k.s
	lease := mustLease(k.t, s, "contracts")
	secret := "secret-" + prefix
	entries := mustRecord(k.t, s, lease, full(prefix+"a", secret, trade.Pending),
		full(prefix+"b", secret, trade.Invalid))
	a := mustSend(k.t, s, lease, entries[0])
	st := withAnswer(unknown(a), secret)
	st.Attempt.FinishedAt = at
	mustSettle(k.t, s, lease, st)
	must.Get(s.Watch(ctx, "contracts", "boot", 0))(k.t)
	st = withAnswer(created(a, "remote-"+prefix), secret)
	st.Attempt.FinishedAt = at
	mustSettle(k.t, s, lease, st)
	must.Do(k.t, s.ReleaseLease(ctx, lease))
	k.order(entryAct("dismiss", mustEntry(k.t, s, "contracts", prefix+"b"), func(e *trade.Entry) {
		e.Dismissal, e.UpdatedAt, e.State = &trade.Dismissal{From: e.State}, at, trade.Dismissed
	}))
	run := trade.RunReport{
		ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at},
		States: map[trade.State]int{}, Flags: map[trade.Flag]int{},
	}
	must.Do(k.t, s.StartRun(ctx, run), s.FinishRun(ctx, run))
	must.Do(k.t, s.RecordLookups(ctx, trade.ProducerByDocument,
		[]trade.Lookup{{Code: secret, ID: "x-" + prefix, FirstAt: at, AskedAt: at, NextAt: at}}))
	seen := trade.InboxEvent{
		Event: "CREATE_FARM", Hash: prefix, Body: []byte(secret), FirstAt: at,
		LastAt: at, Times: 1,
	}
	must.Do(k.t, s.StoreEvents(ctx, []trade.InboxEvent{seen}))
	return []int64{entries[0].ID, entries[1].ID}
}

// F047, F048, F071: each call of the database fails once while old data goes, while a person has
// rows erased and while the journal begins again, on both databases: it says so, what is needed
// stays, the next time takes the rest, and ledger and journal fit.
func TestEveryCallOfTheDatabaseFailsOnceWhileOldDataGoes(t *testing.T) {
	t.Parallel()
	for _, backend := range backends {
		for name, c := range map[string]struct {
			take func(f *fragile, ids []int64, prefix string) error
		}{
			"retention": {func(f *fragile, _ []int64, _ string) error {
				keep := keepAll
				keep.Journal, keep.Inbox = 1, keep.Bodies
				_, err := f.s.Retain(f.t.Context(), keep, later, byRetention)
				return err
			}},
			"a journal that begins again": {func(f *fragile, _ []int64,
				_ string,
			) error {
				return beginAgain(f.t.Context(), f.s)
			}},
			"erasing": {func(f *fragile, ids []int64, prefix string) error {
				record := anAct("contracts")
				some, err := f.s.Erasable(f.t.Context(), ids)
				if err == nil {
					var took int
					took, err = f.s.Erase(f.t.Context(), ids, []string{"x-" + prefix}, later, record)
					if err == nil && took != len(some) {
						err = fmt.Errorf("%d rows lost something, %d could", took, len(some))
					}
				}
				return err
			}},
		} {
			t.Run(backend.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := frail(t, backend, &breaker{})
				for at := 1; ; at++ {
					prefix := fmt.Sprintf("%03d", at)
					ids := f.old(prefix)
					f.b.arm(at, false)
					err := c.take(f, ids, prefix)
					hit := f.b.disarm()
					if (hit == "") != (err == nil) {
						t.Fatalf("call %d of the database (%q fails) and %v", at, hit, err)
					}
					if err != nil {
						if again := c.take(f, ids, prefix); again != nil {
							t.Fatalf("the next time after call %d of the database failed (%s; %v): %v", at, hit,
								err, again)
						}
					}
					for _, where := range everywhere(t, f.s, "secret-"+prefix) {
						if strings.HasPrefix(name, "a journal") {
							break
						}
						t.Errorf("after call %d of the database failed (%s) the secret is still in %s", at, hit, where)
					}
					if got := mustEntry(t, f.s, "contracts", prefix+"a"); got.State != trade.Accepted ||
						got.RemoteID != "remote-"+prefix {
						t.Fatalf("after call %d of the database failed (%s): %+v", at, hit, got)
					}
					if at%8 == 0 || hit == "" {
						mustAddUp(t, f.s, "contracts")
						mustBeWell(t, f.s, f.o.Journal)
					}
					if hit == "" {
						t.Logf("%d calls failed", at-1)
						return
					}
				}
			})
		}
	}
}

// F047, F048: the same in what is rarely done: a message whose address is gone, a service that left
// a dead one behind, doubts of a recovery of which the sender tells more, a row that waits for two
// codes and gets one.
func TestEveryCallOfTheDatabaseFailsOnceInWhatIsRare(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		mustSaveAlert(t, s, newAlert("contracts"), true)
		a := onlyAlert(t, s)
		a.RaisedAt = at.Add(time.Minute)
		mustSaveAlert(t, s, a, true, messageTo("a"), messageTo("b"))
		m := mustDue(t, s, at, 2)[0]
		m.Outcome, m.DoneAt = "given_up", at.Add(time.Hour)
		f.each("ReaddressMessage", func() error { return s.ReaddressMessage(ctx, m, []string{"b", "c"}) })
		f.each("ReaddressMessage that is done with",
			func() error { return s.ReaddressMessage(ctx, m, []string{"d"}) })
		targets := map[string]bool{}
		for _, m := range mustDue(t, s, at.Add(2*time.Hour), 2) {
			targets[m.Target] = true
		}
		if len(targets) != 2 || !targets["b"] || !targets["c"] {
			t.Errorf("messages to %v", targets)
		}
		mustExec(t, s,
			`INSERT INTO service (instance, owner, version, since, seen) VALUES ('old', '{"instance":"old","host":"elsewhere"}', '0.1', 5, 7)`)
		f.each("Announce", func() error { return s.Announce(ctx, "1.0.0", at) })
		if got, err := s.Services(ctx); err != nil || len(got) != 1 || got[0].Dead {
			t.Errorf("services %+v, %v", got, err)
		}
		run := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at},
			Stopped: &trade.Stop{Code: "api", Why: trade.Say("no answer"), All: true}, States: map[trade.State]int{},
			Flags: map[trade.Flag]int{},
		}
		f.each("FinishRun", func() error { return s.FinishRun(ctx, run) })
		f.read("Runs", func() error { return second(s.Runs(ctx, "contracts", 3)) })
		f.read("Extent", func() error { return second(s.Extent(ctx, 0)) })

		lease := mustLease(t, s, "contracts")
		waits := newEntry("w")
		waits.State, waits.WaitingFor = trade.Waiting,
			[]trade.Awaited{{Platform: "wallets", ID: "w-1"}, {Platform: "wallets", ID: "w-2"}}
		mustRecord(t, s, lease, waits)
		sent := mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0])
		f.each("WakeBlocked of one code of two",
			func() error { return second(s.WakeBlocked(ctx, lease, "wallets", "w-1")) })
		if got := mustEntry(t, s, "contracts", "w"); got.State != trade.Waiting || len(got.WaitingFor) != 1 ||
			got.WaitingFor[0].ID != "w-2" {
			t.Errorf("it waits for %+v", got.WaitingFor)
		}
		mustRecord(t, s, lease, newEntry("in two\nlines"), newEntry("in one"))
		search := func() (trade.RowPage, error) {
			return s.RowPage(ctx, trade.RowQuery{Text: "o\nli", Sort: trade.ByKey, Limit: 5})
		}
		f.read("RowPage of a text", func() error { return second(search()) })
		if page, err := search(); err != nil || len(page.Rows) != 1 {
			t.Errorf("%+v, %v", page, err)
		}
		f.read("StuckStates", func() error { return second(s.StuckStates(ctx, "contracts")) })
		must.Do(t, s.ReleaseLease(ctx, lease))
		lease = mustLease(t, s, "contracts")
		f.each("Recover", func() error { return second(s.Recover(ctx, lease, at)) })
		st := withAnswer(unknown(sent), "what the sender saw")
		f.each("Commit of what the sender saw", func() error {
			return second(s.Commit(ctx, lease, trade.Group{At: at, Settle: []trade.Settlement{st}}))
		})
		if all, err := s.Attempts(ctx, mustEntry(t, s, "contracts", "a").ID); err != nil || len(all) != 1 ||
			all[0].AnswerBody != "what the sender saw" {
			t.Errorf("attempts %+v, %v", all, err)
		}
		mustAddUp(t, s, "contracts")
	})
}

// What is told row by row ends with the first row that who asked cannot take, and says why.
func TestWhoCannotTakeARowIsToldNoMore(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		lease := mustLease(t, s, "contracts")
		waits := func(key string, a ...trade.Awaited) trade.Entry {
			e := newEntry(key)
			e.State, e.WaitingFor, e.Cause = trade.Waiting, a, trade.CauseParent
			return e
		}
		wallet := trade.Awaited{Ref: "wallets", Code: "12"}
		mustRecord(t, s, lease, waits("w1", wallet), waits("w2", wallet))
		for _, key := range []string{"a", "b"} {
			at := mustSend(t, s, lease, mustRecord(t, s, lease, newEntry(key))[0])
			st := created(at, "remote-"+key)
			mustSettle(t, s, lease, st)
		}
		for range 2 {
			run := trade.RunReport{
				ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at.Add(time.Minute)},
				States: map[trade.State]int{}, Flags: map[trade.Flag]int{},
			}
			must.Do(t, s.FinishRun(ctx, run))
		}
		told := 0
		enough := errors.New("enough")
		stop := func() error { told++; return enough }
		entry := func(trade.Entry) error { return stop() }
		long, before := at.Add(-1000*day), time.Now().Add(1000*day)
		for name, op := range map[string]func() error{
			"RunsEnded": func() error {
				return s.RunsEnded(ctx, long, before, func(trade.RunReport) error { return stop() })
			},
			"Sent":     func() error { return s.Sent(ctx, long, before, func(trade.Sent) error { return stop() }) },
			"Awaiting": func() error { return s.Awaiting(ctx, "contracts", "wallets", entry) },
			"Orphans": func() error {
				return s.Orphans(ctx, "contracts", func([]trade.Entry) error { return stop() })
			},
			"EachKnown": func() error {
				return s.EachKnown(ctx, "contracts", func(trade.Known) error { return stop() })
			},
			"Stale": func() error { return s.Stale(ctx, "contracts", "m2", []trade.State{trade.Waiting}, entry) },
			"Rows":  func() error { return s.Rows(ctx, trade.RowQuery{}, entry) },
		} {
			told = 0
			if err := op(); !errors.Is(err, enough) || told != 1 {
				t.Errorf("%s: %v, told %d", name, err, told)
			}
		}
	})
}
