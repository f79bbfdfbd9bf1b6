// What a report reads: the ledger, closed reports, the platform.

package reconcile

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Ledger is the part of the ledger that a report reads.
type Ledger interface {
	run.CodeKeeper
	// KindsOf returns of what kinds each job has entries.
	KindsOf(ctx context.Context) (map[string][]trade.Kind, error)
	// Rows calls fn for the entries that a filter selects, page by page, in id order.
	Rows(ctx context.Context, filter trade.RowQuery, fn func(trade.Entry) error) error
	// Known returns what is known of entries with these keys, by key.
	Known(ctx context.Context, job string, keys []string) (map[string]trade.Known, error)
	// Entries returns whole entries by their ids, in any order.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	// EntriesWith returns the entries of a kind with these platform ids, in id order.
	EntriesWith(ctx context.Context, kind trade.Kind, remoteIDs []string) ([]trade.Entry, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	// Outcomes returns the attempts of entries with their times, outcomes and ids.
	Outcomes(ctx context.Context, entryIDs []int64) (map[int64][]trade.Attempt, error)
	// ActsBetween calls fn for the audit records of some acts in a period, in their order.
	ActsBetween(ctx context.Context, acts []string, from, before time.Time, fn func(trade.AuditRecord) error) error
	// LastNotes returns, by record id, the latest report of an event about records of one kind.
	LastNotes(ctx context.Context, kind, event string, ids []string) (map[string]trade.EventNote, error)
	// MessageKeys returns the message keys that the platform has answered, with their counts.
	MessageKeys(ctx context.Context) ([]trade.SeenMessage, error)
}

// Archive is the part of the ledger that stores closed reports.
type Archive interface {
	// CloseReport stores a report permanently, with its audit record.
	CloseReport(ctx context.Context, c trade.Closing, rows io.Reader, record trade.AuditRecord) (trade.Closing, error)
	ClosedRows
}

// Reader reads an order commitment from the platform. Every error is an *apiclient.CallError.
type Reader interface {
	GetOrderCommitment(ctx context.Context, id string) (apiclient.ReadBack, error)
}

// Sources are what a snapshot is made from.
type Sources struct {
	Ledger Ledger // for a report, one that stands still
	// in the order of the configuration; rows of a job that only the ledger knows are shown as far
	// as what was sent shows
	Jobs     []*mapping.Job
	Platform *Answers // nil: the platform is not asked
	ERP      *ERPNow  // nil: the ERP was not read for this report
	Zone     *time.Location
	Now      time.Time
	Program  string // version
	Name     string // of the installation
	// Progress, if not nil, is called with the number of rows read so far, and once all are read.
	Progress func(rows int, all bool)
}

// Answers are what the platform has answered about contracts, by their ids.
type Answers struct{ of map[string]*Platform }

// AskEach asks the platform for each contract that it has by the ledger, one after the other, and
// calls progress after each. Faults are answers, too: only the end of ctx ends it.
func AskEach(ctx context.Context, ledger Ledger, from Reader, progress func(contracts int)) (*Answers, error) {
	out := &Answers{map[string]*Platform{}}
	err := ledger.Rows(ctx, trade.RowQuery{States: []trade.State{trade.Accepted}}, func(e trade.Entry) error {
		if e.Sends != trade.OrderCommitments || e.RemoteID == "" || out.of[e.RemoteID] != nil {
			return nil
		}
		there, err := from.GetOrderCommitment(ctx, e.RemoteID)
		answer := &Platform{Found: err == nil}
		var failure *apiclient.CallError
		switch {
		case err == nil:
			answer.Figures = trade.FiguresOf(trade.OrderCommitments, trade.Fields(there.Fields).Text)
			_, weighed := answer.Kilograms()
			answer.Unread = !weighed
		case errors.As(err, &failure) && failure.Answer.NotFound():
			answer.Fault = notFound
		case errors.As(err, &failure) && failure.Answer.Status != 0:
			answer.Fault = "answered " + http.StatusText(failure.Answer.Status)
		default:
			answer.Fault = "no answer"
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		out.of[e.RemoteID] = answer
		progress(len(out.of))
		return nil
	})
	return out, err
}

// notFound is the fault of a contract that the platform does not have.
const notFound = "not found"
