package sync_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// absentBench is a bench with the brake of absence alone, and children.
func absentBench(t *testing.T, db database) *bench {
	t.Helper()
	b := withChildren(newBenchOn(t, db, sandbox.Options{}))
	b.brakes = run.Brakes{Absence: run.Absence}
	// a machine that has run for long: a clock that is put back by a day is after its start all the same
	b.clock.boot = func() time.Duration { return 1000*time.Hour + b.clock.system.Boot() }
	return b
}

var images atomic.Int64

// image copies ledger and journal, as an image of the whole machine does. The returned function puts
// the copy back; ERP and platform go on.
func (b *bench) image() (putBack func()) {
	b.t.Helper()
	swap := b.disk()
	return func() {
		b.t.Helper()
		must.Do(b.t, b.ledger.Close())
		swap()
		must.Do(b.t, b.reopenLedger(b.options()))
	}
}

// disk is image for a ledger that is closed, and stays so, when the copy is put back.
func (b *bench) disk() (putBack func()) {
	b.t.Helper()
	must.Do(b.t, b.ledger.Close())
	copies := b.t.TempDir()
	swap := func(from, to string) {
		must.Do(b.t, os.RemoveAll(filepath.Join(to, "journal")))
		must.Do(b.t, os.CopyFS(filepath.Join(to, "journal"), os.DirFS(filepath.Join(from, "journal"))))
		if b.parts.DB.Ledger == state.SQLite {
			ledger := must.Get(os.ReadFile(filepath.Join(from, "state.db")))(b.t)
			must.Do(b.t, os.WriteFile(filepath.Join(to, "state.db"), ledger, 0o600))
		}
	}
	swap(b.dir, copies)
	name, copied := "", ""
	if b.parts.DB.Ledger == state.Postgres {
		db := must.Get(sqlx.Open("postgres", b.parts.LedgerDSN))(b.t)
		must.Do(b.t, db.Get(&name, `SELECT current_database()`))
		must.Do(b.t, db.Close())
		copied = fmt.Sprintf("image_%d_%s", images.Add(1), name)
		b.server(fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", copied, name))
		b.t.Cleanup(func() { b.server("DROP DATABASE " + copied) })
	}
	must.Do(b.t, b.reopenLedger(b.options()))
	return func() {
		b.t.Helper()
		swap(copies, b.dir)
		if copied != "" {
			b.server("DROP DATABASE "+name+" WITH (FORCE)", fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, copied))
		}
	}
}

// server runs statements on the server of the bench's databases.
func (b *bench) server(statements ...string) {
	b.t.Helper()
	db := must.Get(sqlx.Open("postgres", b.parts.ERPDSN))(b.t)
	for _, s := range statements {
		must.Get(db.Exec(s))(b.t)
	}
	must.Do(b.t, db.Close())
}

// serves makes this process a service, with its heartbeat.
func (b *bench) serves() {
	b.t.Helper()
	must.Do(b.t, b.ledger.Announce(b.t.Context(), "test", b.clock.Now()))
	must.Do(b.t, b.ledger.StillServing(b.t.Context(), b.clock.Now(), run.Absence))
}

// starts is a start of the service: its heartbeat, and a pass over all jobs in a process of its own. It
// returns how many records it made, and the stop of each job.
func (b *bench) starts() (made int, stops map[string]string) {
	b.t.Helper()
	b.serves()
	defer func() { must.Do(b.t, b.ledger.Withdraw(b.t.Context())) }()
	return b.passes()
}

// passes is a pass over all jobs without a service.
func (b *bench) passes() (made int, stops map[string]string) {
	b.t.Helper()
	before := len(b.api.CreatedOf())
	stops = map[string]string{}
	for job, r := range b.pass() {
		if r.Stopped != nil {
			stops[job] = r.Stopped.Code
		}
	}
	return len(b.api.CreatedOf()) - before, stops
}

// makes checks how many records a start or a pass makes, and which jobs stop.
func (b *bench) makes(run func() (int, map[string]string), want int, wantStops map[string]string) {
	b.t.Helper()
	if made, stops := run(); made != want || !sameStops(stops, wantStops) {
		b.t.Fatalf("%d made, %v; want %d, %v", made, stops, want, wantStops)
	}
}

var allAbsent = map[string]string{
	"contracts": "brake_absent", "deliveries": "brake_absent", "traceability": "brake_absent",
}

