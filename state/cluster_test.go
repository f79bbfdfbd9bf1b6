package state

import (
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// onServer is a ledger on a server of the test's own.
func onServer(t *testing.T) (*pgtest.Cluster, *kept) {
	t.Helper()
	t.Parallel()
	c := pgtest.Server(t)
	return c, keep(t, sqldb.Options{Driver: sqldb.Postgres, DSN: c.Database(t)})
}

// A service goes on through a fail-over, and claims nothing on the new server until somebody has
// confirmed it.
func TestC11APromotedReplicaStopsTheSendingUntilAPersonConfirmsIt(t *testing.T) {
	primary, k := onServer(t)
	replica := primary.Replica(t)
	k.send("a", 2)
	lease := mustLease(t, k.s, "deliveries")
	mustRecord(t, k.s, lease, newEntry("b"))
	entries := mustRecord(t, k.s, lease, newEntry("c"), newEntry("d"))
	flying := mustSend(t, k.s, lease, entries[0])
	primary.CatchUp(t)
	replica.TakeOver(t, primary)

	// What was in flight is settled, and nothing more begins.
	for k.s.db.Write.PingContext(t.Context()) != nil {
	}
	in := intentOf(entries[1])
	r := mustCommit(t, k.s, lease, trade.Group{
		Settle:  []trade.Settlement{created(flying, "remote-c")},
		Intents: []trade.Intent{in},
	})
	if !r.Settled[flying.ID] || r.Claimed[in.Attempt.ID] || r.Stop == nil || !r.Stop.All ||
		!strings.Contains(r.Stop.Text, "timeline 2") || !strings.Contains(r.Stop.Text, "state rebind") {
		t.Fatalf("%+v", r)
	}
	wantCode(t, k.s.RenewLease(t.Context(), lease), sqldb.CodeServer)
	_, err := k.s.AcquireLease(t.Context(), "contracts", sqldb.Self())
	wantCode(t, err, sqldb.CodeServer)
	second := *k
	text := wantCode(t, second.try(sqldb.DefaultTuning), sqldb.CodeServer)
	if !strings.Contains(text, "timeline 1") || !strings.Contains(text, "timeline 2") {
		t.Error(text)
	}
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))

	plan, err := Rebind(t.Context(), k.o, "", false, trade.AuditRecord{})
	if err != nil || plan.Server == nil || plan.Platform != nil || plan.Journal != "" || plan.Accepted != 2 ||
		plan.Doubts != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := k.s.AcquireLease(t.Context(), "contracts", sqldb.Self()); err == nil {
		t.Fatal("a plan has confirmed it")
	}
	must.Get(Rebind(t.Context(), k.o, "", true, rebindAct))(t)
	// The service that was there before goes on by itself.
	lease = mustLease(t, k.s, "deliveries")
	mustSend(t, k.s, lease, mustEntry(t, k.s, "deliveries", "d"))
}

func TestC11AReplicaThatLaggedIsRebuiltBeforeItIsConfirmed(t *testing.T) {
	primary, k := onServer(t)
	b := *k
	b.o.Journal = t.TempDir() // another host
	b.open()
	replica := primary.Replica(t)
	k.send("a", 2)
	b.send("b", 2)
	primary.CatchUp(t)
	replica.Stop(t)
	k.send("late", 3)
	want := provenOf(t, k.s)
	k.close()
	b.close()
	replica.TakeOver(t, primary)

	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer)
	plan, err := Rebind(t.Context(), k.o, "", false, trade.AuditRecord{})
	if err != nil || !strings.Contains(plan.Journal, "with 3 rows that were sent") || len(plan.Hosts) != 1 ||
		!strings.HasPrefix(plan.Hosts[0].Path, b.o.Journal) {
		t.Fatalf("%+v, %v", plan, err)
	}
	_, err = Rebind(t.Context(), k.o, "", true, rebindAct)
	wantCode(t, err, sqldb.CodeRolledBack)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer) // rebuilt, and still not confirmed
	must.Get(Rebind(t.Context(), k.o, "", true, rebindAct))(t)
	k.open()
	if diff := len(want) - len(provenOf(t, k.s)); diff != 0 {
		t.Errorf("%d rows are missing", diff)
	}
}

