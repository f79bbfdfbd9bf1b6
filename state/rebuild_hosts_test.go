package state

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestRebuildingPostgres(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[1].open(t))
	k.live(7, 40, func(int) {})
	want, resent := provenOf(t, k.s), generations(t, k.s)
	for _, query := range []string{`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`} {
		must.Do(t, byHand(k.s, query))
	}
	k.close()
	k.noticedAndRebuilt(0, want, resent)
}

func TestF058ARestoredPostgresLedgerIsNoticedAndRebuilt(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[1].open(t))
	k.live(11, 20, func(int) {})
	var name string
	must.Do(t, k.s.db.Read.Get(&name, `SELECT current_database()`))
	k.close()
	admin := must.Get(sqlx.Open("postgres", pgtest.Database(t)))(t)
	defer admin.Close()
	must.Get(admin.Exec(`CREATE DATABASE yesterday_` + name + ` TEMPLATE ` + name))(t)
	k.open()
	k.send("later", 5)
	want, resent := provenOf(t, k.s), generations(t, k.s)
	k.close()
	if strings.Count(k.o.DSN, name) != 1 {
		t.Fatalf("%s does not stand once in the DSN", name)
	}
	k.o.DSN = strings.Replace(k.o.DSN, name, "yesterday_"+name, 1)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	k.noticedAndRebuilt(0, want, resent)
}

func TestBothHostsRebuildAPostgresLedger(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	a.send("a", 3)
	b.send("b", 3)
	a.send("c", 3)
	want := provenOf(t, a.s)
	lost(t, a, b)
	wantCode(t, a.try(sqldb.DefaultTuning), sqldb.CodeEmptied)
	must.Get(Rebuild(t.Context(), a.o, nil, true, rebuildAct))(t)
	wantCode(t, a.try(sqldb.DefaultTuning), sqldb.CodeRolledBack, "another host", "on every host, in any order")
	wantCode(t, b.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	must.Get(Rebuild(t.Context(), b.o, nil, true, rebuildAct))(t)
	b.open()
	a.open()
	wantProven(t, a.s, want)
	a.send("d", 1)
	b.send("e", 1)
}

// One host sent a row, and on another one a person gave its record to another row: each journal has
// a part of it, and both rebuild in either order.
func TestARecordThatWasGivenOnByAnotherHostIsRebuilt(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the host that sent it", "the host that gave it"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			a, b := twoHosts(t)
			b.order(takeover(a.retyped()))
			lost(t, a, b)
			hosts := []*kept{a, b}
			if first == "the host that gave it" {
				slices.Reverse(hosts)
			}
			remade(t, hosts...)
			a.open()
			given(t, a.s)
		})
	}
}

func TestANewJournalTakesThePlaceOfALostOne(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 4)
		want := provenOf(t, k.s)
		dir := k.dir()
		k.close()
		must.Do(t, os.RemoveAll(dir))
		record := rebuildAct
		record.Act = "new journal"
		plan, err := NewJournal(t.Context(), k.o, nil, false, record)
		if err != nil || plan.Doubts != 1 || plan.Sent != 3 {
			t.Fatalf("plan %+v, %v", plan, err)
		}
		wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeJournalLost)
		must.Get(NewJournal(t.Context(), k.o, nil, true, record))(t)
		k.open()
		if got := statesOf(t, k.s, "contracts")["a3"]; got != trade.InDoubt {
			t.Errorf("what was in flight is %s", got)
		}
		mustAddUp(t, k.s, "contracts")
		k.close()
		// The new journal alone is enough to rebuild what was there before it.
		if k.o.Driver == sqldb.SQLite {
			removeLedger(t, k.o.DSN)
			k.noticedAndRebuilt(0, want, map[string]bool{})
		}
		// One that stands there, of another host or damaged, is set aside.
		if plan, err = NewJournal(t.Context(), k.o, nil, true, record); err != nil ||
			!strings.HasPrefix(plan.Aside, dir+".until-") {
			t.Errorf("plan %+v, %v", plan, err)
		}
		k.open()
	})
}

func TestRebuildingWithoutAJournalSaysSo(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 1)
	k.close()
	must.Do(t, os.RemoveAll(k.o.Journal))
	_, err := Rebuild(t.Context(), k.o, nil, true, rebuildAct)
	wantCode(t, err, sqldb.CodeJournalLost)
	removeLedger(t, k.o.DSN)
	if _, err = NewJournal(t.Context(), k.o, nil, true, rebuildAct); !errors.Is(err, sqldb.ErrNoLedger) {
		t.Errorf("a new journal for no ledger: %v", err)
	}
	o := k.o
	o.Journal = ""
	_, err = Rebuild(t.Context(), o, nil, true, rebuildAct)
	wantCode(t, err, sqldb.CodeConfig)
}

