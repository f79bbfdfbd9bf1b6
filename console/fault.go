package console

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"
)

// fault is an error as a person is told it: a code, for which words.go has a sentence, and nothing
// of what lies behind (C13).
type fault struct {
	status int
	code   string
	cause  error // for the log
}

func (f *fault) Error() string {
	if f.cause != nil {
		return f.code + ": " + f.cause.Error()
	}
	return f.code
}

func (f *fault) Unwrap() error { return f.cause }

var (
	errNotFound  = &fault{http.StatusNotFound, "not_found", nil}
	errForbidden = &fault{http.StatusForbidden, "role", nil}
	errInternal  = &fault{http.StatusInternalServerError, "internal", nil}
	errBusy      = &fault{http.StatusServiceUnavailable, "busy", nil}
)

// badRequest is a wrong form or address.
func badRequest(code string) error { return &fault{http.StatusBadRequest, code, nil} }

// fail answers with an error. What is not a fault is the program's or the ledger's: the log has it,
// the browser its number.
func (q *request) fail(err error) {
	var f *fault
	switch {
	case errors.As(err, &f):
	case errors.Is(err, context.Canceled) && q.Context().Err() != nil:
		return // the browser has gone
	case errors.Is(err, context.DeadlineExceeded):
		f = errBusy
	default:
		f = errInternal
	}
	if f.status >= http.StatusInternalServerError {
		q.c.Log.Error("console: a request failed", zap.String("id", q.id), zap.String("method", q.Method),
			zap.String("path", q.URL.Path), zap.String("code", f.code), zap.Error(err))
	}
	if q.wrote {
		return
	}
	if err := q.page(f.status, "error", errorPage{Code: f.code, ID: q.id}); err != nil {
		q.c.Log.Error("console: the page of an error failed", zap.String("id", q.id), zap.Error(err))
	}
}

type errorPage struct{ Code, ID string }
