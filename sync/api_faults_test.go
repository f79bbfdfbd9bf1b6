package sync_test

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// Each fault of the API hits the second of four rows. What the row becomes, whether the job stops,
// and that nothing is sent twice is checked over real HTTP; then the API is well again, and a
// further run sends exactly what may go.
func TestEveryFaultOfTheAPIEndsAsItMust(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, fault string
		strict      bool
		state       trade.State
		cause       string
		stop        string
		records     int // on the platform when the API is well again and another run was made
		settled     trade.State
	}{
		{
			name: "F092 executed, no answer", fault: "lost-after@2", state: trade.InDoubt, cause: "unknown", records: 4,
			settled: trade.InDoubt,
		},
		{
			name: "F090 reset before it was executed", fault: "lost-before,reset@2", state: trade.InDoubt,
			cause: "unknown", records: 3, settled: trade.InDoubt,
		},
		{
			name: "F134 500 after executing", fault: "status=500,commit@2", state: trade.InDoubt, cause: "unknown",
			records: 4, settled: trade.InDoubt,
		},
		{
			name: "F134 500 without executing", fault: "status=500@2", state: trade.InDoubt, cause: "unknown",
			records: 3,
			settled: trade.InDoubt,
		},
		{
			name: "F135 502 refused at once", fault: "refused@2", state: trade.Pending, records: 4,
			settled: trade.Accepted,
		},
		{
			name: "F135 502 refused at once, strict", fault: "refused@2", strict: true, state: trade.InDoubt,
			cause: "unknown", records: 3, settled: trade.InDoubt,
		},
		{
			name: "F138 503", fault: "status=503@2", state: trade.InDoubt, cause: "unknown", records: 3,
			settled: trade.InDoubt,
		},
		{
			name: "F130 408", fault: "status=408@2", state: trade.InDoubt, cause: "unknown", records: 3,
			settled: trade.InDoubt,
		},
		{
			name: "F105 created, no id", fault: "noid@2", state: trade.InDoubt, cause: "unknown", records: 4,
			settled: trade.InDoubt,
		},
		{
			name:  "F113 the answer to another request",
			fault: `status=201,commit@2,body={"id":"0b3ab6a5-9c5e-4d8e-8a55-0a3f5a1c0007","amount":7}`,
			state: trade.InDoubt, cause: "unknown", records: 4, settled: trade.InDoubt,
		},
		{
			name:  "F113 two answers to other requests in a row",
			fault: `status=201,commit@2-3,body={"id":"0b3ab6a5-9c5e-4d8e-8a55-0a3f5a1c0007","amount":7}`,
			state: trade.InDoubt, cause: "unknown", stop: "answers", records: 4, settled: trade.InDoubt,
		},
		{
			name: "F108 created, answer cut", fault: "cut@2", state: trade.InDoubt, cause: "unknown", records: 4,
			settled: trade.InDoubt,
		},
		{
			name: "F109 two login pages in a row", fault: "html@2-3", state: trade.InDoubt, cause: "unknown",
			stop: "answers", records: 2, settled: trade.InDoubt,
		},
		{
			name: "F139 garbage", fault: "garbage@2", state: trade.InDoubt, cause: "unknown", stop: "answers",
			records: 3,
			settled: trade.InDoubt,
		},
		{
			name: "F097 redirect", fault: "redirect@2", state: trade.InDoubt, cause: "unknown", stop: "api_address",
			records: 3, settled: trade.InDoubt,
		},
		{
			name: "F119 duplicate key", fault: "duplicate@2", state: trade.Held, cause: trade.CauseExists, records: 3,
			settled: trade.Held,
		},
		{
			name: "F121 409", fault: "status=409@2", state: trade.Held, cause: trade.CauseExists, records: 3,
			settled: trade.Held,
		},
		{
			name: "F118 malformed three times", fault: "malformed@2-4", state: trade.Rejected,
			cause: "message.malformed-request", stop: "malformed", records: 1, settled: trade.Rejected,
		},
		{
			name: "F128 module not contracted", fault: "module@2", state: trade.Pending, stop: "api_module", records: 4,
			settled: trade.Accepted,
		},
		{
			name: "F128 403 of the gateway", fault: "status=403@2", state: trade.Pending, stop: "api_permission",
			records: 4, settled: trade.Accepted,
		},
		{
			name: "F125 404 of something else", fault: "status=404,type=text/html@2,body=<html>", state: trade.InDoubt,
			cause: "unknown", records: 3, settled: trade.InDoubt,
		},
		{
			name: "F125 404 of something else, created", fault: "status=404,commit,type=text/html@2,body=<html>",
			state: trade.InDoubt, cause: "unknown", records: 4, settled: trade.InDoubt,
		},
		{
			name: "F125 404 of a downstream service", fault: `status=404@2,body={"detail":"x"}`, state: trade.Rejected,
			records: 3, settled: trade.Rejected,
		},
		{name: "F129 405", fault: "status=405@2", state: trade.Rejected, records: 3, settled: trade.Rejected},
		{name: "F129 415", fault: "status=415,empty@2", state: trade.Rejected, records: 3, settled: trade.Rejected},
		{
			name: "F129 406 of something else", fault: "status=406,empty@2", state: trade.InDoubt, cause: "unknown",
			records: 3, settled: trade.InDoubt,
		},
		{
			name: "F129 405 three times", fault: "status=405@2-4", state: trade.Rejected, stop: "refusals", records: 1,
			settled: trade.Rejected,
		},
		{
			name: "F132 422 in no form of the API", fault: "status=422,empty@2", state: trade.Rejected, records: 3,
			settled: trade.Rejected,
		},
		{name: "F131 413", fault: "status=413@2", state: trade.Rejected, records: 3, settled: trade.Rejected},
		{
			name: "F099 the API executes twice and answers once", fault: "twice@2", state: trade.Accepted, records: 5,
			settled: trade.Accepted,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			b.api.SetFaults(faults(t, tt.fault)...)
			b.limits.MaxInFlight, b.limits.Strict = 1, tt.strict
			b.contracts(4)
			run := func() trade.RunReport {
				reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{Sweep: true}))(t)
				b.adds(reports[0])
				return reports[0]
			}
			r := run()
			if e := b.expect(2, tt.state, tt.cause); e.State == trade.InDoubt &&
				(e.Error == nil || e.Error.Kind != trade.TransportError || e.Attempts != 1) {
				t.Errorf("%d attempts, error %+v", e.Attempts, e.Error)
			}
			stop := ""
			if r.Stopped != nil {
				stop = r.Stopped.Code
			}
			if stop != tt.stop {
				t.Errorf("stopped %+v, want %q", r.Stopped, tt.stop)
			}
			b.api.SetFaults()
			b.clock.advance(20 * time.Minute)
			run()
			if e := b.entry(2); e.State != tt.settled {
				t.Errorf("afterwards row 2 is %s (%s), want %s", e.State, e.Cause, tt.settled)
			}
			if n := len(b.api.Created()); n != tt.records {
				t.Errorf("the platform has %d records, want %d", n, tt.records)
			}
			if again := run(); again.Sent != 0 {
				t.Errorf("a further run sent %d", again.Sent)
			}
		})
	}
}
