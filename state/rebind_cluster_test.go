package state

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// onServer is a ledger on a server of the test's own.
func onServer(t *testing.T) (*pgtest.Cluster, *kept) {
	t.Helper()
	t.Parallel()
	c := pgtest.Server(t)
	return c, keep(t, sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: c.Database(t)})
}

// anotherHost is the same ledger with the journal of another host.
func (k *kept) anotherHost(name string) *kept {
	k.t.Helper()
	other := *k
	other.o.Journal = k.t.TempDir()
	other.open()
	mustExec(k.t, other.s, `UPDATE journal SET host = ? WHERE id = ?`, name, other.s.db.Journal.Header().Journal)
	return &other
}

// onReplica is the DSN of a replica for the database of another.
func onReplica(replica *pgtest.Cluster, dsn string) string {
	return replica.DSN(strings.TrimPrefix(strings.Fields(dsn)[3], "dbname="))
}

// connected waits until the ledger's server answers again.
func (k *kept) connected() {
	for k.s.db.Write.PingContext(k.t.Context()) != nil {
	}
}

// beat is a sign of life of a service.
func (k *kept) beat() error {
	_, err := k.s.Beat(k.t.Context(), trade.Instance{Owner: sqldb.Self(), Command: "run"})
	return err
}

// A service goes on through a fail-over. Nothing is claimed on the new server until the journals of
// all hosts are in step with it; then all go on, and no person is needed.
func TestAPromotedReplicaGoesOnWhenTheJournalsOfAllHostsAreInStep(t *testing.T) {
	primary, k := onServer(t)
	other := k.anotherHost("second")
	replica := primary.Replica(t)
	k.send("a", 2)
	other.send("o", 2)
	lease := mustLease(t, k.s, "deliveries")
	entries := mustRecord(t, k.s, lease, newEntry("c"), newEntry("d"))
	flying := mustSend(t, k.s, lease, entries[0])
	primary.CatchUp(t)
	replica.TakeOver(t, primary)

	// What was in flight is settled, and nothing more begins.
	k.connected()
	in := intentOf(entries[1])
	r := mustCommit(t, k.s, lease, trade.Group{
		Settle:  []trade.Settlement{created(flying, "remote-c")},
		Intents: []trade.Intent{in},
	})
	refused := wantCode(t, r.Refused, sqldb.CodeServer)
	if !r.Settled[flying.ID] || r.Claimed[in.Attempt.ID] ||
		!strings.Contains(refused, "timeline 2") || !strings.Contains(refused, "--gone HOST") {
		t.Fatalf("%+v", r)
	}
	wantCode(t, k.beat(), sqldb.CodeServer,
		"timeline 1", "timeline 2", "not yet in step with it: second", "must be off or fenced")
	wantCode(t, k.s.RenewLease(t.Context(), lease), sqldb.CodeServer)
	_, err := k.s.AcquireLease(t.Context(), "contracts", sqldb.Self())
	wantCode(t, err, sqldb.CodeServer)
	wantCode(t, (&kept{t: t, o: k.o}).try(sqldb.DefaultTuning), sqldb.CodeServer)
	o := k.o
	o.ReadOnly = true
	findings := must.Get(mustOpen(t, o).Health(t.Context()))(t)
	if last := findings[len(findings)-1]; last.OK || !strings.Contains(last.Value.String(), "second") {
		t.Errorf("%+v", last)
	}

	must.Do(t, other.beat())
	must.Do(t, k.beat())
	must.Do(t, k.s.RenewLease(t.Context(), lease))
	mustSend(t, k.s, lease, mustEntry(t, k.s, "deliveries", "d"))
	other.send("p", 2)
	for _, host := range []*kept{k, other} {
		term := must.Get(journal.Compare(host.dir(), 0))(t).Term
		if term.Number != 1 || !strings.HasSuffix(term.Server, "/00000002") {
			t.Errorf("%+v", term)
		}
	}
	acts := must.Get(k.s.Audit(t.Context(), 0))(t)
	if len(acts) != 1 || acts[0].Act != "server" || acts[0].Who != "safrasync" {
		t.Errorf("%+v", acts)
	}
}