// An image of the whole machine is put back while ERP and platform went on. What was pending in it,
// and what is new since, was sent by the machine that is gone: nothing of it goes again.
func TestAnOldImageOfTheMachineSendsNothing(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		step := 1
		if db.Ledger == state.Postgres && !long {
			step = 5
		}
		for i := 0; i < 20; i += step {
			// the first are a moment older than may be, the last one a month
			age := run.Absence + time.Second<<i
			t.Run(age.String(), func(t *testing.T) {
				b := absentBench(t, db)
				b.contracts(2)
				b.delivery(1, 1, 10)
				b.makes(b.starts, 3, nil)
				b.contract(3) // known and to be sent, in the image
				b.run(engine.Options{RecordOnly: true})
				putBack := b.image()
				b.contract(4)
				b.delivery(2, 3, 10)
				b.makes(b.starts, 3, nil)
				putBack()
				b.clock.advance(age)
				for range 3 { // a start, and what it reads, is no sign of life
					b.makes(b.starts, 0, allAbsent)
					b.clock.advance(time.Minute)
				}
				if e := b.entry(4); e.State != trade.Pending {
					t.Errorf("what the ERP has is not recorded: %s", e.State)
				}
				b.once()
			})
		}
	})
}

func sameStops(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// After a normal restart, also one that took almost two hours, what waits goes at once.
func TestARestartSendsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		b.contract(1)
		b.starts()
		for i, off := range []time.Duration{
			time.Second, time.Minute, time.Hour, run.Absence - time.Minute, -26 * time.Hour,
		} {
			b.contract(i + 2)
			must.Do(t, b.reopenLedger(b.options()))
			b.clock.advance(off)
			b.makes(b.starts, 1, nil)
		}
		b.once()
	})
}

// A ledger that nobody has used yet is new, however long ago it was made; one that was read, and has
// sent nothing, may be an old copy all the same.
func TestAnAbsenceOfALedgerThatNeverSent(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		b.contracts(2)
		b.clock.advance(72 * time.Hour)
		b.serves()
		b.wants(b.run(engine.Options{RecordOnly: true}), "stop none")
		b.clock.advance(3 * time.Hour)
		b.makes(b.starts, 0, allAbsent)
	})
}

// Where no service runs, a timer or a person starts each pass, also after a long weekend. An image of
// a week is noticed all the same.
func TestPassesWithoutAServiceAreSignsOfLife(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		for pass, later := range []time.Duration{24 * time.Hour, 10 * time.Minute, 24 * time.Hour, 110 * time.Hour} {
			b.contract(pass + 1)
			b.makes(b.passes, 1, nil)
			b.clock.advance(later)
		}
		b.contract(5) // the first service of this ledger
		b.makes(b.starts, 1, nil)
		b.clock.advance(time.Hour)
		b.passes()
		putBack := b.image()
		b.contract(6)
		b.passes()
		putBack()
		b.clock.advance(7 * 24 * time.Hour)
		b.makes(b.passes, 0, allAbsent)
		b.once()
	})
}

// A brake of all jobs is the ledger's: a job that was configured after the image takes it over, and
// goes on with the release of the others.
func TestAJobThatIsAddedUnderABrakeOfAllJobsIsBraked(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		today := b.more
		b.more = nil
		b.contracts(2)
		b.starts()
		putBack := b.image()
		b.more = today[:1]
		b.delivery(1, 1, 10)
		b.makes(b.starts, 1, nil)
		putBack()
		b.clock.advance(3 * time.Hour)
		b.more = nil // the image has the configuration of then, too
		b.starts()
		b.more = today[:1]
		want := map[string]string{"contracts": "brake_absent", "deliveries": "brake_absent"}
		for range 2 {
			b.makes(b.starts, 0, want)
		}
		if names := must.Get(b.ledger.Jobs(t.Context()))(t); slices.Contains(names, "") {
			t.Errorf("the ledger itself counts as a job: %q", names)
		}
		if plan := b.release("contracts"); !plan.Done || fmt.Sprint(plan.Release.Also) != "[deliveries]" {
			t.Fatalf("the release: %+v", plan)
		}
		b.more = today // what is configured after the release is braked by nobody
		if _, stops := b.starts(); len(stops) > 0 {
			t.Errorf("after the release: %v", stops)
		}
	})
}

// The journal knows of a brake: a ledger that is lost under it comes back with it, also for a job that
// is new. A ledger that is rebuilt before anybody noticed has the end of its journal as sign of life.
func TestARebuiltLedgerKeepsTheBrakeOfAllJobs(t *testing.T) {
	for name, noticed := range map[string]bool{"the brake stood": true, "rebuilt at once": false} {
		t.Run(name, func(t *testing.T) {
			b := absentBench(t, databases[0])
			b.contracts(2)
			b.starts()
			putBack := b.image()
			b.contract(3)
			b.delivery(1, 1, 10)
			b.starts()
			putBack()
			b.clock.advance(7 * 24 * time.Hour)
			if today := b.more; noticed {
				b.more = today[:1]
				b.starts()
				b.more = today
			}
			b.rebuilt()
			for range 2 {
				b.makes(b.passes, 0, allAbsent)
			}
			b.once()
		})
	}
}

