package sync_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

func decimalOf(t *testing.T, text string) trade.Decimal {
	t.Helper()
	d := must.Get(trade.ParseDecimal(text))(t)
	return d
}

func TestMoreThanOneRunMaySendWaitsForARelease(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 5}}
		b.contracts(5)
		b.wants(b.sync(engine.Options{}), "stop none, sent 5")
		for n := 6; n <= 12; n++ {
			b.contract(n)
		}
		if dry := b.sync(engine.Options{DryRun: true}); dry.Stopped == nil || dry.Stopped.Code != "brake_most" ||
			dry.Stopped.Brake.Rows != 7 {
			t.Errorf("a dry run does not tell that the brake would act: %+v", dry.Stopped)
		}
		brake := b.expectBrake(b.sync(engine.Options{}), "brake_most", 7)
		// 6 + 7 + … + 12 = 63 sacas of 60 kg at 120.50.
		if kg, value := brake.Freight.Kilograms.String(), brake.Freight.Value["BRL"].String(); kg != "3780" ||
			value != "7591.5" || brake.Most.Rows != 5 {
			t.Errorf("the brake shows %s kg, BRL %s, most %+v", kg, value, brake.Most)
		}
		for n := 13; n <= 17; n++ { // came after what the person saw: as many as any run may send
			b.contract(n)
		}
		b.release("contracts")
		b.wants(b.sync(engine.Options{}), "stop none, sent 12")
		for n := 18; n <= 23; n++ {
			b.contract(n)
		}
		b.expectBrake(b.sync(engine.Options{}), "brake_most", 6) // a release counts once
	})
}

func TestMostLimitsWeightAndValueToo(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]trade.Freight{
		"weight": {Load: trade.Load{Kilograms: decimalOf(t, "360")}},            // 1 + 2 + 3 sacas
		"value":  {Value: map[string]trade.Decimal{"BRL": decimalOf(t, "723")}}, // 6 × 120.50
		"both": {
			Load:  trade.Load{Rows: 100, Kilograms: decimalOf(t, "360")},
			Value: map[string]trade.Decimal{"BRL": decimalOf(t, "1000000")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			b.spec.Most = &most
			b.contracts(3)
			b.wants(b.sync(engine.Options{}), "stop none, sent 3")
			b.contract(7)
			b.expectBrake(b.sync(engine.Options{}), "brake_most", 1)
		})
	}
}

// Rows that become due while a run sends are judged then; a release that a run could not use up is
// kept for what is left of it.
func TestWhatIsLeftOfAReleaseIsKeptWhenARunIsCutShort(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 2}}
		b.contracts(9)
		b.expectBrake(b.sync(engine.Options{}), "brake_most", 9)
		b.release("contracts")
		b.api.SetFaults(faults(t, "status=401@4")...)
		b.wants(b.sync(engine.Options{}), "stop api_key, accepted 3")
		b.wants(b.sync(engine.Options{}), "stop none, accepted 9")
	})
}

func TestACanaryGoesAndTheOthersWaitForARelease(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.spec.Canary = 2
		b.contracts(6)
		first := b.sync(engine.Options{})
		if first.Stopped == nil || first.Stopped.Code != "brake_canary" || first.Sent != 2 ||
			first.States[trade.Accepted] != 2 || len(first.Stopped.Brake.Samples) != 2 {
			t.Fatalf("the first run: sent %d, states %v, stopped %+v", first.Sent, first.States, first.Stopped)
		}
		if again := b.sync(engine.Options{}); again.Sent != 0 || again.Stopped == nil {
			t.Errorf("a paused job sent %d, stopped %+v", again.Sent, again.Stopped)
		}
		b.release("contracts")
		b.wants(b.sync(engine.Options{}), "stop none, sent 4")
		b.contract(7)
		b.wants(b.sync(engine.Options{}), "stop none, sent 1")

		b.spec.Fields["haverst"] = mapping.FieldSpec{Const: new("2026/2027")}
		b.contract(8)
		// fewer than the canary: nothing is left to stop
		b.wants(b.sync(engine.Options{}), "stop none, sent 1")
		b.contract(9)
		b.contract(10)
		if r := b.sync(engine.Options{}); r.Sent != 1 || r.Stopped == nil || r.Stopped.Code != "brake_canary" ||
			r.Stopped.Brake.Rows != 2 {
			t.Errorf("the second row of the canary: sent %d, stopped %+v", r.Sent, r.Stopped)
		}
		// corrected: what is confirmed is the mapping that was looked at
		b.spec.Fields["haverst"] = mapping.FieldSpec{Const: new("2025/2026")}
		b.release("contracts")
		b.wants(b.sync(engine.Options{}), "sent 1, stop none")
	})
}