// A person may say that a host is gone, and only that: a host that is not gone has to report.
func TestAFailOverIsNotConfirmedWhileAHostHasNotReported(t *testing.T) {
	primary, k := onServer(t)
	other := k.anotherHost("second")
	replica := primary.Replica(t)
	other.send("o", 2)
	primary.CatchUp(t)
	other.close()
	k.close()
	replica.TakeOver(t, primary)

	plan, err := Rebind(t.Context(), k.o, RebindOrder{}, trade.AuditRecord{})
	if err != nil || plan.Server == nil || plan.Asked || len(plan.Hosts) != 1 || plan.Hosts[0].Reported {
		t.Fatalf("%+v, %v", plan, err)
	}
	_, err = Rebind(t.Context(), k.o, RebindOrder{Apply: true}, rebindAct)
	wantCode(t, err, sqldb.CodeServer, "journals: second", "--gone HOST")
	_, err = Rebind(t.Context(), k.o, RebindOrder{Apply: true, Gone: []string{"secnod"}, OldServerOff: "x"}, rebindAct)
	wantCode(t, err, sqldb.CodeConfig, "its other hosts are: second")
	_, err = Rebind(t.Context(), k.o, RebindOrder{Apply: true, Gone: []string{"second"}}, rebindAct)
	wantCode(t, err, sqldb.CodeConfig, "--old-server-off", "safrasync check")
	const off = "Ana pulled the plug of db1"
	order := RebindOrder{Apply: true, Gone: []string{"second"}, OldServerOff: off}
	must.Get(Rebind(t.Context(), k.o, order, rebindAct))(t)
	k.open()
	acts := must.Get(k.s.Audit(t.Context(), 0))(t)
	if !slices.ContainsFunc(acts, func(a trade.AuditRecord) bool { return strings.Contains(a.Detail, off) }) {
		t.Errorf("the audit does not say who switched the old server off: %+v", acts)
	}
	k.send("a", 1)
	// It comes back all the same: what its journal has is taken up.
	text := wantCode(t, other.try(sqldb.DefaultTuning), sqldb.CodeJournalLost)
	if !strings.Contains(text, "safrasync rebuild") || strings.Contains(text, "new-journal") {
		t.Error(text)
	}
	must.Get(Rebuild(t.Context(), other.o, nil, true, rebuildAct))(t)
	other.open()
	other.send("p", 1)
}

// The old server was not switched off, and one host still reaches it. Only that one sends: on the new
// server the other waits for its report, and is told to make sure that the old server is off.
func TestOfTwoServersThatBothTakeWritesOnlyOneIsSentFrom(t *testing.T) {
	primary, k := onServer(t)
	replica := primary.Replica(t)
	k.send("a", 2)
	other := k.anotherHost("second")
	primary.CatchUp(t)
	other.close()
	other.o.DSN = onReplica(replica, k.o.DSN)
	promote(t, replica)

	host, _, _ := sqldb.HostIdentity()
	text := wantCode(t, other.try(sqldb.DefaultTuning), sqldb.CodeServer)
	if !strings.Contains(text, "not yet in step with it: "+host) || !strings.Contains(text, "old server must be off") {
		t.Error(text)
	}
	k.send("b", 2)
	_, err := Rebind(t.Context(), other.o, RebindOrder{Apply: true}, rebindAct)
	wantCode(t, err, sqldb.CodeServer)
	k.close()
	k.o.DSN = other.o.DSN
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack) // what it sent is not there
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	other.open()
	k.open()
	k.send("c", 1)
}