// The address with all servers of a cluster leads to the one that can write, in every way in which the
// ledger is opened, before a fail-over and after it.
func TestAnAddressWithEveryServerFindsTheOneThatCanWrite(t *testing.T) {
	primary, k := onServer(t)
	replica := primary.Replica(t)
	k.send("a", 2)
	primary.CatchUp(t)
	k.close()

	alone := k.o
	alone.DSN = replica.DSN(strings.TrimPrefix(strings.Fields(k.o.DSN)[3], "dbname="))
	text := wantCode(t, (&kept{t: t, o: alone}).try(sqldb.DefaultTuning), sqldb.CodePermission)
	if !strings.Contains(text, "target_session_attrs=read-write") {
		t.Error(text)
	}
	alone.ReadOnly = true
	findings := must.Get(mustOpen(t, alone).Health(t.Context()))(t)
	if last := findings[len(findings)-1]; last.OK || !strings.Contains(last.Value, "standby") ||
		!strings.Contains(last.Hint, "target_session_attrs=read-write") {
		t.Errorf("%+v", last)
	}

	for _, attrs := range []string{"read-write", "primary"} {
		k.o.DSN = strings.Replace(alone.DSN, fmt.Sprintf("host=127.0.0.1 port=%d", replica.Port),
			fmt.Sprintf("host=127.0.0.1,127.0.0.1 port=%d,%d connect_timeout=5 target_session_attrs=%s",
				replica.Port, primary.Port, attrs), 1)
		reading := k.o
		reading.ReadOnly = true
		s := mustOpen(t, reading)
		findings := must.Get(s.Health(t.Context()))(t)
		if last := findings[len(findings)-1]; !last.OK || !strings.Contains(last.Value, "(timeline 1)") {
			t.Errorf("%s: %+v", attrs, last)
		}
		if _, err := s.db.Write.ExecContext(t.Context(), `UPDATE ledger SET platform = 'x'`); err == nil {
			t.Errorf("%s: a ledger opened for reading was written", attrs)
		}
		k.open()
		k.send(attrs, 1)
		k.close()
	}

	primary.CatchUp(t)
	primary.Stop(t)
	promoted := must.Get(sql.Open("postgres", alone.DSN))(t)
	must.Get(promoted.ExecContext(t.Context(), `SELECT pg_promote()`))(t)
	must.Do(t, promoted.Close())
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer)
	must.Get(Rebind(t.Context(), k.o, "", true, rebindAct))(t)
	k.open()
	k.send("b", 1)
}

func TestATimelineIsTheNumberThatPostgresTellsPeople(t *testing.T) {
	t.Parallel()
	if text := sqldb.ServerText("7/0000001C"); text != "server 7 (timeline 28)" {
		t.Error(text)
	}
	if text := sqldb.ServerText(""); text != "server not readable (timeline not readable)" {
		t.Error(text)
	}
}

func TestC11ACopyRestoredOnAnotherServerIsNoticed(t *testing.T) {
	from, k := onServer(t)
	to := pgtest.Server(t)
	k.send("a", 3)
	k.close()
	dsn := to.Database(t)
	dump := exec.Command(from.Program("pg_dump"), "--dbname="+k.o.DSN)
	load := exec.Command(from.Program("psql"), "--quiet", "--dbname="+dsn, "--set=ON_ERROR_STOP=1")
	var err error
	load.Stdin = must.Get(dump.StdoutPipe())(t)
	must.Do(t, dump.Start(), load.Run(), dump.Wait())
	k.o.DSN = dsn
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer)
	o := k.o
	o.ReadOnly = true
	s := mustOpen(t, o)
	findings, err := s.Health(t.Context())
	if last := findings[len(findings)-1]; err != nil || last.OK || last.Name != "server" ||
		!strings.Contains(last.Hint, "state rebind") {
		t.Errorf("%+v, %v", last, err)
	}
	must.Get(Rebind(t.Context(), k.o, "", true, rebindAct))(t)
	k.open()
	k.send("b", 1)
}

func TestC11ALedgerOfAnOlderProgramTakesThePresentServer(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[1].open(t))
	mustExec(t, k.s, `UPDATE ledger SET server = ''`)
	k.send("a", 1) // also while it runs
	k.close()
	k.open()
	var server string
	if err := k.s.db.Read.Get(&server, `SELECT server FROM ledger`); err != nil ||
		sqldb.ServerParts(server)[0] == sqldb.Unread || len(sqldb.ServerParts(server)[1]) != 8 {
		t.Errorf("%q, %v", server, err)
	}
}

func TestC11WhatTheRoleMayNotReadIsSaidAndTheRestIsCompared(t *testing.T) {
	c, k := onServer(t)
	k.close()
	k.open()
	for _, query := range []string{
		`REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`, `CREATE ROLE clerk LOGIN`,
		`ALTER SCHEMA public OWNER TO clerk`,
		`DO $$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP EXECUTE 'ALTER TABLE ' || t || ' OWNER TO clerk'; END LOOP; END $$`,
	} {
		if _, err := k.s.db.Write.ExecContext(context.Background(), query); err != nil {
			t.Fatal(query, err)
		}
	}
	k.close()
	k.o.DSN = strings.Replace(k.o.DSN, "user=postgres", "user=clerk", 1)
	k.open()
	k.send("a", 1)
	findings, err := k.s.Health(t.Context())
	if last := findings[len(findings)-1]; err != nil || !last.OK ||
		!strings.Contains(last.Hint, "GRANT EXECUTE ON FUNCTION pg_control_system()") {
		t.Errorf("%+v, %v", last, err)
	}
	k.close()
	replica := c.Replica(t)
	c.CatchUp(t)
	replica.TakeOver(t, c)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer)
}
