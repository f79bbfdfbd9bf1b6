// What a report reads: the ledger, the archive, the platform.

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

// Ledger is what a report reads.
type Ledger interface {
	run.CodeKeeper
	// Jobs returns all jobs that the ledger knows.
	Jobs(ctx context.Context) ([]string, error)
	// Rows calls fn for the entries that a filter selects, page by page, in the order of their
	// numbers.
	Rows(ctx context.Context, filter trade.RowFilter, fn func(trade.Entry) error) error
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	// Outcomes returns the attempts of entries: times, outcomes, ids.
	Outcomes(ctx context.Context, entryIDs []int64) (map[int64][]trade.Attempt, error)
	// ActsBetween calls fn for the records of some acts in a time, in their order.
	ActsBetween(ctx context.Context, acts []string, from, before time.Time, fn func(trade.AuditRecord) error) error
	// LastHeard returns what an event told last of records of one kind before a time, by their ids;
	// a zero time: until now.
	LastHeard(ctx context.Context, kind, event string, ids []string, before time.Time) (map[string]trade.Heard, error)
	// MessageKeys counts the message keys that the platform answered with.
	MessageKeys(ctx context.Context) ([]trade.SeenMessage, error)
}

// Archive keeps closed reports.
type Archive interface {
	// CloseReport keeps a report and its record in the audit for good.
	CloseReport(ctx context.Context, c trade.Closing, rows io.Reader, record trade.AuditRecord) (trade.Closing, error)
	// Closings returns those of a cut-off, or all, the newest first.
	Closings(ctx context.Context, day trade.Date) ([]trade.Closing, error)
	ClosedRows
}

// Reader reads an order commitment of the platform. Every error is an *apiclient.Error.
type Reader interface {
	GetOrderCommitment(ctx context.Context, id string) (apiclient.OrderCommitment, error)
}

// Sources are what a snapshot is taken from.
type Sources struct {
	Ledger Ledger
	// in the order of the configuration; a job that only the ledger knows is told as far as what
	// was sent tells it
	Jobs     []*mapping.Job
	Platform Reader // nil: nobody is asked
	Zone     *time.Location
	Now      time.Time
	Program  string // version
	Name     string // of the installation
	Folder   string // for the temporary file; "" = the system's
	// Progress is told how many rows were read; nil tells nobody.
	Progress func(rows int)
}

// ask reads a contract back. A fault is told with the row; only an end of ctx ends the snapshot.
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