// A person believes that the other host is gone for ever, and its server off. Both are alive: the host
// said last from where it works, and that server answers there.
func TestAHostIsNotGoneWhileTheServerThatItWorkedFromAnswers(t *testing.T) {
	primary, k := onServer(t)
	replica := primary.Replica(t)
	k.send("a", 2)
	other := k.anotherHost("second")
	must.Do(t, k.beat(), other.beat())
	primary.CatchUp(t)
	k.close()
	k.o.DSN = onReplica(replica, k.o.DSN)
	promote(t, replica)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer)

	address := fmt.Sprintf("127.0.0.1:%d", primary.Port)
	order := RebindOrder{Gone: []string{"second"}, OldServerOff: "Ana pulled the plug of db1"}
	both := k.o // a cluster's name: the address of the old server counts, not the order of these
	both.DSN = strings.NewReplacer("host=127.0.0.1", "host=127.0.0.1,localhost target_session_attrs=read-write",
		"port=", fmt.Sprintf("port=%d,", replica.Port)).Replace(k.o.DSN)
	gone := func(apply bool) (RebindPlan, error) {
		order.Apply = apply
		return Rebind(t.Context(), both, order, rebindAct)
	}
	for _, apply := range []bool{false, true} {
		_, err := gone(apply)
		wantCode(t, err, sqldb.CodeServer, address, "timeline 1", "second", "switch it off", "safrasync check")
	}
	other.send("o", 1)
	primary.Stop(t)
	told := func(want string) {
		t.Helper()
		plan := must.Get(gone(false))(t)
		if h := plan.Hosts[0]; h.Host != "second" || !strings.Contains(h.Server.Error(), want) {
			t.Errorf("%+v, want %s", h, want)
		}
	}
	told(address + " can be asked only on that host") // the address is loopback
	s := mustOpen(t, sqldb.OpenOptions{Driver: k.o.Driver, DSN: k.o.DSN, Mending: true})
	for at, want := range map[string]string{
		"": "could not be asked", fmt.Sprint("127.0.0.1:", replica.Port): "leads to the server of this command",
	} {
		mustExec(t, s, `UPDATE journal SET server = ? WHERE host = 'second'`, at)
		told(want)
	}
	must.Get(gone(true))(t)
	k.open()
	k.send("b", 1)
}

// Two processes of one host: the old server was not switched off, and one of them still reaches it
// when the other has reported from the new one. It sends nothing more from there, because the other
// hosts may go on at any moment.
func TestAProcessLeavesTheOldServerWhenAnotherOfItsHostHasReported(t *testing.T) {
	primary, k := onServer(t)
	other := k.anotherHost("second")
	replica := primary.Replica(t)
	k.send("a", 2)
	other.send("o", 1)
	lease := mustLease(t, k.s, "deliveries")
	entry := mustRecord(t, k.s, lease, newEntry("b"))[0]
	primary.CatchUp(t)
	second := *k
	second.o.DSN = onReplica(replica, k.o.DSN)
	promote(t, replica)
	wantCode(t, second.try(sqldb.DefaultTuning), sqldb.CodeServer)

	in := intentOf(entry)
	r, err := k.s.Commit(t.Context(), lease, trade.Group{At: at, Intents: []trade.Intent{in}})
	if r.Claimed[in.Attempt.ID] {
		t.Fatalf("it goes on sending from the old server: %+v", r)
	}
	wantCode(t, err, sqldb.CodeRolledBack, "timeline 1")
}