// Who stops the service to compare the platform for an afternoon, and releases, starts it when the
// comparison is done.
func TestAReleaseOfAnAbsenceHoldsFromThenOn(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		b.contract(1)
		b.starts()
		b.clock.advance(60 * time.Hour)
		b.contract(2)
		b.starts()
		b.clock.advance(3 * time.Hour)
		b.release("contracts")
		b.clock.advance(time.Hour)
		b.makes(b.starts, 1, nil)
	})
}

// After a long weekend one release lets all jobs go on, each as it was before: a job that a person
// had paused stays so.
func TestOneReleaseAfterALongWeekend(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		b.contract(1)
		b.starts()
		people := b.acts()
		b.orderJob(people.Pause(t.Context(), "traceability", maria))
		b.clock.advance(86 * time.Hour)
		b.contract(2)
		b.delivery(1, 2, 10)
		made, stops := b.starts()
		if made != 0 || stops["contracts"] != "brake_absent" || stops["deliveries"] != "brake_absent" {
			t.Fatalf("after the weekend: %d made, %v", made, stops)
		}
		plan := must.Get(b.acts().Release(t.Context(), "deliveries"))(t)
		if !plan.Unchecked() || plan.Release.Exists.Until == nil || plan.Release.Exists.Rows != 1 ||
			fmt.Sprint(plan.Release.Also) != "[contracts traceability]" {
			t.Errorf("the plan says %+v", plan.Release)
		}
		if done := b.release("deliveries"); !done.Done {
			t.Fatalf("the release: %+v", done)
		}
		made, stops = b.starts()
		if made != 2 || !sameStops(stops, map[string]string{"traceability": "paused"}) {
			t.Errorf("after the release: %d made, %v", made, stops)
		}
		status := must.Get(b.ledger.JobStatus(t.Context(), "traceability"))(t)
		if status.State != trade.Paused || status.Stop.Code != "paused" {
			t.Errorf("the job that a person had paused: %+v", status)
		}
		if again := must.Get(b.acts().Release(t.Context(), "contracts"))(t); again.Refused != acts.NothingBraked {
			t.Errorf("a second release: %s", again.Refused)
		}
	})
}

// Another brake that held a job before the absence holds it again after its release.
func TestABrakeBeforeAnAbsenceHoldsAfterIt(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		b.contract(1)
		b.starts()
		b.brakes.NewRows, b.brakes.NewRowsLeast = 3, 4
		for n := range 9 {
			b.contract(n + 2)
		}
		if made, stops := b.starts(); made != 0 || stops["contracts"] != "brake_new_rows" {
			t.Fatalf("%d made, %v", made, stops)
		}
		b.clock.advance(3 * time.Hour)
		if made, stops := b.starts(); made != 0 || stops["deliveries"] != "brake_absent" {
			t.Fatalf("%d made, %v", made, stops)
		}
		b.release("contracts")
		b.makes(b.starts, 0, map[string]string{"contracts": "brake_new_rows"})
		b.release("contracts")
		b.makes(b.starts, 9, nil)
	})
}

// While another machine of a cluster sends, or a service is only idle, nobody is absent.
func TestNobodyIsAbsentWhileAnotherMachineLives(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := absentBench(t, db)
		b.contract(1)
		b.starts()
		for range 5 { // the service has nothing to do, for half a day; it says that it lives
			b.clock.advance(100 * time.Minute)
			b.serves()
		}
		b.contract(2)
		b.makes(b.starts, 1, nil)
		if db.Ledger == state.Postgres {
			other := machineOn(b, "other")
			for range 3 {
				b.clock.advance(100 * time.Minute)
				other.bench.starts()
			}
			b.contract(3)
			b.makes(b.starts, 1, nil)
		}
		b.clock.advance(3 * time.Hour)
		b.serves() // a start is no sign of life
		b.contract(4)
		b.makes(b.starts, 0, allAbsent)
	})
}

// The service reads and records on its schedules while the brake holds, and sends after the release.
func TestTheServiceRecordsWhileItWasAbsent(t *testing.T) {
	inOffice(t, saoPaulo, "2026-11-20 18:00", func(o *office) {
		o.brakes = run.Brakes{Absence: run.Absence}
		o.schedules("*/10 * * * *", "*/10 * * * *", "*/10 * * * *")
		o.contract(1)
		o.config.AtStart = true
		o.serves()
		o.open()
		o.row("contracts", "01|0001", trade.Accepted, "")
		o.serves()
		o.stop()
		o.pass(62 * time.Hour)
		o.contract(2)
		o.open()
		o.row("contracts", "01|0002", trade.Pending, "")
		o.contract(3)
		o.pass(3 * time.Hour)
		o.row("contracts", "01|0003", trade.Pending, "")
		o.stands("contracts", trade.Paused, "brake_absent")
		o.release("contracts")
		o.pass(20 * time.Minute)
		for _, key := range []string{"01|0002", "01|0003"} {
			o.row("contracts", key, trade.Accepted, "")
		}
		o.once()
	})
}
