package state

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestAnActOutsideTheLedgerIsWrittenToTheAuditInItsOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		before := trade.AuditRecord{
			At: at, Who: "maria", From: "maria@host", Act: "api webhooks create", Target: "CREATE_FARM",
			Reason: "go-live", Detail: `{"phase":"before"}`,
		}
		after := before
		after.At, after.Detail = at.Add(time.Second), `{"phase":"after"}`
		for _, record := range []trade.AuditRecord{before, after} {
			must.Do(t, s.AppendAudit(t.Context(), record))
		}
		got, err := s.Audit(t.Context(), 0)
		if diff := cmp.Diff([]trade.AuditRecord{after, before}, got,
			cmpopts.IgnoreFields(trade.AuditRecord{}, "Seq", "Prev", "Hash")); diff != "" || err != nil {
			t.Errorf("audit, newest first (-want +got):\n%s%v", diff, err)
		}
	})
}

func TestAnActThatCannotBeWrittenToTheAuditIsAnError(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustExec(t, s, map[string]string{
			sqldb.SQLite:   `CREATE TRIGGER no_audit BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`,
			sqldb.Postgres: `CREATE TRIGGER no_audit BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION safrasync_refuse('no')`,
		}[s.db.D.Name])
		if err := s.AppendAudit(t.Context(),
			trade.AuditRecord{At: at, Who: "maria", Act: "api credit-score create"}); err == nil {
			t.Error("the record is missing, and nobody is told")
		}
		if got, err := s.Audit(t.Context(), 0); len(got) != 0 || err != nil {
			t.Errorf("audit: %v, %v", got, err)
		}
	})
}

func mustVerify(t *testing.T, s *Store, want int64) {
	t.Helper()
	if got, err := s.VerifyAudit(t.Context()); err != nil || got.Broken != want {
		t.Errorf("%+v, %v; want the first broken record to be %d", got, err, want)
	}
}

// byForce does by hand what the triggers refuse, as somebody with all rights in the database can.
func byForce(t *testing.T, s *Store, query string) {
	t.Helper()
	for _, trigger := range []string{"audit_unchanged", "audit_stays"} {
		drop := "DROP TRIGGER IF EXISTS " + trigger
		if s.db.D.Name == sqldb.Postgres {
			drop += " ON audit"
		}
		mustExec(t, s, drop)
	}
	mustExec(t, s, query)
}

func TestTheAuditIsOneChainHoweverManyWriteIt(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		mustVerify(t, s, 0)
		var wg gosync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				if err := s.AppendAudit(t.Context(), anAct(fmt.Sprintf("contracts %d", i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		records, err := s.Audit(t.Context(), 0)
		if err != nil || len(records) != 40 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		for i := range 39 {
			if records[i].Prev != records[i+1].Hash || records[i].Seq != records[i+1].Seq+1 {
				t.Fatalf("record %d does not follow record %d", records[i].Seq, records[i+1].Seq)
			}
		}
		mustVerify(t, s, 0)
	})
}

// F069.
func TestAnAuditThatWasAlteredIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		want  int64
	}{
		"a reason":              {`UPDATE audit SET reason = 'another' WHERE seq = 4`, 4},
		"a time":                {`UPDATE audit SET at = at + 1 WHERE seq = 2`, 2},
		"a text moved":          {`UPDATE audit SET act = 'dismis', target = 's' || target WHERE seq = 5`, 5},
		"a record taken out":    {`DELETE FROM audit WHERE seq = 3`, 3},
		"the first taken out":   {`DELETE FROM audit WHERE seq = 1`, 1},
		"the last taken out":    {`DELETE FROM audit WHERE seq = 6`, 6},
		"all taken out":         {`DELETE FROM audit`, 1},
		"a record put in":       {`INSERT INTO audit (seq, at, who, origin, act, target, reason, detail, prev, hash) VALUES (7, 1, 'w', 'o', 'a', 't', 'r', '{}', (SELECT hash FROM audit_head), 'h')`, 7},
		"the end of the chain":  {`UPDATE audit_head SET hash = 'x'`, 6},
		"nothing, in the sweep": {`UPDATE audit SET reason = reason`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, s *Store) {
				for i := range 6 {
					must.Do(t, s.AppendAudit(t.Context(), anAct(fmt.Sprintf("contracts %d", i))))
				}
				byForce(t, s, c.query)
				mustVerify(t, s, c.want)
			})
		})
	}
}