// The cluster goes back to the server that was given up: by an address that leads there again, or by
// a manager that gives the lead back to it. Whoever sent nothing since has nothing in its journal
// that the old server lacks, and would take over the jobs of the host that did.
func TestAClusterThatGoesBackToALowerTimelineIsRefused(t *testing.T) {
	primary, k := onServer(t)
	other := k.anotherHost("second")
	replica := primary.Replica(t)
	k.send("a", 2)
	primary.CatchUp(t)
	replica.TakeOver(t, primary)
	for _, host := range []*kept{k, other} {
		host.connected()
	}
	wantCode(t, k.beat(), sqldb.CodeServer)
	must.Do(t, other.beat())
	must.Do(t, k.beat())
	other.send("o", 3)
	want := provenOf(t, other.s)

	replica.Stop(t)
	primary.Start(t)
	k.connected()
	wentBack := func(err error) {
		t.Helper()
		wantCode(t, err, sqldb.CodeRolledBack,
			"went back", " 1", "off or fenced", "rebuild --reason TEXT` on every host", "state rebind")
	}
	awaited := func(err error) {
		t.Helper()
		text := wantCode(t, err, sqldb.CodeRolledBack)
		if !strings.Contains(text, "all hosts are in step") || strings.Contains(text, "rebuild") {
			t.Error(text)
		}
	}
	_, err := k.s.AcquireLease(t.Context(), "contracts", sqldb.Self())
	wentBack(err)
	wentBack(k.beat())
	o, theirs := k.o, other.o
	o.ReadOnly, theirs.ReadOnly = true, true
	_, err = mustOpen(t, o).JournalReport(t.Context(), k.o.Journal)
	wentBack(err)
	must.Do(t, k.s.Close(), other.s.Close())
	wentBack(k.try(sqldb.DefaultTuning))
	wantCode(t, other.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	_, err = Rebind(t.Context(), k.o, RebindOrder{Apply: true}, rebindAct)
	wantCode(t, err, sqldb.CodeRolledBack, "also on second", "--gone HOST")

	wantCode(t, other.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	_, err = mustOpen(t, theirs).JournalReport(t.Context(), other.o.Journal)
	wantCode(t, err, sqldb.CodeRolledBack, "older than its journal", "if that server can be brought back, do so")
	must.Get(Rebuild(t.Context(), other.o, nil, true, rebuildAct))(t)
	awaited(k.try(sqldb.DefaultTuning))
	read := mustOpen(t, o)
	_, err = read.JournalReport(t.Context(), k.o.Journal)
	awaited(err)
	for _, f := range must.Get(read.Health(t.Context()))(t) {
		if f.Name == "server" && (f.OK || !strings.Contains(f.Hint.String(), "all hosts are in step")) {
			t.Errorf("%+v", f)
		}
	}
	// A report of a minute ago says nothing: the host may have sent from the newer server since.
	mending := sqldb.OpenOptions{Driver: k.o.Driver, DSN: k.o.DSN, Mending: true}
	mustExec(t, mustOpen(t, mending), `UPDATE journal SET reported_at = reported_at - 60000 WHERE id = ?`,
		other.s.db.Journal.Header().Journal)
	_, err = Rebind(t.Context(), k.o, RebindOrder{Apply: true}, rebindAct)
	wantCode(t, err, sqldb.CodeServer, "not yet reported")
	awaited(other.try(sqldb.DefaultTuning)) // it reports again
	plan := must.Get(Rebind(t.Context(), k.o, RebindOrder{Apply: true}, rebindAct))(t)
	if plan.Back.Error() == "" || !plan.Asked || !plan.Hosts[0].Reported {
		t.Errorf("%+v", plan)
	}
	k.open()
	other.open()
	k.send("b", 1)
	other.send("p", 1)
	for row := range want {
		if _, ok := provenOf(t, k.s)[row]; !ok {
			t.Errorf("%s is missing", row)
		}
	}
}

// The same, where the newer server was never confirmed, because it was given up at once: who has
// reported from it does not take the older one without a word.
func TestAServerThatOneHostHasReportedFromIsNotForgotten(t *testing.T) {
	primary, k := onServer(t)
	k.anotherHost("second").close()
	replica := primary.Replica(t)
	primary.CatchUp(t)
	replica.TakeOver(t, primary)
	k.connected()
	wantCode(t, k.beat(), sqldb.CodeServer)
	k.close()
	replica.Stop(t)
	primary.Start(t)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack, "timeline 2", "timeline 1")
}

// An older state of the disk of the database's host is put back: the same server, the same timeline.
// The host that sent what is missing has not started yet.
func TestASnapshotOfTheServerThatIsPutBackIsNoticedByAHostThatSentNothing(t *testing.T) {
	server, k := onServer(t)
	other := k.anotherHost("second")
	k.send("a", 2)
	other.send("o", 1)
	must.Do(t, k.beat())
	before := filepath.Join(t.TempDir(), "snapshot")
	server.Stop(t)
	must.Do(t, exec.Command("cp", "--archive", server.DataDir(), before).Run())
	server.Start(t)
	other.connected()
	other.send("late", 3)
	want := provenOf(t, other.s)
	k.connected()
	// It sees the server, and keeps no record of it.
	must.Do(t, k.s.ReleaseLease(t.Context(), mustLease(t, k.s, "contracts")))
	server.Stop(t)
	must.Do(t, os.RemoveAll(server.DataDir()), exec.Command("cp", "--archive", before, server.DataDir()).Run())
	server.Start(t)

	k.connected()
	_, err := k.s.AcquireLease(t.Context(), "contracts", sqldb.Self())
	wantCode(t, err, sqldb.CodeRolledBack, "write-ahead log", "rebuild --reason TEXT` on every host")
	k.close()
	other.close()
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer) // asked, and not confirmed
	wantCode(t, other.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	must.Get(Rebuild(t.Context(), other.o, nil, true, rebuildAct))(t)
	must.Get(Rebind(t.Context(), k.o, RebindOrder{Apply: true}, rebindAct))(t)
	k.open()
	wantProven(t, k.s, want)
}

// The same, where the host that sent nothing starts again: its last sign of life noted what it saw.
func TestWhatAHostSawOfTheOthersOutlivesIt(t *testing.T) {
	server, k := onServer(t)
	other := k.anotherHost("second")
	k.send("a", 2)
	before := filepath.Join(t.TempDir(), "snapshot")
	server.Stop(t)
	must.Do(t, exec.Command("cp", "--archive", server.DataDir(), before).Run())
	server.Start(t)
	other.connected()
	other.send("late", 3)
	k.connected()
	must.Do(t, k.beat())
	seq := must.Get(journal.Compare(k.dir(), 0))(t).End.Seq
	must.Do(t, k.beat(), other.beat(), k.beat(), other.beat())
	if again := must.Get(journal.Compare(k.dir(), 0))(t).End.Seq; again != seq {
		t.Errorf("hosts that send nothing wrote %d records more", again-seq)
	}
	k.close()
	other.close()
	server.Stop(t)
	must.Do(t, os.RemoveAll(server.DataDir()), exec.Command("cp", "--archive", before, server.DataDir()).Run())
	server.Start(t)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack, "went back")
}