// Only rows that may be on the platform are a canary that somebody can look at there: one that the
// gateway turned away has its turn again.
func TestARowThatDidNotGoIsNoCanary(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.spec.Canary = 1
		b.contracts(3)
		b.api.SetFaults(faults(t, "status=401@1")...)
		b.wants(b.sync(engine.Options{}), "stop api_key, pending 3")
		r := b.sync(engine.Options{})
		if r.Stopped == nil || r.Stopped.Code != "brake_canary" || r.States[trade.Accepted] != 1 ||
			r.Stopped.Brake.Rows != 1 || len(r.Stopped.Brake.Samples) != 1 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
	})
}

// What a person has released is not used up by rows that came back, nor by a run that had to rest
// before it could send.
func TestARunThatSendsNothingUsesUpNoRelease(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.spec.Most = &trade.Freight{Value: map[string]trade.Decimal{"BRL": decimalOf(t, "1")}}
		b.contracts(3)
		b.expectBrake(b.sync(engine.Options{}), "brake_most", 3)
		b.release("contracts")
		b.api.SetFaults(faults(t, "status=401@1")...)
		b.wants(b.sync(engine.Options{}), "stop api_key, pending 3")
		until := time.Now().Add(10 * time.Minute).UTC()
		b.setStatus(trade.JobStatus{
			Job: "contracts", State: trade.BackingOff,
			Stop: &trade.Stop{Code: "api_throttled", Why: trade.Say("wait"), Until: until},
		})
		b.wants(b.sync(engine.Options{}), "stop api_throttled")
		b.setStatus(trade.JobStatus{Job: "contracts", State: trade.Idle})
		b.wants(b.sync(engine.Options{}), "stop none, accepted 3")
	})
}

// A pass that only records uses up nothing of what a person has let pass.
func TestAPassThatOnlyRecordsLeavesARelease(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 2}}
		b.contracts(6)
		b.wants(b.sync(engine.Options{}), "sent 0, stop brake_most")
		people := b.acts()
		b.orderJob(people.Release(t.Context(), "contracts"))
		b.adds(must.Get(b.engine().Sync(t.Context(), nil, engine.Options{RecordOnly: true}))(t)[0])
		b.wants(b.sync(engine.Options{}), "sent 6, stop none")
	})
}

func (b *bench) setStatus(status trade.JobStatus) {
	b.t.Helper()
	status.Since = time.Now().UTC()
	must.Do(b.t, b.ledger.SetJobStatus(b.t.Context(), status))
}

// A process that is killed while its canary flies, so that no last page and no status of the job is
// stored, sends no second one.
func TestAKilledProcessSendsNoSecondCanary(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.spec.Canary = 2
		b.contracts(6)
		var sent atomic.Bool
		b.breaker.around = func(call string, do func() error) error {
			if strings.HasPrefix(call, "Commit of ") {
				sent.Store(true)
			} else if (call == "Record" || strings.HasPrefix(call, "SetJobStatus")) && sent.Load() {
				return errBroken
			}
			return do()
		}
		b.sync(engine.Options{})
		b.breaker.mend()
		b.wants(b.sync(engine.Options{}), "sent 0, stop brake_canary")
	})
}

func TestAJobSendsOnlyInItsHours(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		now := b.clock.Now().UTC()
		b.spec.Hours = []string{now.Add(2*time.Hour).Format("15:04") + "-" + now.Add(4*time.Hour).Format("15:04")}
		b.contracts(3)
		r := b.sync(engine.Options{})
		if r.Stopped != nil || r.Sent != 0 || r.States[trade.Pending] != 3 || r.SendsAgain == nil ||
			!r.SendsAgain.Equal(now.Add(2*time.Hour).Truncate(time.Minute)) {
			t.Fatalf("outside the hours: sent %d, states %v, again at %v, stopped %+v", r.Sent, r.States,
				r.SendsAgain, r.Stopped)
		}
		b.stands("contracts", trade.Idle, "")
		b.clock.advance(2*time.Hour + time.Minute)
		if r := b.sync(engine.Options{}); r.Sent != 3 || r.SendsAgain != nil {
			t.Errorf("in the hours: sent %d, again at %v", r.Sent, r.SendsAgain)
		}
		b.clock.advance(3 * time.Hour)
		b.contract(4)
		if r := b.sync(engine.Options{}); r.Sent != 0 || r.SendsAgain == nil {
			t.Errorf("after the hours: sent %d, again at %v", r.Sent, r.SendsAgain)
		}
		if r := b.sync(engine.Options{AnyHour: true}); r.Sent != 1 || r.SendsAgain != nil {
			t.Errorf("asked to send all the same: sent %d, again at %v", r.Sent, r.SendsAgain)
		}
	})
}

