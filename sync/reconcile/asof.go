// The state of a row at an earlier moment, from its attempts and the audit.

package reconcile

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// actsTold are the acts of the audit that reports show: decisions about rows, and late answers that
// contradict them.
var actsTold = []string{"dismiss", "reopen", "adopt", "resend", "acknowledge", "late answer"}

// act is an act on one row, as far as stateAt needs it.
type act struct {
	at            time.Time
	name, who     string
	before, after view
}

type view struct {
	State    trade.State `json:"state"`
	RemoteID string      `json:"remote_id"`
}

// readActs reads people's decisions. All are used to derive states; it returns those up to the cut-off.
func (t *taker) readActs() ([]Act, error) {
	out := []Act{}
	err := t.Ledger.ActsBetween(t.ctx, actsTold, time.Time{}, time.Time{}, func(r trade.AuditRecord) error {
		var detail struct {
			Before view            `json:"before"`
			After  view            `json:"after"`
			Given  json.RawMessage `json:"given"` // the row that gave up its id
		}
		if json.Unmarshal([]byte(r.Detail), &detail) != nil {
			detail.Before, detail.After = view{}, view{}
		}
		if r.Target != "" {
			t.acts[r.Target] = append(t.acts[r.Target], act{r.At, r.Act, r.Who, detail.Before, detail.After})
		}
		if t.cut.Derived && !r.At.Before(t.end) {
			return nil
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

// stand is the state of a row at the end of a day.
type stand struct {
	state    trade.State
	remoteID string
	basis    Basis
}

// stateAt derives the state of an entry at a past moment from what is known now. The result is
// exact if the entry has not changed since.
func stateAt(e trade.Entry, attempts []trade.Attempt, acts []act, end time.Time) stand {
	if e.UpdatedAt.Before(end) {
		return stand{e.State, e.RemoteID, Exact}
	}
	var last *trade.Attempt
	for i := range attempts {
		if attempts[i].StartedAt.Before(end) {
			last = &attempts[i]
		}
	}
	var lastAct *act
	for i := range acts {
		if acts[i].at.Before(end) {
			lastAct = &acts[i]
		}
	}
	switch {
	case lastAct != nil && lastAct.after.State != "" && (last == nil || last.StartedAt.Before(lastAct.at)):
		return stand{lastAct.after.State, lastAct.after.RemoteID, Derived}
	case last != nil:
		return afterAttempt(*last, end)
	}
	// the first later act stored the state before it, which holds if nothing was sent in between
	for _, a := range acts {
		if !a.at.Before(end) && a.before.State != "" && len(attempts) == 0 {
			return stand{a.before.State, "", Derived}
		}
	}
	return stand{"", "", Unknown}
}

// afterAttempt returns the state in which an attempt left its row, as far as its outcome shows.
func afterAttempt(a trade.Attempt, end time.Time) stand {
	switch {
	case a.FinishedAt.IsZero() || !a.FinishedAt.Before(end):
		return stand{trade.InDoubt, "", Derived} // its answer was not known yet
	case a.Outcome == trade.OutcomeCreated:
		return stand{trade.Accepted, a.RemoteID, Derived}
	case a.Outcome == trade.OutcomeUnknown:
		return stand{trade.InDoubt, "", Derived}
	case a.Outcome == trade.OutcomeNotSent, a.Status == http.StatusUnauthorized, a.Status == http.StatusTooManyRequests,
		a.Status == http.StatusBadGateway:
		return stand{trade.Pending, "", Derived}
	case a.Status == http.StatusConflict:
		return stand{trade.Held, "", Derived}
	}
	return stand{trade.Rejected, "", Derived}
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
