package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// F072, F083: the service is ready after its checks, serves, tells the watchdog, and ends on
// SIGTERM when what is in flight has been answered. Its successor, such as a newer version, goes
// on where it stopped, and sends nothing twice.
func TestF083TheServiceEndsWithWhatIsOnTheWireAndItsSuccessorGoesOn(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		s := newService(t, on, true)
		s.launch()
		if ready := s.until("READY=1"); !strings.Contains(ready, "STATUS=serving 1 job;") {
			t.Errorf("ready: %q", ready)
		}
		s.posted()
		s.until("WATCHDOG=1")
		if job := s.job("contracts"); job.State != trade.Running || len(job.Services) != 1 || !job.Services[0].Alive ||
			job.Services[0].PID != s.process.Process.Pid {
			t.Errorf("status: %s, %+v", job.State, job.Services)
		}
		s.must(75, "sync", "contracts")
		if on == state.SQLite {
			if out := s.must(1, "run"); !strings.Contains(out, "serves") {
				t.Errorf("a second service: %s", out)
			}
		}
		s.signal(syscall.SIGTERM)
		s.until("STOPPING=1")
		s.signal(syscall.SIGTERM) // a second one loses nothing either
		s.line("the second signal", func(l logLine) bool { return strings.HasPrefix(l.Msg, "already stopping") })
		s.hold <- struct{}{}
		if code := s.ended(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		job := s.job("contracts")
		if job.States[trade.Accepted] != 1 || job.States[trade.Pending] != 1 || job.State != trade.Stopped ||
			job.Stop.Code != "interrupted" || len(job.Services) != 0 {
			t.Errorf("after SIGTERM: %s %+v %v, services %+v", job.State, job.Stop, job.States, job.Services)
		}
		s.start()
		s.posted()
		s.hold <- struct{}{}
		s.line("the rest", func(l logLine) bool { return l.Msg == "run" && l.Sent == 1 })
		s.stop()
		if n := len(s.box.CreatedOf()); n != 2 {
			t.Errorf("%d records on the platform, want 2", n)
		}
	})
}

// While a run goes on, its end is null, and status says how far it is.
func TestARunInFlightSaysHowManyOfItsRowsAreSent(t *testing.T) {
	s := newService(t, state.SQLite, true)
	s.start()
	s.posted()
	s.hold <- struct{}{}
	s.posted()
	out := s.must(0, "status", "--json")
	run := s.job("contracts").LastRun
	if !strings.Contains(out, `"ended_at":null`) || run.Sent != 2 || run.RowsSent() != 2 {
		t.Errorf("sent %d, %d rows: %s", run.Sent, run.RowsSent(), out)
	}
	if out := s.must(0, "status"); !strings.Contains(out, "1 of 2 sent") || strings.Contains(out, "interrupted") {
		t.Errorf("status for people:\n%s", out)
	}
	s.hold <- struct{}{}
	s.ran()
	s.stop()
}

// F071, F074: after a kill in the middle nothing says that the job runs for ever; the next start
// puts the row that was in flight in doubt and goes on.
func TestF074AKilledServiceIsNotSaidToRun(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		s := newService(t, on, true)
		s.start()
		s.posted()
		must.Do(t, s.process.Process.Kill())
		s.ended()
		job := s.job("contracts")
		if job.State != trade.Stopped || job.Stop == nil || job.Stop.Code != "process_gone" || len(job.Services) != 1 ||
			job.Services[0].Alive {
			t.Errorf("status after the kill: %s %+v, services %+v", job.State, job.Stop, job.Services)
		}
		if out := s.must(0, "status"); !strings.Contains(out, "is gone") || !strings.Contains(out, "not running") ||
			!strings.Contains(out, "interrupted: its process is gone") {
			t.Errorf("status for people:\n%s", out)
		}
		s.start()
		s.posted()
		s.hold <- struct{}{} // the one that was killed
		s.hold <- struct{}{}
		s.line("the rest", func(l logLine) bool { return l.Msg == "run" && l.Sent == 1 })
		job = s.job("contracts")
		if job.States[trade.Accepted] != 1 || job.States[trade.InDoubt] != 1 || !job.Services[0].Alive ||
			len(job.Services) != 1 {
			t.Errorf("after the restart: %v, services %+v", job.States, job.Services)
		}
		s.stop()
	})
}