func TestAnActAndWhatTheProgramWritesAreInTheSameChain(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		a := mustSend(t, s, lease, e[0])
		mustSettle(t, s, lease, unknown(a))
		must.Get(s.Act(t.Context(), []trade.Act{
			dismissal(mustEntry(t, s, "contracts", "a")),
			dismissal(e[1]),
		}))(t)
		r := mustSettle(t, s, lease, created(a, sqldb.NewID()))
		if len(r.Alarms) != 1 || r.Alarms[0].Kind != trade.LateAfterDismissal {
			t.Errorf("alarms %+v", r.Alarms)
		}
		records, err := s.Audit(t.Context(), 0)
		if err != nil || len(records) != 3 || records[0].Who != books.ProgramName || records[0].Act != "late answer" ||
			records[0].Target != "contracts a" {
			t.Errorf("audit %+v, %v", records, err)
		}
		if why := records[0].Because(trade.Portuguese, time.UTC); !strings.Contains(why, "a resposta chegou tarde") {
			t.Errorf("people read %q", why)
		}
		if why := records[1].Because(trade.Portuguese, time.UTC); why != "typed twice" {
			t.Errorf("people read %q", why)
		}
		mustVerify(t, s, 0)
	})
}

// forge makes the audit again from a record on, with other words, as one whole chain.
func forge(t *testing.T, s *Store, from int64) {
	t.Helper()
	var rows []trade.AuditRecord
	must.Do(t, s.db.All(t.Context(), "reading the audit", &rows, books.SelectAudit+`ORDER BY seq`))
	prev := ""
	for _, r := range rows {
		if r.Seq >= from {
			r.Prev, r.Who = prev, "nobody"
			byForce(t, s, fmt.Sprintf(`UPDATE audit SET who = 'nobody', prev = '%s', hash = '%s' WHERE seq = %d`,
				r.Prev, books.AuditSum(r), r.Seq))
			r.Hash = books.AuditSum(r)
		}
		prev = r.Hash
	}
	mustExec(t, s, fmt.Sprintf(`UPDATE audit_head SET hash = '%s'`, prev))
}

// An audit that somebody wrote anew as a whole chain, or cut off and went on with, is found by
// the ends of it that the journal has.
func TestAnAuditThatWasWrittenAnewIsFoundByTheJournal(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		doubts := k.doubts(4)
		must.Do(t, k.s.AppendAudit(t.Context(), anAct("before")))
		k.order(adoption(doubts[0], "remote-0"))
		k.order(adoption(doubts[1], "remote-1"))
		mustVerify(t, k.s, 0)
		at := k.s
		var head sqldb.AuditHead
		must.Do(t, at.db.Read.Get(&head, books.SelectAuditHead))
		forge(t, at, head.Seq-1)
		mustVerify(t, at, head.Seq-1)
		d := Diagnosis{}
		err := at.diagnoseAudit(t.Context(), &d, true)
		if err != nil || d.OK || d.Problem != ProblemBroken {
			t.Errorf("the doctor says %+v, %v", d, err)
		}
		k.order(adoption(doubts[2], "remote-2")) // and so it stays
		mustVerify(t, at, head.Seq-1)
	})
}

// Two hosts with a journal each rebuild a ledger that is gone, in either order: the audit begins
// anew, and nobody is accused.
func TestAnAuditThatTwoHostsRebuiltIsNoForgery(t *testing.T) {
	for name, order := range map[string][2]int{
		"the first before the second": {0, 1},
		"the second before the first": {1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := keep(t, backends[1].open(t))
			b := *a
			b.o.Journal = filepath.Join(t.TempDir(), "another host")
			b.open()
			hosts := []*kept{a, &b}
			doubts := a.doubts(7)
			for i, e := range doubts[:6] {
				hosts[i%2].order(adoption(e, "remote-"+e.Key))
			}
			mustVerify(t, a.s, 0)
			for _, query := range []string{`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`} {
				must.Do(t, byHand(a.s, query))
			}
			_, _ = a.s.Close(), b.s.Close()
			for _, i := range order {
				must.Get(Rebuild(t.Context(), hosts[i].o, nil, true, rebuildAct))(t)
			}
			for _, k := range hosts {
				k.open()
				mustVerify(t, k.s, 0)
			}
			a.order(adoption(mustEntry(t, a.s, "contracts", doubts[6].Key), "remote-6"))
			forge(t, a.s, 1)
			mustVerify(t, a.s, 1)
		})
	}
}