func TestAReplicaThatLaggedIsRebuiltBeforeItIsConfirmed(t *testing.T) {
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

	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeRolledBack)
	plan, err := Rebind(t.Context(), k.o, RebindOrder{}, trade.AuditRecord{})
	if err != nil || !strings.Contains(plan.Journal, "with 3 rows that were sent") || len(plan.Hosts) != 1 ||
		!strings.HasPrefix(plan.Hosts[0].Path, b.o.Journal) {
		t.Fatalf("%+v, %v", plan, err)
	}
	_, err = Rebind(t.Context(), k.o, RebindOrder{Apply: true}, rebindAct)
	wantCode(t, err, sqldb.CodeRolledBack)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer) // rebuilt, and the other has not reported
	b.open()
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
	alone.DSN = onReplica(replica, k.o.DSN)
	wantCode(t, (&kept{t: t, o: alone}).try(sqldb.DefaultTuning), sqldb.CodePermission,
		"target_session_attrs=read-write")
	alone.ReadOnly = true
	findings := must.Get(mustOpen(t, alone).Health(t.Context()))(t)
	if last := findings[len(findings)-1]; last.OK || !strings.Contains(last.Value.String(), "standby") ||
		!strings.Contains(last.Hint.String(), "target_session_attrs=read-write") {
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
		if last := findings[len(findings)-1]; !last.OK || !strings.Contains(last.Value.String(), "(timeline 1)") {
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
	promote(t, replica)
	k.open() // one host, whose journal is in step
	k.send("b", 1)
}

// A fail-over loses what no commit waited for; check says so before it happens.
func TestReplicasThatNoCommitWaitsForAreNamed(t *testing.T) {
	primary, k := onServer(t)
	asynchronous := func() int64 {
		t.Helper()
		for _, f := range must.Get(k.s.Health(t.Context()))(t) {
			if f.Name == "replicas" {
				n, _ := f.Value.Args["count"].(json.Number).Int64()
				return n
			}
		}
		return 0
	}
	if n := asynchronous(); n != 0 {
		t.Errorf("%d replicas where there is none", n)
	}
	primary.Replica(t)
	primary.CatchUp(t)
	if n := asynchronous(); n != 1 {
		t.Errorf("%d asynchronous replicas, want 1", n)
	}
	waitFor := func(replicas string) {
		t.Helper()
		must.Get(k.s.db.Write.ExecContext(t.Context(), `ALTER SYSTEM SET synchronous_standby_names = '`+replicas+`'`))(t)
		must.Get(k.s.db.Write.ExecContext(t.Context(), `SELECT pg_reload_conf()`))(t)
	}
	waitFor("*")
	k.close()
	k.open() // a session reads the settings before its next statement at the latest
	k.send("a", 1)
	if n := asynchronous(); n != 0 {
		t.Errorf("%d asynchronous replicas, and commits wait for it", n)
	}
	waitFor("") // else the end of this test waits for the replica, which is removed first
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

func TestACopyRestoredOnAnotherServerIsNoticed(t *testing.T) {
	from, k := onServer(t)
	k.send("a", 3)
	k.close()
	dsn := pgtest.Database(t) // of another initdb
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
		!strings.Contains(last.Hint.String(), "state rebind") {
		t.Errorf("%+v, %v", last, err)
	}
	must.Get(Rebind(t.Context(), k.o, RebindOrder{Apply: true}, rebindAct))(t)
	k.open()
	k.send("b", 1)
}

func TestALedgerOfAnOlderProgramTakesThePresentServer(t *testing.T) {
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

func TestWhatTheRoleMayNotReadIsSaidAndTheRestIsCompared(t *testing.T) {
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
		!strings.Contains(last.Hint.String(), "GRANT EXECUTE ON FUNCTION pg_control_system()") {
		t.Errorf("%+v, %v", last, err)
	}
	k.close()
	replica := c.Replica(t)
	c.CatchUp(t)
	replica.TakeOver(t, c)
	wantCode(t, k.try(sqldb.DefaultTuning), sqldb.CodeServer)
}

// Answers that came while the server was away are only in the journal until the service stores them.
// That is no older ledger: nothing that was sent is missing.
func TestAnswersThatWereKeptWhileTheServerWasAwayAreNoOlderLedger(t *testing.T) {
	server, k := onServer(t)
	second := *k // another process of this host
	second.open()
	lease := mustLease(t, k.s, "contracts")
	entries := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
	flying := []trade.Attempt{mustSend(t, k.s, lease, entries[0]), mustSend(t, k.s, lease, entries[1])}
	server.Stop(t)
	for i, s := range []*Store{k.s, second.s} {
		if _, err := s.Commit(t.Context(), lease, trade.Group{At: at, Settle: []trade.Settlement{
			created(flying[i], "remote-"+entries[i].Key),
		}}); err == nil {
			t.Fatal("it was stored")
		}
	}
	server.Start(t)
	k.connected()
	reading := k.o
	reading.ReadOnly = true
	report, err := mustOpen(t, reading).JournalReport(t.Context(), k.o.Journal)
	if err != nil || !report.Unfinished {
		t.Errorf("%+v, %v", report, err)
	}
	k.close()
	second.close()
	k.open()
	for _, e := range entries {
		if now := mustEntry(t, k.s, "contracts", e.Key); now.State != trade.Accepted {
			t.Errorf("%s is %s", e.Key, now.State)
		}
	}
	if got := k.s.Opening(); got.Settled != 2 {
		t.Errorf("opening: %+v", got)
	}
	mustAddUp(t, k.s, "contracts")
}
