// People's decisions about rows, from the audit.

package reconcile

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// actsTold are the acts of the audit that reports show: decisions about rows, and late answers that
// contradict them.
var actsTold = []string{"dismiss", "reopen", "adopt", "resend", "acknowledge", "late answer"}

// act is an act on one row.
type act struct{ name, who string }

// readActs reads people's decisions.
func (t *taker) readActs() ([]Act, error) {
	out := []Act{}
	err := t.Ledger.ActsBetween(t.ctx, actsTold, time.Time{}, time.Time{}, func(r trade.AuditRecord) error {
		var detail struct {
			Before, After struct{ State trade.State }
			Given         json.RawMessage // the row that gave up its id
		}
		_ = json.Unmarshal([]byte(r.Detail), &detail) // what is no such detail has no states
		if r.Target != "" {
			t.acts[r.Target] = append(t.acts[r.Target], act{r.Act, r.Who})
		}
		name := r.Act
		if len(detail.Given) > 0 && string(detail.Given) != "null" {
			name = "moved"
		}
		out = append(out, Act{
			Seq: r.Seq, At: r.At, Who: r.Who, Act: name, Target: r.Target, Reason: r.Reason, Why: r.Why(),
			Before: string(detail.Before.State), After: string(detail.After.State),
		})
		return nil
	})
	return out, err
}

// by stores the person by whose act the row is on the platform.
func (r *Row) by(acts []act, e trade.Entry) {
	if r.State != trade.Accepted {
		return
	}
	for _, a := range acts {
		if a.name == "adopt" || a.name == "resend" && e.Generation > 1 {
			r.By = strings.TrimSpace(a.who)
		}
	}
}