// A host that ended between journal and ledger finds, when it comes back, that another one has sent
// the row in the meantime: what its journal is ahead by never left. A rebuild detects that, too.
func TestAHostWhoseLastGroupNeverCameIntoTheLedgerComesBackAfterATakeover(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]func(trade.Attempt) trade.Settlement{
		"accepted": func(a trade.Attempt) trade.Settlement { return created(a, "remote-x") }, "in doubt": unknown,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := keep(t, backends[1].open(t))
			b := *a
			b.t, b.o.Journal = t, filepath.Join(t.TempDir(), "another host")
			b.open()
			a.send("a", 2)
			lease := mustLease(t, a.s, "contracts")
			e := mustRecord(t, a.s, lease, newEntry("x"))[0]
			a.endBetween(lease, trade.Group{At: at, Intents: []trade.Intent{intentOf(e)}})
			lease = mustLease(t, b.s, "contracts")
			mustSettle(t, b.s, lease, outcome(mustSend(t, b.s, lease, e)))
			if err := b.s.ReleaseLease(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			want := provenOf(t, b.s)
			a.open()
			if got := a.s.Opening(); got.Doubts != 0 {
				t.Errorf("opening: %+v", got)
			}
			a.send("d", 1)
			a.close()
			plan, err := Rebuild(t.Context(), a.o, nil, true, rebuildAct)
			sent := func(c RebuildChange) bool { return c.From == trade.Accepted || c.From == trade.InDoubt }
			if err != nil || slices.ContainsFunc(plan.Changes, sent) {
				t.Fatalf("plan %+v, %v", plan, err)
			}
			got := provenOf(t, b.s)
			delete(got, "contracts d0")
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("after the host came back (-want +got):\n%s", diff)
			}
			b.close()
		})
	}
}

// Two hosts have sent the same rows, each from a ledger that lacked what the other had sent. The
// rebuild keeps what each of them knows, and names the rows.
func TestARebuildKeepsBothSendingsOfARowThatWentTwice(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	var name string
	must.Do(t, a.s.db.Read.Get(&name, `SELECT current_database()`))
	a.close()
	b.close()
	admin := must.Get(sqlx.Open("postgres", pgtest.Database(t)))(t)
	defer admin.Close()
	must.Get(admin.Exec(`CREATE DATABASE older_` + name + ` TEMPLATE ` + name))(t)
	b.o.DSN = strings.Replace(a.o.DSN, name, "older_"+name, 1)
	a.open()
	a.sends("x", 4, 3, accepts) // no answer to x3
	a.close()
	b.open()
	b.sends("x", 4, 2, func(sent trade.Attempt, e trade.Entry) trade.Settlement { return created(sent, "second-"+e.Key) })
	b.close()

	a.o.DSN = b.o.DSN
	wantCode(t, a.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	plan := must.Get(Rebuild(t.Context(), a.o, nil, false, rebuildAct))(t)
	if plan.Doubles != 3 { // x3 left nowhere with a proof, and is in doubt already
		t.Errorf("plan %+v", plan)
	}
	must.Get(Rebuild(t.Context(), a.o, nil, true, rebuildAct))(t)
	a.open()
	for key, want := range map[string]string{
		"x0": "created created", "x1": "created created", "x2": "unknown created", "x3": "open",
	} {
		e := mustEntry(t, a.s, "contracts", key)
		var outcomes []string
		for _, sent := range must.Get(a.s.Attempts(t.Context(), e.ID))(t) {
			outcomes = append(outcomes, cmp.Or(string(sent.Outcome), "open"))
		}
		if got := strings.Join(outcomes, " "); got != want || e.Flags.Has(trade.DoubleAfterDecision) != (key != "x3") {
			t.Errorf("%s: %s, %s, flags %v", key, e.State, got, e.Flags)
		}
	}
	mustAddUp(t, a.s, "contracts")
	mustAgree(t, a.s)
	again := must.Get(Rebuild(t.Context(), a.o, nil, false, rebuildAct))(t)
	if again.Doubles != 0 || again.Rows() != 0 {
		t.Errorf("a second rebuild: %+v", again)
	}
	b.open()
}