// Whoever may write to the ledger's file can append, empty, cut off and recompute as he likes. Each
// way is found, or it is said that nothing is proved.
func TestF069AnAuditIsProvedOnlyAgainstTheJournal(t *testing.T) {
	const emptied = `UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = '', detail = '' WHERE seq = 2`
	retire := func(t *testing.T, k *kept) {
		must.Do(t, k.s.AppendAudit(t.Context(),
			trade.AuditRecord{Who: books.ProgramName, Act: trade.ActRetention, Detail: `{"audit_through":3}`, At: at}))
	}
	for name, c := range map[string]struct {
		alter    func(t *testing.T, k *kept)
		broken   int64
		reduced  int64
		journals int
	}{
		"nothing": {alter: func(*testing.T, *kept) {}, journals: 1},
		"a retention is put in, and a record has other words": {func(t *testing.T, k *kept) {
			retire(t, k)
			byForce(t, k.s, `UPDATE audit SET reduced = 1, who = 'other' WHERE seq = 2`)
		}, 2, 0, 1},
		"a retention is put in, and a record is emptied": {func(t *testing.T, k *kept) {
			retire(t, k)
			byForce(t, k.s, emptied)
		}, 0, 2, 1},
		"a retention is put in, a record is emptied, and the journal notes the end after it": {func(t *testing.T, k *kept) {
			retire(t, k)
			byForce(t, k.s, emptied)
			mustRetain(t, k.s, Retention{}, at.Add(day))
			must.Do(t, k.s.AppendAudit(t.Context(), anAct("contracts 9")))
			mustRetain(t, k.s, Retention{}, at.Add(2*day))
		}, 0, 2, 1},
		// The next retention takes what is old, as it stands there: it does not sign what was altered.
		"records are made old": {func(t *testing.T, k *kept) {
			byForce(t, k.s, `UPDATE audit SET at = 1 WHERE seq < 4`)
			mustRetain(t, k.s, keepAll, at.Add(day))
		}, 1, 0, 1},
		"a record is emptied, and no retention stands there": {func(t *testing.T, k *kept) {
			byForce(t, k.s, emptied)
		}, 2, 0, 1},
		"the chain is made anew, and the journal is another host's": {func(t *testing.T, k *kept) {
			forge(t, k.s, 2)
			mustExec(t, k.s, `UPDATE journal SET host = 'other'`)
		}, 4, 0, 1},
		"the chain is made anew, and the journal is out of use": {func(t *testing.T, k *kept) {
			forge(t, k.s, 2)
			mustExec(t, k.s, `UPDATE journal SET retired_at = 1`)
		}, 4, 0, 1},
		"the last records are taken out": {func(t *testing.T, k *kept) {
			byForce(t, k.s, `DELETE FROM audit WHERE seq > 2`)
			mustExec(t, k.s, `UPDATE audit_head SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2)`)
		}, 3, 0, 1},
		"the journal is not here": {func(t *testing.T, k *kept) {
			forge(t, k.s, 2)
			mustExec(t, k.s, `UPDATE journal SET host = 'other'`)
			must.Do(t, os.RemoveAll(k.dir()))
		}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			journaled(t, func(t *testing.T, k *kept) {
				for i := range 4 {
					must.Do(t, k.s.AppendAudit(t.Context(), anAct(fmt.Sprintf("contracts %d", i))))
				}
				// daily
				must.Get(k.s.Retain(t.Context(), Retention{}, at, trade.AuditRecord{}))(t)
				c.alter(t, k)
				o := k.o
				o.ReadOnly = true
				s := mustOpen(t, o)
				p := must.Get(s.VerifyAudit(t.Context()))(t)
				if p.Broken != c.broken || p.Reduced != c.reduced || p.Journals != c.journals ||
					p.Proved() != (name == "nothing") {
					t.Errorf("%+v; want broken %d, reduced %d, journals %d", p, c.broken, c.reduced, c.journals)
				}
				d := Diagnosis{}
				must.Do(t, s.diagnoseAudit(t.Context(), &d, true))
				if (d.OK || d.Problem == "") != p.Proved() {
					t.Errorf("the doctor says %+v", d)
				}
			})
		})
	}
}

