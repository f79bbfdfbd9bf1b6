package sync_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func TestAMachineThatSendsElsewhereDoesNotRun(t *testing.T) {
	inDuo(t, func(d *duo) {
		d.a.owner.Platform, d.b.owner.Platform = "https://api.example.com", "https://test.example.com"
		open, done := d.leads(12, 2)
		d.b.run()
		d.pass(50 * time.Second)
		open()
		if r := <-done; r.States[trade.Accepted] != 12 || d.b.sentBy() != 0 {
			d.t.Errorf("states %v, stopped %+v, %d attempts of the other", r.States, r.Stopped, d.b.sentBy())
		}
		d.b.stop()
		for _, dry := range []bool{true, false} {
			reports, err := d.b.engine().Sync(d.t.Context(), nil, engine.Options{DryRun: dry})
			if err != nil {
				d.t.Fatal(err)
			}
			for _, r := range reports {
				if r.Stopped == nil || r.Stopped.Code != "platform" || r.Sent != 0 || r.Read != 0 {
					d.t.Errorf("dry run %t: %+v, stopped %+v", dry, r, r.Stopped)
				}
			}
		}
		d.once()
	})
}

// otherServer is a ledger on a server that nobody has confirmed, while the service runs.
type otherServer struct{ engine.Ledger }

func (otherServer) AcquireLease(context.Context, string, trade.Owner) (trade.Lease, error) {
	return trade.Lease{}, fmt.Errorf("%w: compare the journals", trade.ErrOtherServer)
}

func TestAJobThatIsStoppedByAnotherServerSaysSo(t *testing.T) {
	t.Parallel()
	a, b := fleet(t, 3)
	b.wrap = func(l engine.Ledger) engine.Ledger { return otherServer{l} }
	reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
	if err != nil || len(reports) == 0 || reports[0].Stopped == nil || reports[0].Stopped.Code != "ledger" {
		t.Fatalf("%+v, %v", reports, err)
	}
	status, err := a.ledger.JobStatus(t.Context(), "contracts")
	if err != nil || status.State != trade.Stopped || status.Stop == nil || status.Stop.Code != "ledger" {
		t.Errorf("%+v, %v", status, err)
	}
}
