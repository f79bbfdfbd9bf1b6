package reconcile

import (
	"context"
	"errors"
	"net/http"

	"github.com/safrasync/safrasync/apiclient"
)

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
		r.Platform.Figures = Figures{Amount: amount, Unit: unitOf(string(there.UnitOfMeasurement)), Price: price, Currency: string(there.Currency)}
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
