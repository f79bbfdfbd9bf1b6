package dialect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

// The error messages that are the same for all engines. what is what the database says of a part of
// the query; advice is what to do, for one engine.

const notAccepted = "the database does not accept the query: "

// BadSyntax returns the error for a query that the database cannot parse.
func BadSyntax(what error) *fault.Error {
	return fault.Failf(fault.CodeSyntax, notAccepted+"%w", what)
}

// MissingColumn returns the error for a column that does not exist or is misspelled.
func MissingColumn(what error) *fault.Error {
	return fault.Failf(fault.CodeMissingColumn, notAccepted+"%w; was it renamed in the ERP?", what)
}

// MissingTable returns the error for a table that does not exist or is misspelled.
func MissingTable(what error, advice string) *fault.Error {
	return fault.Failf(fault.CodeMissingTable, notAccepted+"%w; %w", what, phrase.Fixed(advice))
}

// AmbiguousColumn returns the error for a name that two columns have.
func AmbiguousColumn(what error) *fault.Error {
	return fault.Failf(fault.CodeDuplicateColumn, notAccepted+"%w; two columns have this name", what)
}

// DoubleColumn returns the error for a result with two columns of one name.
func DoubleColumn(name string) *fault.Error {
	return fault.Failf(fault.CodeDuplicateColumn, "the query returns two columns named %q; give one of them another name with AS",
		name)
}

// UnnamedColumn returns the error for a result with a column without a name.
func UnnamedColumn() *fault.Error {
	return fault.Failf(fault.CodeDuplicateColumn, "the query returns an expression without a name; name each with AS")
}

// MissingRight returns the error for a right that the reading user lacks.
func MissingRight(what error) *fault.Error {
	return fault.Failf(fault.CodePermission, "the reading user lacks a right: %w; grant it SELECT", what)
}

// TriesToWrite returns the error for a query that the database stopped because it writes.
func TriesToWrite() *fault.Error {
	return fault.Failf(fault.CodeReadOnly, "the query tries to write, and the ERP is only read; remove that part of the query")
}

// BadValue returns the error for a value that ended the statement.
func BadValue(advice string) *fault.Error {
	return fault.Failf(fault.CodeData, "a value in the ERP makes an expression of the query fail; make the expression safe, %w",
		phrase.Fixed(advice))
}

// LockedTable returns the error for a lock that was not granted in time.
func LockedTable() *fault.Error {
	return fault.Failf(fault.CodeLocked, "a table of the query stayed locked by another session for %s; try again later",
		LockTimeout)
}

// Server holds what the messages about a database server contain.
type Server struct {
	// Target is the database for display.
	Target string
	// Product is the name of the database product; Settings are the settings of erp.dsn for
	// certificates.
	Product, Settings string
	// Timeout is the time that a statement may take.
	Timeout time.Duration
}

// Failf returns an error whose text begins with a hole for the target, and those of args behind it.
func (s Server) Failf(code fault.Code, format string, args ...any) *fault.Error {
	return fault.Failf(code, format, append([]any{s.Target}, args...)...)
}

// RefusedUser returns the error for a wrong user or password; advice is what else to check.
func (s Server) RefusedUser(advice string) *fault.Error {
	return fault.Failf(fault.CodeAuth, "the ERP database at %s refused the user or the password; check erp.dsn, and %w", s.Target,
		phrase.Fixed(advice))
}

// MissingDatabase returns the error for a wrong name at the end of the address.
func (s Server) MissingDatabase() *fault.Error {
	return s.Failf(fault.CodeNoDatabase,
		"the ERP database of %s does not exist or the user may not open it; check the name at the end of erp.dsn")
}

// StoppedStatement returns the error for a statement that took too long.
func (s Server) StoppedStatement() *fault.Error {
	return fault.Failf(fault.CodeTimeout,
		"the database stopped the statement; it may take %s (erp.statement_timeout): make the query faster, e.g. by an index, or raise the limit", s.Timeout)
}

// EndedConnection returns the error for a connection that the server has ended.
func (s Server) EndedConnection() *fault.Error {
	return s.Failf(fault.CodeUnreachable,
		"the ERP database at %s ended the connection or is starting; it is tried again at the next run")
}

// LostConnection returns the error for a connection that was lost without a message.
func (s Server) LostConnection() *fault.Error {
	return s.Failf(fault.CodeUnreachable,
		"the connection to the ERP database at %s was lost; it is tried again at the next run")
}

// NoConnectionLeft returns the error for a server that accepts no more connections.
func (s Server) NoConnectionLeft() *fault.Error {
	return s.Failf(fault.CodeUnreachable,
		"the ERP database at %s has no connection left for us; it is tried again at the next run")
}

// UnknownError returns the error for any other error of the server, without its message, which may
// quote data.
func (s Server) UnknownError(number any) *fault.Error {
	return fault.Failf(fault.CodeOther, "the ERP database reports error %v; its own log has the details", number)
}

// NoAnswer returns the error for a failure that the server did not report: there was no answer at
// all, or none that the driver can read.
func (s Server) NoAnswer(err error) *fault.Error {
	var verify *tls.CertificateVerificationError
	var cert x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &verify), errors.As(err, &cert), errors.As(err, &host), errors.As(err, &invalid):
		return s.Failf(fault.CodeTLS,
			"the certificate of the ERP database at %s is not trusted; check %s in erp.dsn", s.Settings)
	case errors.As(err, &record):
		return s.Failf(fault.CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or off in erp.dsn (%s) if the network is trusted", s.Settings)
	case errors.As(err, &dns):
		return s.Failf(fault.CodeUnreachable,
			"the ERP database at %s is not reachable: the name of the host is not known; check erp.dsn and DNS")
	case errors.Is(err, syscall.ECONNREFUSED):
		return s.Failf(fault.CodeUnreachable,
			"the ERP database at %s is not reachable: connection refused; is %s running, and is the port right?", s.Product)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return s.Failf(fault.CodeUnreachable,
			"the ERP database at %s does not answer; check the network and firewall")
	case errors.Is(err, os.ErrNotExist):
		return s.Failf(fault.CodeUnreachable,
			"the ERP database at %s is not reachable: no such socket; is %s running on this host?", s.Product)
	case errors.As(err, &network), errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		return s.LostConnection()
	}
	return s.Failf(fault.CodeOther,
		"the ERP database at %s gave an answer that the driver does not understand")
}

// QuotedIn returns the first 'name' in a message, or "" if there is none.
func QuotedIn(message string) string {
	_, rest, _ := strings.Cut(message, "'")
	name, _, closed := strings.Cut(rest, "'")
	if !closed {
		return ""
	}
	return name
}