func TestHours(t *testing.T) {
	t.Parallel()
	const form = "Mon 2006-01-02 15:04"
	at := func(text string) time.Time {
		out := must.Get(time.ParseInLocation(form, text, time.UTC))(t)
		return out
	}
	for _, c := range []struct {
		hours []string
		at    string
		next  string // "" = open
	}{
		{nil, "Sun 2026-11-22 03:00", ""},
		{[]string{"mon-fri 07:00-19:00"}, "Fri 2026-11-20 07:00", ""},
		{[]string{"mon-fri 07:00-19:00"}, "Fri 2026-11-20 18:59", ""},
		{[]string{"mon-fri 07:00-19:00"}, "Fri 2026-11-20 06:59", "Fri 2026-11-20 07:00"},
		{[]string{"mon-fri 07:00-19:00"}, "Fri 2026-11-20 19:00", "Mon 2026-11-23 07:00"},
		{[]string{"mon-fri 07:00-19:00", "Sat  08:00-12:00"}, "Fri 2026-11-20 19:00", "Sat 2026-11-21 08:00"},
		{[]string{"22:00-05:00"}, "Fri 2026-11-20 23:00", ""},
		{[]string{"22:00-05:00"}, "Fri 2026-11-20 04:59", ""},
		{[]string{"22:00-05:00"}, "Fri 2026-11-20 05:00", "Fri 2026-11-20 22:00"},
		{[]string{"fri 22:00-05:00"}, "Sat 2026-11-21 04:59", ""},
		{[]string{"fri 22:00-05:00"}, "Fri 2026-11-20 04:59", "Fri 2026-11-20 22:00"},
		{[]string{"sat-mon 00:00-24:00"}, "Sun 2026-11-22 23:59", ""},
		{[]string{"sat,mon 00:00-24:00"}, "Sun 2026-11-22 23:59", "Mon 2026-11-23 00:00"},
		{[]string{"fri 10:00-11:00"}, "Fri 2026-11-20 11:00", "Fri 2026-11-27 10:00"},
	} {
		h := must.Get(clock.ParseHours(c.hours))(t)
		next := ""
		if !h.Open(at(c.at)) {
			next = h.Next(at(c.at)).Format(form)
		}
		if next != c.next {
			t.Errorf("%v at %s: next %q, want %q", c.hours, c.at, next, c.next)
		}
	}
	for _, wrong := range []string{
		"", "always", "07:00", "7:00-9:00", "monday 07:00-09:00", "mon-fry 07:00-09:00",
		"07:00-07:00", "24:00-05:00", "07:00-24:01", "07:60-09:00",
	} {
		if _, err := clock.ParseHours([]string{wrong}); err == nil {
			t.Errorf("%q is taken for hours", wrong)
		}
	}
}

// dueLater does not show the third row before the first was sent, and fails once.
type dueLater struct {
	Ledger
	b     *bench
	calls *int
	fails int
}

func (l dueLater) Due(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error) {
	*l.calls++
	if *l.calls == l.fails {
		return nil, errBroken
	}
	due, err := l.Ledger.Due(ctx, job, now, after, limit)
	if len(l.b.createdOf(sandbox.ResourceOrderCommitments)) == 0 {
		due = slices.DeleteFunc(due, func(e trade.Entry) bool { return e.Key == key(3) })
	}
	return due, err
}

// F025: a row that becomes due while a run sends, and is one too many, stays, also when the ledger
// fails while what is due is counted.
func TestARowThatBecomesDueWhileARunSendsIsBraked(t *testing.T) {
	t.Parallel()
	for fails := 0; ; fails++ {
		b := newBench(t, sandbox.Options{})
		b.limits.MaxInFlight = 1
		b.spec.Most = &trade.Freight{Load: trade.Load{Rows: 2}}
		b.contracts(3)
		calls := 0
		b.wrap = func(l Ledger) Ledger { return dueLater{l, b, &calls, fails} }
		r := b.sync(engine.Options{})
		if n := len(b.createdOf(sandbox.ResourceOrderCommitments)); r.Stopped == nil || n > 2 {
			t.Fatalf("call %d of %d failed: %d contracts went, stopped %+v", fails, calls, n, r.Stopped)
		}
		if calls < fails {
			return
		}
	}
}
