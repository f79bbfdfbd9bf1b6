package sync_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// The year 2018 in São Paulo, which had two changes of daylight saving time: midnight of 4 November
// did not exist, and 23:30 of 17 February came twice.
var saoPaulo, _ = time.LoadLocation("America/Sao_Paulo")

// F077, F078, F126: a year of a cooperative on a simulated clock: three jobs on their own
// schedules, an ERP that is edited, answers that are lost, late or refused, outages of hours, a key
// that is refused for a day, clocks that are set wrong, and a person who looks at what needs one
// each workday. After each month it adds up, nothing is on the platform twice, and nothing is lost.
// The short form has 36 days, with months of three days, in which all of it happens too.
func TestAYearAddsUpAndLosesNothing(t *testing.T) {
	t.Parallel()
	seeds, days := uint64(1), 36
	if long {
		seeds, days = 24, 365
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			liveAYear(t, seed, days)
		})
	}
}

// The same seed gives the same history, but for the seconds, which the jitter of retries leaves to
// chance: what a year finds can be looked at again.
func TestASeedHasOneHistory(t *testing.T) {
	t.Parallel()
	days := 12
	if long {
		days = 365
	}
	first, second := liveAYear(t, 77, days), liveAYear(t, 77, days)
	if first != second {
		t.Errorf("the same seed gave another history:\n%s",
			cmp.Diff(strings.Split(first, "\n"), strings.Split(second, "\n")))
	}
}

// liveAYear returns the history as text.
func liveAYear(t *testing.T, seed uint64, days int) (history string) {
	t.Helper()
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2018, time.January, 1, 6, 0, 0, 0, saoPaulo)))
		y := &year{office: newOffice(t, saoPaulo, int64(seed)+1), random: rand.New(rand.NewPCG(seed, 2018))}
		y.limits.MaxInFlight = 1 // one at a time, so that a seed has one history
		for field, day := range map[string]string{
			"initial_delivery_date": "2019-02-01", "end_delivery_date": "2019-06-01",
		} {
			y.spec.Fields[field] = mapping.FieldSpec{Const: &day}
		}
		y.schedules("0 0,12 * * *", "30 23 * * *", "CRON_TZ=America/Cuiaba 15 7 * * 1-6")
		y.engine, y.person = y.bench.engine(), y.acts()
		for _, spec := range y.specs() {
			schedule := must.Get(clock.ParseSchedule(spec.Schedule, saoPaulo))(t)
			y.jobs = append(y.jobs, yearJob{spec.Name, schedule, schedule.Next(y.clock.Now())})
		}
		y.live(days)
		history = strings.Join(y.log, "\n")
		t.Logf("seed %d: %d contracts, %d records", seed, y.next, len(y.api.CreatedOf()))
	})
	t.Logf("%s in real time", time.Since(began).Round(time.Millisecond))
	return history
}

// year is an office whose jobs the test itself runs, one pass after the other.
type year struct {
	*office
	random  *rand.Rand
	engine  *engine.Engine
	person  *acts.Acts
	jobs    []yearJob
	events  []yearEvent
	next    int // number of the newest contract
	tickets int
	end     time.Time
	month   time.Duration // how often it is judged: a twelfth of the whole
	log     []string
}

// yearJob is when a job runs.
type yearJob struct {
	name     string
	schedule cron.Schedule
	due      time.Time
}

// yearEvent is something that happens at a time of the simulated clock, whatever the clock on the
// wall says.
type yearEvent struct {
	at   time.Time
	name string
	do   func()
}

// live lets the days pass: what happens, happens at its time, and the jobs run by the clock on the
// wall.
func (y *year) live(days int) {
	start := time.Now()
	y.end = start.Add(time.Duration(days) * 24 * time.Hour)
	y.month = time.Duration(days/12) * 24 * time.Hour
	y.plan(start, days)
	for month := 1; time.Now().Before(y.end) && !y.t.Failed(); {
		y.wait()
		if time.Now().After(start.Add(time.Duration(month) * y.month)) {
			y.judge()
			month++
		}
	}
	y.settle()
}

