package fault

import (
	"context"
	"errors"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Code is the kind of an [Error], for the engine and for the message catalogue. The values are
// stable.
type Code string

// The codes of an [Error].
const (
	// CodeUnreachable: no connection, or it was lost; a later run may succeed.
	CodeUnreachable Code = "unreachable"
	// CodeTLS: the server offers no TLS, or its certificate is not trusted.
	CodeTLS Code = "tls"
	// CodeAuth: wrong user or password, or pg_hba.conf does not let us in.
	CodeAuth Code = "auth"
	// CodeNoDatabase: the database or the file does not exist.
	CodeNoDatabase Code = "no_database"
	// CodeNotADatabase: the file exists and is not a SQLite database.
	CodeNotADatabase Code = "not_a_database"
	// CodeConfig: an option or the query's shape cannot be used as configured.
	CodeConfig Code = "config"
	// CodeSyntax: the database or our own check does not accept the query.
	CodeSyntax Code = "syntax"
	// CodeMissingColumn: a column is gone or misspelled.
	CodeMissingColumn Code = "missing_column"
	// CodeDuplicateColumn: two columns of the result have the same name.
	CodeDuplicateColumn Code = "duplicate_column"
	// CodeMissingTable: a table, view or schema is gone or misspelled.
	CodeMissingTable Code = "missing_table"
	// CodePermission: the reading role lacks a right.
	CodePermission Code = "permission"
	// CodeReadOnly: the query tried to write and was stopped.
	CodeReadOnly Code = "read_only"
	// CodeTimeout: the statement took longer than allowed.
	CodeTimeout Code = "timeout"
	// CodeLocked: a lock was not granted in time.
	CodeLocked Code = "locked"
	// CodeEncoding: bytes that cannot be turned into UTF-8 stopped the query.
	CodeEncoding Code = "encoding"
	// CodeData: a value makes an expression of the query fail.
	CodeData Code = "data"
	// CodeCancelled: the caller's context ended.
	CodeCancelled Code = "cancelled"
	// CodeOther is everything else.
	CodeOther Code = "other"
)

// Error is every error of this package except those returned by a caller's own function. Its text
// states what to do next and never contains the connection string, a password or row data.
// Therefore the driver's own error is not wrapped.
type Error struct {
	Code Code
	// Job is the job whose query was running; empty outside a query.
	Job string
	// Text is the message without the prefix.
	Text *phrase.Text
	// Wrong is what a query's own text has wrong, without its place there.
	Wrong *phrase.Text
	// SQLState is PostgreSQL's five-character code, if there is one.
	SQLState string
	// Line and Column (from 1) are a position in the query as configured; 0 = unknown.
	Line, Column int

	cause error // only a context's error
}

// Error returns "erp: job J: text (SQLSTATE …)".
func (e *Error) Error() string {
	return "erp: " + e.Phrase().Error()
}

// Phrase returns the error without the prefix.
func (e *Error) Phrase() *phrase.Text {
	text := e.Text
	if e.SQLState != "" {
		text = phrase.New("%w (SQLSTATE %s)", text, e.SQLState)
	}
	if e.Job != "" {
		text = phrase.New("job %s: %w", e.Job, text)
	}
	return text
}

// Unwrap returns the context's error, if the context ended the call.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of err, CodeOther for an error of another package, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeOther
}

// Failf returns an error with a formatted text.
func Failf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Text: phrase.New(format, args...)}
}

// Known returns an error that needs no analysis of the driver's error, or nil: one of ours, the
// caller's own, or the end of the context, with the cause that we set. The end of the context must be
// checked before the driver's error: lib/pq reports a cancelled context as SQLSTATE 57014, which is
// also the code of a statement timeout.
func Known(ctx context.Context, err error) error {
	var ours *Error
	var theirs Caller
	if errors.As(err, &ours) || errors.As(err, &theirs) {
		return err
	}
	if cause := context.Cause(ctx); cause != nil && errors.As(cause, &ours) {
		return ours
	}
	cause := ctx.Err()
	if cause == nil {
		return nil
	}
	e := Failf(CodeCancelled, "reading was stopped before it was complete")
	if errors.Is(cause, context.DeadlineExceeded) {
		e = Failf(CodeTimeout, "reading took longer than its caller allowed")
	}
	e.cause = cause
	return e
}

// Caller carries an error of the caller's own row function through the package unchanged, so that
// it is never mistaken for one of the database.
type Caller struct{ Err error }

func (c Caller) Error() string { return c.Err.Error() }
func (c Caller) Unwrap() error { return c.Err }
