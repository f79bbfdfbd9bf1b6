package erp

import (
	"errors"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
)

// The types that the reader shares with the engines, under the names that other packages use.
type (
	// SourceOptions state which database is read and how.
	SourceOptions = dialect.SourceOptions
	// Secret is a text that no formatting verb, encoder or logger prints.
	Secret = dialect.Secret
	// Column is one column of a query's result.
	Column = dialect.Column
	// Value is one value as read from the ERP.
	Value = dialect.Value
	// Kind is the kind of a value in the database.
	Kind = dialect.Kind
	// Window states which rows are read.
	Window = dialect.Window
	// Facts are what a check of the installation needs to know of the database.
	Facts = dialect.Facts
	// Error is every error of this package except those returned by a caller's own function.
	Error = fault.Error
	// Code is the kind of an [Error].
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

// CodeOf returns the code of err, CodeOther for an error of another package, and "" for nil.
func CodeOf(err error) Code { return fault.CodeOf(err) }

// CheckCharset returns an error if a name is not valid for SourceOptions.Charset.
func CheckCharset(name string) error {
	if _, bad := dialect.FindCharset(name); bad != nil {
		return bad
	}
	return nil
}

// UnknownCharset reports whether a database with this charset (Facts.Charset) stores whatever bytes
// programs have sent.
func UnknownCharset(name string) bool { return dialect.UnknownCharset(name) }

// forJob adds the job to an error of this package. An error of the caller's own function is
// returned unchanged.
func forJob(job string, err error) error {
	if err == nil {
		return nil
	}
	if c, ok := errors.AsType[fault.Caller](err); ok {
		return c.Err
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Job == "" && job != "" {
			named := *e
			named.Job = job
			return &named
		}
		return e
	}
	return err
}

// The ways of reading of a database without read-only transactions.
const (
	ReadsSnapshot = dialect.ReadsSnapshot
	ReadsVersions = dialect.ReadsVersions
	ReadsLocked   = dialect.ReadsLocked
)