// wait sleeps until something happens or a job is due, at most an hour: a clock that was set is
// noticed then. A job that missed its time, however often, runs once.
func (y *year) wait() {
	until := time.Hour
	if len(y.events) > 0 {
		until = min(until, time.Until(y.events[0].at))
	}
	for i := range y.jobs {
		j := &y.jobs[i]
		if next := j.schedule.Next(y.clock.Now()); next.Before(j.due) { // the clock was set back
			j.due = next
		}
		until = min(until, j.due.Sub(y.clock.Now()))
	}
	time.Sleep(until)
	for len(y.events) > 0 && !time.Now().Before(y.events[0].at) {
		e := y.events[0]
		y.events = y.events[1:]
		y.note("%s", e.name)
		e.do()
	}
	var due []string
	for i := range y.jobs {
		if j := &y.jobs[i]; !y.clock.Now().Before(j.due) {
			due = append(due, j.name)
			j.due = j.schedule.Next(y.clock.Now())
		}
	}
	if len(due) > 0 {
		y.run(engine.Options{}, due...)
	}
}

// at plans an event.
func (y *year) at(at time.Time, name string, do func()) {
	y.events = append(y.events, yearEvent{at, name, do})
	slices.SortStableFunc(y.events, func(a, b yearEvent) int { return a.at.Compare(b.at) })
}

func (y *year) note(format string, args ...any) {
	y.log = append(y.log, time.Now().In(saoPaulo).Format("2006-01-02 15:04 ")+fmt.Sprintf(format, args...))
}

// run makes a pass, as the schedule or a person orders it.
func (y *year) run(opts engine.Options, jobs ...string) []trade.RunReport {
	y.t.Helper()
	reports, err := y.engine.Sync(y.t.Context(), jobs, opts)
	if err != nil {
		y.t.Fatalf("%v\n%s", err, y.recent())
	}
	line := ""
	for _, r := range reports {
		stop := ""
		if r.Stopped != nil {
			stop = r.Stopped.Code
		}
		line += fmt.Sprintf("[%s: sent %d, %v %s]", r.Job, r.Sent, r.States, stop)
		if slices.Contains([]string{"uneven", "ledger", "erp", "lease", "refs"}, stop) {
			y.t.Errorf("%s stopped: %+v", r.Job, r.Stopped)
		}
		y.adds(r)
	}
	y.note("%s", line)
	return reports
}

func (y *year) recent() string { return strings.Join(y.log[max(0, len(y.log)-40):], "\n") }

// judge looks from outside: I3, I9, and that nothing is lost.
func (y *year) judge() {
	y.t.Helper()
	y.run(engine.Options{Sweep: true})
	y.once()
	y.accounts()
	if y.t.Failed() {
		y.t.Fatalf("after:\n%s", y.recent())
	}
}

// settle lets the world be well again for some days, with the person at work: nothing that may go
// has stayed behind.
func (y *year) settle() {
	y.t.Helper()
	y.events = nil
	y.clearWeather()
	y.exec(`UPDATE contrato SET carteira = '1', pagamento = '2018-12-01', situacao = 'aprovado'`)
	for range 8 {
		time.Sleep(25 * time.Hour)
		y.work()
		y.run(engine.Options{Sweep: true})
	}
	for _, r := range y.run(engine.Options{Sweep: true}) {
		if r.Sent != 0 || r.Stopped != nil {
			y.t.Errorf("in the end %s sent %d, stopped %+v", r.Job, r.Sent, r.Stopped)
		}
	}
	for _, e := range y.entries(trade.RowQuery{}) {
		// What left the ERP while it was in doubt cannot be sent again, and is not withdrawn
		// either.
		if e.State != trade.Accepted && e.State != trade.Withdrawn && e.GoneSweeps == 0 {
			y.t.Errorf("in the end %s %s is %s (%s): %+v", e.Job, e.Key, e.State, e.Cause, e.Error)
		}
	}
	y.judge()
}
