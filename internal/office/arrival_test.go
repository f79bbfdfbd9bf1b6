package office

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// When rows are through follows from how many are due, how fast the job sends, when it runs next and
// in which hours it may send; where it does not follow, the reason is told, and no time.
func TestTheArrivalIsATimeOrAReason(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 18, 0, 0, 0, time.UTC) // a Friday
	next := now.Add(30 * time.Minute)
	day := must.Get(clock.ParseHours([]string{"mon-fri 07:00-19:00"}))(t)
	stopped := func(state trade.JobState, code string) trade.JobStatus {
		return trade.JobStatus{State: state, Stop: &trade.Stop{Code: code}}
	}
	idle, running := trade.JobStatus{State: trade.Idle}, trade.JobStatus{State: trade.Running}
	at := func(due int, status trade.JobStatus, change ...func(*underway)) underway {
		u := underway{due: due, status: status, served: true, next: &next, rate: 10}
		for _, c := range change {
			c(&u)
		}
		return u
	}
	for name, c := range map[string]struct {
		in   underway
		want time.Time
		why  string
	}{
		"from the next run": {at(600, idle), now.Add(90 * time.Minute), ""},
		"while it runs":     {at(600, running), now.Add(time.Hour), ""},
		"over the weekend": {
			at(600, idle, func(u *underway) { u.hours = day }), time.Date(2026, 11, 30, 7, 30, 0, 0, time.UTC), "",
		},
		"paused":              {at(1, stopped(trade.Paused, "paused")), time.Time{}, ArrivalPerson},
		"braked":              {at(1, stopped(trade.Stopped, "refusals")), time.Time{}, ArrivalPerson},
		"no key":              {at(1, stopped(trade.Stopped, "api_key")), time.Time{}, ArrivalStop},
		"an API that is away": {at(10, stopped(trade.BackingOff, "api_unreachable")), next.Add(time.Minute), ""},
		"no service":          {at(1, idle, func(u *underway) { u.served = false }), time.Time{}, ArrivalService},
		"by hand only":        {at(1, idle, func(u *underway) { u.next = nil }), time.Time{}, ArrivalSchedule},
		"too much at once":    {at(11, idle, func(u *underway) { u.most = 10 }), time.Time{}, ArrivalMost},
		"once a row a day": {
			at(1_000_000, idle, func(u *underway) { u.rate, u.hours = 1.0/1440, day }), time.Time{}, ArrivalRate,
		},
		"never sent": {at(1, idle, func(u *underway) { u.rate = 0 }), time.Time{}, ArrivalRate},
		"as fast as it sends now": {underway{
			due: 600, status: running, rate: 1,
			progress: &Progress{Done: 120, Pace: Pace{Since: now.Add(-time.Minute), Done: 20}},
		}, now.Add(6 * time.Minute), ""},
	} {
		c.in.now = now
		got := arrival(c.in)
		if got.Why != c.why || got.Rows != c.in.due || c.want.IsZero() != (got.At == nil) ||
			got.At != nil && !got.At.Equal(c.want) {
			t.Errorf("%s: %+v at %v, want %s at %s", name, got, got.At, c.why, c.want)
		}
	}
	if arrival(underway{now: now, status: idle}) != nil {
		t.Error("nothing is due, and it arrives")
	}
}

// Who paused a job is not told that it goes on, also while its last requests end.
func TestAPausedJobArrivesByAPersonAlone(t *testing.T) {
	t.Parallel()
	got := arrival(underway{
		now: time.Now(), due: 86, status: trade.JobStatus{State: trade.Paused}, served: true, rate: 60,
		progress: &Progress{Done: 10, Total: 96, Pace: Pace{Since: time.Now().Add(-time.Minute)}},
	})
	if got.Why != ArrivalPerson || got.At != nil {
		t.Errorf("the arrival is %+v", got)
	}
}

func TestTheLongestRunsSayHowFastAJobSends(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	run := func(rows int, took time.Duration) trade.RunReport {
		return trade.RunReport{StartedAt: at, EndedAt: at.Add(took), Sent: rows, SentRows: &rows}
	}
	runs := []trade.RunReport{run(1, time.Minute), run(0, time.Hour), run(1200, 10*time.Minute), {StartedAt: at}}
	if got := rateOf(runs); got != 120 {
		t.Errorf("%v rows a minute, want 120", got)
	}
	if got := rateOf(runs[1:2]); got != 0 {
		t.Errorf("%v rows a minute of runs that sent nothing", got)
	}
}
