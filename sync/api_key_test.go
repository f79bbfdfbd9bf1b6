package sync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func TestF126A401StopsEverythingAndConsumesNoAttempt(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"status=401@5-", "status=401,empty@5-"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{Faults: faults(t, spec)})
			b.contracts(40)
			r := b.sync(engine.Options{})
			if r.Stopped == nil || !r.Stopped.All {
				t.Fatalf("stopped %+v", r.Stopped)
			}
			if after := r.Sent - 4; after > b.limits.MaxInFlight+4 {
				t.Errorf("%d requests after the first refusal, want at most those in flight", after)
			}
			if r.States[trade.Accepted]+r.States[trade.Pending] != 40 {
				t.Errorf("states %v: a refused key must leave the rows pending", r.States)
			}
			for i := 1; i <= 40; i++ {
				if e := b.entry(i); e.State == trade.Pending && e.Attempts != 0 {
					t.Errorf("row %d: %d attempts consumed", i, e.Attempts)
				}
			}
			b.api.SetFaults()
			b.wants(b.sync(engine.Options{}), "accepted 40")
		})
	}
}

// F163: a key that does not belong to the address is found before anything is sent.
func TestAWrongKeyIsFoundByThePreflightBeforeAnyPost(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{APIKey: "another-key"})
	b.contracts(3)
	b.wants(b.sync(engine.Options{}), "stop api_key, sent 0, pending 3")
}

// F127: one node of the gateway has an old key: each refusal stops the run, consumes no attempt,
// and the next run goes on.
func TestF127AKeyThatIsRefusedNowAndThenCostsRunsAndNothingElse(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		var flapping []string
		for n := 3; n < 40; n += 3 {
			flapping = append(flapping, fmt.Sprintf("status=401@%d", n))
		}
		b := newBenchOn(t, db, sandbox.Options{Faults: faults(t, flapping...)})
		b.limits.MaxInFlight = 1
		b.contracts(9)
		stops := 0
		for range 20 {
			r := b.sync(engine.Options{})
			if r.States[trade.Accepted] == 9 {
				break
			}
			if r.Stopped == nil || r.Stopped.Code != "api_key" || r.States[trade.InDoubt] != 0 {
				t.Fatalf("states %v, stopped %+v", r.States, r.Stopped)
			}
			stops++
		}
		if stops != 4 || len(b.api.Created()) != 9 {
			t.Errorf("%d stops, %d records", stops, len(b.api.Created()))
		}
		for num := 1; num <= 9; num++ {
			if e := b.expect(num, trade.Accepted, ""); e.Attempts != 1 {
				t.Errorf("row %d counts %d attempts: those that a wrong key costs are not its own", num, e.Attempts)
			}
		}
	})
}

// F140: keys are compared exactly. A spelling that the document does not know is an ordinary
// refusal, never taken for the key that it looks like.
func TestF140AKeyInAnotherSpellingIsNotTheKey(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		for _, key := range []string{
			"message.Duplicate.Key", "message.duplicate.key ", "MESSAGE.DUPLICATE.KEY",
			"message.malformed-request.",
		} {
			b := newBenchOn(t, db, sandbox.Options{Faults: faults(t, `status=400@1,body={"messages":["`+key+`"]}`)})
			b.contract(1)
			b.sync(engine.Options{})
			e := b.entry(1)
			if e.State != trade.Rejected || e.Cause == "message.duplicate.key" ||
				!strings.Contains(fmt.Sprint(e.Error.Messages), key) {
				t.Errorf("%q: %s (%s), %+v", key, e.State, e.Cause, e.Error)
			}
		}
	})
}
