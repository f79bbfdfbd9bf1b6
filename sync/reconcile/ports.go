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
	// Jobs returns all jobs that the ledger knows.
	Jobs(ctx context.Context) ([]string, error)
	// Rows calls fn for the entries that a filter selects, page by page, in id order.
	Rows(ctx context.Context, filter trade.RowFilter, fn func(trade.Entry) error) error
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	// Outcomes returns the attempts of entries with their times, outcomes and ids.
	Outcomes(ctx context.Context, entryIDs []int64) (map[int64][]trade.Attempt, error)
	// ActsBetween calls fn for the audit records of some acts in a period, in their order.
	ActsBetween(ctx context.Context, acts []string, from, before time.Time, fn func(trade.AuditRecord) error) error
	// LastHeard returns, by record id, the latest report of an event about records of one kind
	// before a time; a zero time means until now.
	LastHeard(ctx context.Context, kind, event string, ids []string,
		before time.Time) (map[string]trade.EventNote, error)
	// MessageKeys returns the message keys that the platform has answered, with their counts.
	MessageKeys(ctx context.Context) ([]trade.SeenMessage, error)
}

// Archive is the part of the ledger that stores closed reports.
type Archive interface {
	// CloseReport stores a report permanently, with its audit record.
	CloseReport(ctx context.Context, c trade.Closing, rows io.Reader, record trade.AuditRecord) (trade.Closing, error)
	// Closings returns the closings of a cut-off day, or all if day is zero, newest first.
	Closings(ctx context.Context, day trade.Date) ([]trade.Closing, error)
	ClosedRows
}

// Reader reads an order commitment from the platform. Every error is an *apiclient.Error.
type Reader interface {
	GetOrderCommitment(ctx context.Context, id string) (apiclient.OrderCommitment, error)
}

// Sources are what a snapshot is made from.
type Sources struct {
	Ledger Ledger
	// in the order of the configuration; rows of a job that only the ledger knows are shown as far
	// as what was sent shows
	Jobs     []*mapping.Job
	Platform Reader // nil: the platform is not asked
	Zone     *time.Location
	Now      time.Time
	Program  string // version
	Name     string // of the installation
	Folder   string // for the temporary file; "" = the system's
	// Progress, if not nil, is called with the number of rows read so far.
	Progress func(rows int)
}

// ask reads a contract from the platform. A fault is stored with the row; only the end of ctx ends
// the snapshot.
func (t *taker) ask(ctx context.Context, r *Row) error {
	t.head.Asked.Contracts++
	there, err := t.Platform.GetOrderCommitment(ctx, r.RemoteID)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Platform = &Platform{Found: err == nil}
	var failure *apiclient.Error
	switch {
	case err == nil:
		amount, price := decimalOf(there.Amount.String()), decimalOf(there.Price.String())
		r.Platform.Figures = Figures{
			Amount: amount, Unit: unitOf(there.UnitOfMeasurement), Price: price,
			Currency: there.Currency,
		}
		if _, ok := r.Platform.Kilograms(); !ok {
			r.Platform.Unread = true
			t.head.Asked.Unreadable++
		}
	case errors.As(err, &failure) && failure.Answer.NotFound():
		r.Platform.Fault = "not found"
		t.head.Asked.NotFound++
	case errors.As(err, &failure) && failure.Answer.Status != 0:
		r.Platform.Fault = "answered " + http.StatusText(failure.Answer.Status)
		t.head.Asked.Unreadable++
	default:
		r.Platform.Fault = "no answer"
		t.head.Asked.Unreadable++
	}
	return nil
}
