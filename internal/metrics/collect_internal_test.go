package metrics

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// runLedger is a ledger that knows the runs of a job and nothing else.
type runLedger struct {
	Storage
	runs []trade.RunReport
}

func (runLedger) JobStatus(context.Context, string) (s trade.JobStatus, err error) { return s, nil }

func (runLedger) Counts(context.Context, string) ([]trade.Tally, error) { return nil, nil }

func (runLedger) FlagCounts(context.Context, string) (map[trade.Flag]int, error) { return nil, nil }

func (runLedger) Ages(context.Context, string, ...string) (a trade.Ages, err error) { return a, nil }

func (runLedger) Cursor(context.Context, string) (c trade.Cursor, err error) { return c, nil }

func (l runLedger) Runs(context.Context, string, int) ([]trade.RunReport, error) { return l.runs, nil }

// A run that is open, or was killed, takes nothing away from what is known of those before it.
func TestTheLastEndIsThatOfTheLastRunThatEnded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 8, 10, 12, 0, 0, 0, time.UTC)
	ended := trade.RunReport{StartedAt: at, EndedAt: trade.End{Time: at.Add(time.Minute)}}
	open := trade.RunReport{StartedAt: at.Add(time.Hour)}
	before := trade.RunReport{StartedAt: at.Add(-time.Hour), EndedAt: trade.End{Time: at}}
	sent := func(runs ...trade.RunReport) map[*prometheus.Desc]float64 {
		out := map[*prometheus.Desc]float64{}
		c := ledgerCollector{&Metrics{Settings: Settings{
			Ledger: runLedger{runs: runs},
			Now:    func() time.Time { return at.Add(2 * time.Hour) },
		}}}
		send := func(d *prometheus.Desc, value float64, _ ...string) { out[d] = value }
		must.Do(t, c.job(t.Context(), "contracts", send))
		return out
	}
	got := sent(open, ended, before)
	if got[lastRun] != float64(at.Add(time.Minute).Unix()) || got[cursorLag] != (2*time.Hour).Seconds() {
		t.Errorf("the last run ended at %v, and read the ERP %v seconds ago", got[lastRun], got[cursorLag])
	}
	got = sent(open)
	if _, there := got[lastRun]; there {
		t.Errorf("a run that is open ended at %v", got[lastRun])
	}
}
