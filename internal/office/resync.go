package office

import (
	"context"
	"errors"
	"time"

	"github.com/safrasync/safrasync/internal/words"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/trade"
)

// ResyncOf converts an order of a resync to what the engine reads.
func ResyncOf(o acts.Order) discovery.Resync {
	return discovery.Resync{Keys: o.Keys, States: o.States, Since: o.Since}
}

// ResyncRecord returns the audit record of a resync.
func ResyncRecord(o acts.Order, plan map[string]int, who acts.Person) (trade.AuditRecord, error) {
	since := ""
	if !o.Since.IsZero() {
		since = o.Since.Format(time.RFC3339)
	}
	return who.Record(Now(), acts.ActResync, o.Job, struct {
		Since  string         `json:"since,omitempty"`
		Keys   []string       `json:"keys,omitempty"`
		States []trade.State  `json:"states,omitempty"`
		Plan   map[string]int `json:"plan"`
	}{since, o.Keys, o.States, plan})
}

// PlanResync counts, by state, the rows that a resync would find new or changed. seen, if not nil, is
// called for each of them.
func PlanResync(ctx context.Context, e *engine.Engine, v words.Voice, job string,
	wanted discovery.Resync, seen func(trade.Entry),
) (map[string]int, trade.RunReport, error) {
	plan := map[string]int{}
	reports, err := e.Sync(ctx, []string{job},
		engine.Options{DryRun: true, Resync: &wanted, Planned: func(entry trade.Entry) {
			plan[string(entry.State)]++
			if seen != nil {
				seen(entry)
			}
		}})
	if err != nil {
		return nil, trade.RunReport{}, err
	}
	if r := reports[0]; r.Stopped != nil {
		return nil, r, errors.New(v.Stop(*r.Stopped))
	}
	return plan, reports[0], nil
}