// The service manager shows one cause once, with the jobs that it stops.
func TestACauseOfSeveralJobsIsSaidOnce(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.configure(s.file, "\njobs:\n", `
jobs:
  deliveries:
    sends: deliveries
    schedule: "@every 1s"
    query: SELECT filial, num, quantidade, emissao FROM contrato
    key: [filial, num]
    fields:
      contract_id: {column: [filial, num], sent_by: contracts}
      delivered_volume: quantidade
      delivered_volume_unit_of_measure: {const: kg}
      delivery_date: {column: emissao, date: YYYYMMDD}
`)
	s.box.SetAPIKey("renewed-key")
	s.start()
	s.until("STATUS=contracts stopped, deliveries stopped: the API refused the key")
	s.stop()
}

// F082: a wrong configuration is refused with its line, and everything goes on; a right one is in
// force at once, with its new secret.
func TestF082AReloadWithAnErrorKeepsTheOldConfiguration(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.box.SetAPIKey("renewed-key")
	s.start()
	if l := s.ran(); l.Stopped != "api_key" {
		t.Errorf("with an expired key: %s", l.raw)
	}
	s.until("STATUS=", "contracts stopped: the API refused the key")
	inForce := func(want int) { // C15: what is in force stands in the audit, once
		t.Helper()
		if n := strings.Count(s.must(0, "report", "--audit", "--json"), `"act":"config"`); n != want {
			t.Errorf("the audit tells of %d configurations, want %d", n, want)
		}
	}
	inForce(1)

	good := s.read("config.yaml")
	for _, wrong := range []struct{ old, replacement, told string }{
		{"    key: [filial, num]", "    keys: [filial, num]", "keys"},
		{"rate_limit: 0", "rate_limit: fast", "rate_limit"},
		{"jobs:", "jobs: [", "config.yaml"},
		{"dsn: " + s.path("state.db"), "dsn: " + s.path("other.db"), "state: cannot change while the service runs"},
	} {
		s.edit(wrong.old, wrong.replacement)
		s.signal(syscall.SIGHUP)
		s.until("RELOADING=1")
		if status := s.until("READY=1"); !strings.Contains(status, "the old one stays in effect") ||
			!strings.Contains(status, wrong.told) {
			t.Errorf("with %s the service manager is told %q", wrong.replacement, status)
		}
		s.line("the refusal", func(l logLine) bool {
			return l.Level == "error" && strings.Contains(l.Error, wrong.told)
		})
		s.write("config.yaml", good)
	}
	s.write("config.yaml", good)
	inForce(1)
	s.edit("jobs:\n",
		"jobs:\n  more:\n    sends: order_commitments\n    query: SELECT * FROM contrato WHERE num = 'none'\n    key: [filial, num]\n    fields:\n"+fieldsOf(good))
	s.write("credentials/api-key", "renewed-key\n")
	s.signal(syscall.SIGHUP)
	s.until("RELOADING=1")
	if status := s.until("READY=1"); strings.Contains(status, "the old one stays") {
		t.Errorf("after a good reload: %q", status)
	}
	s.line("the new job", func(l logLine) bool { return l.Msg == "run" && l.Job == "more" })
	s.line("the old job with the new key", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	inForce(2)
	s.stop()
	s.start()
	inForce(2)
	s.stop()
	if n := len(s.box.CreatedOf()); n != 2 {
		t.Errorf("%d records on the platform, want 2", n)
	}
}

// What the ERP disproves is refused like any other fault. A job that stopped for a column goes on
// by itself once the configuration, or the ERP, is right.
func TestAReloadRefusesWhatTheERPDisprovesAndTheRightOneGoesOnByItself(t *testing.T) {
	s := newService(t, state.SQLite, false)
	good := s.read("config.yaml")
	s.edit("carteira", "carteiro")
	s.start()
	if l := s.ran(); l.Stopped != "columns" {
		t.Errorf("with a column that is not there: %s", l.raw)
	}
	s.write("config.yaml", good)
	s.signal(syscall.SIGHUP)
	s.until("RELOADING=1")
	s.until("READY=1")
	s.line("the rows, without an act of a person", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	s.edit("carteira", "carteiro")
	s.signal(syscall.SIGHUP)
	s.until("RELOADING=1")
	if status := s.until("READY=1"); !strings.Contains(status, "the old one stays in effect") ||
		!strings.Contains(status, "carteiro") {
		t.Errorf("the service manager is told %q", status)
	}
	s.line("a run under the old configuration", func(l logLine) bool { return l.Msg == "run" && l.Stopped == "" })
	s.sql("erp.db", `UPDATE contrato SET pagto = '2026-06-20' WHERE num = '000003'`)
	s.line("a new row under the old configuration", func(l logLine) bool { return l.Msg == "run" && l.Sent == 1 })
	s.stop()
}

// fieldsOf copies the fields of the only job.
func fieldsOf(config string) string {
	_, fields, _ := strings.Cut(config, "    fields:\n")
	return fields
}

// A reload while a request is in flight waits for its answer; the run ends there and begins
// again.
func TestAReloadEndsARunWithWhatIsOnTheWire(t *testing.T) {
	s := newService(t, state.SQLite, true)
	s.start()
	s.posted()
	s.edit("rate_limit: 0", "rate_limit: 50")
	s.signal(syscall.SIGHUP)
	s.line("the reload", func(l logLine) bool { return strings.HasPrefix(l.Msg, "the new configuration is in force") })
	s.hold <- struct{}{}
	if l := s.ran(); l.Stopped != "interrupted" {
		t.Errorf("the run under the old configuration: %s", l.raw)
	}
	s.posted()
	s.hold <- struct{}{}
	s.line("the rest", func(l logLine) bool { return l.Msg == "run" && l.Sent == 1 })
	s.stop()
	if n := len(s.box.CreatedOf()); n != 2 {
		t.Errorf("%d records on the platform, want 2", n)
	}
}

// A job that gets another name by a reload is paused before anything of it is recorded; its rows
// follow it by an act beside the service, and nothing is sent a second time.
func TestAJobThatIsRenamedByAReloadSendsNothingAgain(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.start()
	s.line("the rows", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	s.edit("jobs:\n  contracts:\n", "jobs:\n  contratos:\n")
	s.signal(syscall.SIGHUP)
	s.line("the renamed job", func(l logLine) bool {
		return l.Msg == "run" && l.Job == "contratos" && l.Stopped == "brake_new_job"
	})
	if job := s.job("contratos"); job.State != trade.Paused || len(job.States) != 0 {
		t.Errorf("job %+v", job)
	}
	s.must(0, "job", "move", "contracts", "contratos", "--reason", "it has another name", "--yes")
	s.line("the rows under the new name",
		func(l logLine) bool { return l.Msg == "run" && l.Job == "contratos" && l.Stopped == "" })
	if job := s.job("contratos"); job.States[trade.Accepted] != 2 || len(s.posts) != 2 {
		t.Errorf("%v after %d POSTs, want 2 accepted and 2 POSTs", job.States, len(s.posts))
	}
	s.stop()
}

// The address that a reload brings counts as the one of a start: nothing is sent there until a
// person has said that it is the same platform.
func TestAReloadToAnotherPlatformSendsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		s := newService(t, on, false)
		s.start()
		s.line("the rows", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
		s.edit("http://127.0.0.1:", "http://localhost:")
		s.signal(syscall.SIGHUP)
		s.until("STATUS=contracts stopped: this ledger has sent to http://127.0.0.1:")
		if job := s.job("contracts"); job.State != trade.Stopped || job.Stop == nil || job.Stop.Code != "platform" {
			t.Errorf("%+v", job)
		}
		s.sql("erp.db", `UPDATE contrato SET pagto = '2026-06-20' WHERE num = '000003'`)
		s.must(2, "state", "rebind")
		s.must(0, "state", "rebind", "--yes", "--reason", "the platform has a new name")
		s.signal(syscall.SIGHUP)
		s.line("the new row", func(l logLine) bool { return l.Msg == "run" && l.Sent == 1 })
		s.stop()
		if n := len(s.box.CreatedOf()); n != 3 {
			t.Errorf("%d records on the platform, want 3", n)
		}
	})
}

// An ERP that is not there keeps the service from nothing but its work: it is ready, says so, and
// works when the ERP is back.
func TestAnERPThatIsDownKeepsTheServiceFromNothing(t *testing.T) {
	s := newService(t, state.SQLite, false)
	must.Do(t, os.Rename(s.path("erp.db"), s.path("away.db")))
	s.launch()
	if ready := s.until("READY=1"); !strings.Contains(ready, "STATUS=ERP:") {
		t.Errorf("ready: %q", ready)
	}
	if l := s.ran(); l.Stopped != "erp" {
		t.Errorf("the first run: %s", l.raw)
	}
	s.until("STATUS=contracts stopped: the ERP cannot be read")
	must.Do(t, os.Rename(s.path("away.db"), s.path("erp.db")))
	s.signal(syscall.SIGHUP)
	s.line("the rows", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	s.until("STATUS=serving 1 job;")
	s.stop()
}

// A service that starts while the ledger's server is away waits for it, however long that takes, says
// so, and can be ended.
func TestAServiceWaitsForALedgerWhoseServerIsAway(t *testing.T) {
	s := newService(t, state.Postgres, false)
	server := pgtest.Server(t)
	dsn := server.Database(t)
	s.edit(s.ledger.DSN, dsn)
	s.edit(s.path("journal"), s.path("other"))
	must.Do(t, os.Mkdir(s.path("other"), 0o700))
	s.must(0, "state", "new")
	server.Stop(t)
	s.launch()
	s.until("READY=1", "STATUS=waits for the ledger: ")
	server.Start(t)
	s.ran()
	s.stop()
	server.Stop(t)
	s.launch()
	s.until("STATUS=waits for the ledger: ")
	s.stop()
}

// A service that starts on a ledger that lacks what this host's own journal has waits, and goes on when
// a person has brought it back.
func TestAServiceWaitsForALedgerThatLacksWhatItsJournalHas(t *testing.T) {
	s := newService(t, state.Postgres, false)
	s.must(0, "sync")
	db := must.Get(sql.Open("postgres", s.ledger.DSN))(t)
	must.Get(db.Exec(`UPDATE journal SET seq = 0`))(t)
	// A host has found that it went back: that is one cause, and check has one advice.
	must.Get(db.Exec(`UPDATE ledger SET asked = 'back ' || server`))(t)
	out := s.must(1, "check")
	if strings.Count(out, "✗") != 1 || !strings.Contains(out, "✗ journal") ||
		!strings.Contains(out, "safrasync rebuild") {
		t.Errorf("check says\n%s", out)
	}
	must.Get(db.Exec(`UPDATE ledger SET asked = ''`))(t)
	must.Do(t, db.Close())
	s.launch()
	s.until("READY=1", "STATUS=waits for the ledger: ")
	s.must(0, "rebuild", "--reason", "an older copy", "--yes")
	s.ran()
	s.stop()
}

// The same with a ledger in a file: while the service waits, whoever brings the ledger back has it alone.
func TestAServiceWaitsForALedgerInAFileThatIsOlderThanItsJournal(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.must(0, "sync", "--record-only")
	s.must(0, "backup", s.path("old.db"))
	s.must(0, "sync")
	for _, back := range [][]string{{"rebuild"}, {"restore", s.path("restore.db")}} {
		s.must(0, "backup", s.path(back[0]+".db"))
		s.must(0, "restore", s.path("old.db"), "--reason", "an older copy", "--yes")
		s.launch()
		s.until("READY=1", "STATUS=waits for the ledger: ")
		if out := s.must(1, "check"); !strings.Contains(out, "safrasync rebuild") {
			t.Errorf("check says\n%s", out)
		}
		s.must(0, append(back, "--reason", "all that was sent", "--yes")...)
		s.ran()
		s.stop()
	}
	if posts := len(s.posts); posts != 2 {
		t.Errorf("%d POSTs, want those of the first pass", posts)
	}
}

// A pause from the command line holds while the service runs; a run by hand beside it is no trouble
// to it.
func TestActsOfPeopleBesideTheService(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.start()
	s.line("the rows", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	s.must(0, "pause", "contracts", "--reason", "balance")
	s.until("STATUS=contracts paused")
	s.sql("erp.db", `UPDATE contrato SET carteira = '10', pagto = '2026-06-15'`)
	s.must(1, "sync", "contracts")
	if job := s.job("contracts"); job.State != trade.Paused || job.States[trade.Accepted] != 2 {
		t.Errorf("while it is paused: %s, %v", job.State, job.States)
	}
	s.must(0, "resume", "contracts", "--reason", "done")
	s.line("the other rows", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	var summary struct{ Runs []trade.RunReport }
	for { // a run every second may be in the way
		cmd := s.command("sync", "contracts", "--json")
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code == cli.ExitLeased {
			continue
		} else if code != 0 {
			t.Fatalf("sync beside the service: %v", err)
		}
		if err := json.Unmarshal(out, &summary); err != nil || summary.Runs[0].States[trade.Accepted] != 4 {
			t.Fatalf("sync beside the service: %s, %v", out, err)
		}
		break
	}
	s.rest()
	s.ran()
	s.stop()
}

// What does not let the service start has its exit code, and the service manager is told why.
func TestWhatDoesNotLetTheServiceStart(t *testing.T) {
	s := newService(t, state.SQLite, false)
	good := s.read("config.yaml")
	s.edit("    sends: order_commitments", "    sends: orders")
	s.launch()
	if told := s.until("STOPPING=1"); !strings.Contains(told, "jobs.contracts.sends") {
		t.Errorf("told %q", told)
	}
	if code := s.ended(); code != cli.ExitConfig {
		t.Errorf("a wrong configuration: exit code %d", code)
	}
	s.must(cli.ExitConfig, "check", "--offline")
	s.write("config.yaml", good)
	s.must(0, "check", "--offline")
	s.write("state.db", "this is no ledger")
	s.launch()
	s.until("STOPPING=1")
	if code := s.ended(); code != cli.ExitFailed {
		t.Errorf("a wrong ledger: exit code %d", code)
	}
}

// Before a start, `check --offline` needs no network: not that of the ERP, of the API, or of a
// ledger on PostgreSQL.
func TestTheCheckBeforeAStartNeedsNoNetwork(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		s := newService(t, state.SQLite, false)
		s.edit(s.box.URL, "https://platform.invalid")
		s.edit("driver: sqlite\n  dsn: "+s.path("erp.db"), "driver: postgres\n  dsn: postgres://erp.invalid/coop")
		s.must(0, "check", "--offline")
		s.sql("state.db", `ALTER TABLE safrasync_migration RENAME TO safrasync_schema`)
		if out := s.must(1, "check", "--offline"); !strings.Contains(out, "before the first release") {
			t.Errorf("a ledger of a former form:\n%s", out)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		s := newService(t, state.Postgres, false)
		_, rest, _ := strings.Cut(s.read("config.yaml"), "driver: postgres\n  dsn: ")
		dsn, _, _ := strings.Cut(rest, "\n")
		s.edit(dsn, "postgres://ledger.invalid/state")
		if out := s.must(0, "check", "--offline"); !strings.Contains(out, "--offline does not open it") {
			t.Errorf("a ledger elsewhere:\n%s", out)
		}
	})
}

// A ledger that somebody has moved away, or overwritten, under the service: status fails, and says
// that the service still works on the file it began with.
func TestStatusSaysThatTheServiceStillWorksOnALedgerThatIsGone(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.start()
	s.ran()
	for _, replace := range []func(){
		func() {
			must.Do(t, os.Rename(s.path("state.db"), s.path("moved.db")))
		},
		func() {
			s.write("state.db", "this is no ledger, and it is longer than the header of one is: "+
				strings.Repeat("x", 200))
		},
	} {
		replace()
		var said strings.Builder
		cmd := s.command("status")
		cmd.Stderr = &said
		if err := cmd.Run(); err == nil ||
			!strings.Contains(said.String(), fmt.Sprintf("is still working (process %d)", s.process.Process.Pid)) {
			t.Errorf("status: %v\n%s", err, said.String())
		}
	}
	must.Do(t, os.Rename(s.path("moved.db"), s.path("state.db")))
	s.stop()
}
