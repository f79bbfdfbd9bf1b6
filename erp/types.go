package erp

import (
	"errors"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
)

// What the reader shares with the engines, under the names by which others know it.
type (
	// Options say which database is read and how.
	Options = dialect.Options
	// Secret is a text that no formatting verb, encoder or logger prints.
	Secret = dialect.Secret
	// Column is one column of a query's result.
	Column = dialect.Column
	// Value is one value as read from the ERP.
	Value = dialect.Value
	// Kind says what a value is in the database.
	Kind = dialect.Kind
	// Window says which rows are read.
	Window = dialect.Window
	// Facts are what a check of the installation wants to know of the database.
	Facts = dialect.Facts
	// Error is every error of this package except those returned by a caller's own function.
	Error = fault.Error
	// Code says what kind of trouble an [Error] is.
	Code = fault.Code
)

// The kinds of a [Value]; see package dialect for the form of its text.
const (
	Null      = dialect.Null
	Text      = dialect.Text
	Int       = dialect.Int
	Number    = dialect.Number
	Float     = dialect.Float
	Date      = dialect.Date
	Timestamp = dialect.Timestamp
	Instant   = dialect.Instant
	Bool      = dialect.Bool
	Bytes     = dialect.Bytes
)

// The codes of an [Error]; see package fault for what each means.
const (
	CodeUnreachable     = fault.CodeUnreachable
	CodeTLS             = fault.CodeTLS
	CodeAuth            = fault.CodeAuth
	CodeNoDatabase      = fault.CodeNoDatabase
	CodeNotADatabase    = fault.CodeNotADatabase
	CodeConfig          = fault.CodeConfig
	CodeSyntax          = fault.CodeSyntax
	CodeMissingColumn   = fault.CodeMissingColumn
	CodeDuplicateColumn = fault.CodeDuplicateColumn
	CodeMissingTable    = fault.CodeMissingTable
	CodePermission      = fault.CodePermission
	CodeReadOnly        = fault.CodeReadOnly
	CodeTimeout         = fault.CodeTimeout
	CodeLocked          = fault.CodeLocked
	CodeData            = fault.CodeData
	CodeCancelled       = fault.CodeCancelled
	CodeOther           = fault.CodeOther
)

// CodeOf returns the code of err, CodeOther for a foreign error and "" for nil.
func CodeOf(err error) Code { return fault.CodeOf(err) }

// CheckCharset says what is wrong with the name of a charset for Options.Charset; nil when nothing
// is.
func CheckCharset(name string) error {
	if _, bad := dialect.FindCharset(name); bad != nil {
		return bad
	}
	return nil
}

// UnknownCharset reports whether a database with this charset (Facts.Charset) keeps whatever bytes
// the programs have sent.
func UnknownCharset(name string) bool { return dialect.UnknownCharset(name) }

// forJob names the job in an error of ours; the caller's own comes out as it is.
func forJob(job string, err error) error {
	if err == nil {
		return nil
	}
	var c fault.Caller
	if errors.As(err, &c) {
		return c.Err
	}
	var e *Error
	if errors.As(err, &e) {
		if e.Job == "" && job != "" {
			named := *e
			named.Job = job
			return &named
		}
		return e
	}
	return err
}
