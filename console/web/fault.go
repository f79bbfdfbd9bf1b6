package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// Fault is an error for a person: a code, for which there is a sentence. Its cause is never shown.
type Fault struct {
	Status int
	Code   string
	Cause  error // for the log
}

func (f *Fault) Error() string {
	if f.Cause != nil {
		return f.Code + ": " + f.Cause.Error()
	}
	return f.Code
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// The faults that several pages return.
var (
	ErrNotFound  = &Fault{http.StatusNotFound, "not_found", nil}
	ErrForbidden = &Fault{http.StatusForbidden, "role", nil}
	ErrInternal  = &Fault{http.StatusInternalServerError, "internal", nil}
	ErrBusy      = &Fault{http.StatusServiceUnavailable, "busy", nil}
	ErrReporting = &Fault{http.StatusTooManyRequests, "reporting", nil} // another report is being made
)

// BadRequest returns the fault for a wrong form or address.
func BadRequest(code string) error { return &Fault{http.StatusBadRequest, code, nil} }

// Report returns what a person is told of an error. One that is not a Fault comes from the program or
// the ledger: the log gets it, under the number of the request. nil: the browser has gone.
func (q *Request) Report(err error) *Fault {
	var f *Fault
	switch {
	case errors.As(err, &f):
	case errors.Is(err, trade.ErrNotFound):
		f = ErrNotFound
	case errors.Is(err, trade.ErrManyNames):
		f = &Fault{http.StatusBadRequest, "names", nil}
	case errors.Is(err, trade.ErrRole):
		f = ErrForbidden
	case errors.Is(err, context.Canceled) && q.Context().Err() != nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		f = ErrBusy
	default:
		f = ErrInternal
	}
	switch {
	case f == ErrBusy:
		q.Site.Refused(f.Code, err)
	case f.Status >= http.StatusInternalServerError:
		q.Site.Log.Error("console: a request failed", zap.String("id", q.ID), zap.String("method", q.Method),
			zap.String("path", q.URL.Path), zap.String("code", f.Code), zap.Error(err))
	}
	return f
}

// Fail answers with an error. If the answer has begun, it breaks it off.
func (q *Request) Fail(err error) {
	f := q.Report(err)
	if f == nil {
		return
	}
	if q.Answered {
		panic(http.ErrAbortHandler) // so that half a file does not end like a whole one
	}
	page := errorPage{What: f.Code, Code: f.Code, ID: q.ID, Form: q.PostForm}
	if f == ErrInternal && q.Method != http.MethodPost {
		page.What = "unread"
	}
	if err := q.Page(f.Status, "error", page); err != nil {
		q.Site.Log.Error("console: the page of an error failed", zap.String("id", q.ID), zap.Error(err))
	}
}

// errorPage is the page for a fault. It has what the person sent, so that it is not lost.
type errorPage struct {
	What, Code, ID string
	Form           url.Values
}