// What a retention does is proved by the journal of the host where it ran.
func TestARetentionIsInTheJournalBeforeItTakesAnything(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		for i := range 4 {
			r := anAct(fmt.Sprintf("contracts %d", i))
			r.At = at
			must.Do(t, k.s.AppendAudit(t.Context(), r))
		}
		mustRetain(t, k.s, keepAll, at.Add(7*365*day))
		p := must.Get(k.s.VerifyAudit(t.Context()))(t)
		records := must.Get(k.s.Audit(t.Context(), 0))(t)
		if !records[3].Reduced || !p.Proved() || p.Through != p.Last {
			t.Errorf("%+v, %+v", records[3], p)
		}
		r := &retaining{Store: k.s, Now: at.Add(7 * 365 * day)}
		must.Do(t, r.beginAgain(t.Context()))
		if p := must.Get(k.s.VerifyAudit(t.Context()))(t); !p.Proved() {
			t.Errorf("after the journal began again: %+v", p)
		}
	})
}

// A ledger that moves takes its audit along, and what a retention has announced of it.
func TestAMovedLedgerKeepsTheProofOfItsAudit(t *testing.T) {
	k := sqliteKept(t)
	k.sendAll("a", 3)
	must.Do(t, k.s.AppendAudit(t.Context(), anAct("contracts 1")))
	mustRetain(t, k.s, keepAll, time.Now().Add(7*365*day))
	k.close()
	to := backends[1].empty(t)
	to.Journal = k.o.Journal
	must.Get(Move(t.Context(), k.o, to, true, moveRecord))(t)
	if p := must.Get(mustOpen(t, to).VerifyAudit(t.Context()))(t); !p.Proved() {
		t.Errorf("%+v", p)
	}
}

// The audit of a ledger that was lost begins anew with it: what a retention has taken from the former
// one is no permission to take it from this one.
func TestARebuiltLedgerHasAnAuditThatNoRetentionHasTakenFrom(t *testing.T) {
	k := sqliteKept(t)
	k.sendAll("a", 3)
	for i := range 9 {
		must.Do(t, k.s.AppendAudit(t.Context(), anAct(fmt.Sprintf("contracts %d", i))))
	}
	mustRetain(t, k.s, keepAll, time.Now().Add(7*365*day))
	k.close()
	removeLedger(t, k.o.DSN)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	mustRetain(t, k.s, Retention{}, time.Now())
	must.Do(t, k.s.AppendAudit(t.Context(),
		trade.AuditRecord{Who: books.ProgramName, Act: trade.ActRetention, Detail: `{"audit_through":3}`}))
	byForce(t, k.s, `UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = '', detail = '' WHERE seq = 1`)
	mustRetain(t, k.s, Retention{}, time.Now())
	if p := must.Get(k.s.VerifyAudit(t.Context()))(t); p.Proved() || p.Reduced != 1 {
		t.Errorf("%+v", p)
	}
}

// A journal that begins again keeps the end of the audit.
func TestAJournalThatBeginsAgainProvesTheAudit(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.sendAll("a", 3)
		for i := range 4 {
			must.Do(t, k.s.AppendAudit(t.Context(), anAct(fmt.Sprintf("contracts %d", i))))
		}
		r := &retaining{Store: k.s, Now: at}
		must.Do(t, r.beginAgain(t.Context()))
		byForce(t, k.s, `DELETE FROM audit WHERE seq > 2`)
		mustExec(t, k.s, `UPDATE audit_head SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2)`)
		mustVerify(t, k.s, 3)
	})
}
