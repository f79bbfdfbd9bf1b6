package erp

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
)

// The sentences that all engines say alike. what is a part of the query, as the database names it;
// advice is what to do, in the words of one engine.

const notAccepted = "the database does not accept the query: "

func badSyntax(what string) *Error { return failf(CodeSyntax, notAccepted+"%s", what) }

func missingColumn(what string) *Error {
	return failf(CodeMissingColumn, notAccepted+"%s; was it renamed in the ERP?", what)
}

func missingTable(what, advice string) *Error {
	return failf(CodeMissingTable, notAccepted+"%s; %s", what, advice)
}

func ambiguousColumn(what string) *Error {
	return failf(CodeDuplicateColumn, notAccepted+"%s; two columns have this name", what)
}

func doubleColumn(name string) *Error {
	return failf(CodeDuplicateColumn, "the query returns two columns named %q; give one of them another name with AS",
		name)
}

func unnamedColumn() *Error {
	return failf(CodeDuplicateColumn, "the query returns an expression without a name; name each with AS")
}

func missingRight(what string) *Error {
	return failf(CodePermission, "the reading user lacks a right: %s; grant it SELECT", what)
}

func triesToWrite() *Error {
	return failf(CodeReadOnly, "the query tries to write, and the ERP is only read; remove that part of the query")
}

func badValue(advice string) *Error {
	return failf(CodeData, "a value in the ERP makes an expression of the query fail; make the expression safe, %s",
		advice)
}

func lockedTable() *Error {
	return failf(CodeLocked, "a table of the query stayed locked by another session for %s; try again later",
		lockTimeout)
}

// server is what the sentences about a database server name.
type server struct {
	// target names the database for people.
	target string
	// product is what runs there, and settings are those of erp.dsn about certificates.
	product, settings string
	// timeout is the time that a statement may take.
	timeout time.Duration
}

func (s server) refusedUser(advice string) *Error {
	return failf(CodeAuth, "the ERP database at %s refused the user or the password; check erp.dsn, and %s", s.target,
		advice)
}

func (s server) missingDatabase() *Error {
	return failf(CodeNoDatabase,
		"the ERP database of %s does not exist or the user may not open it; check the name at the end of erp.dsn",
		s.target)
}

func (s server) stoppedStatement() *Error {
	return failf(CodeTimeout,
		"the database stopped the statement; it may take %s (erp.statement_timeout): make the query faster, e.g. by an index, or raise the limit", s.timeout)
}

func (s server) endedConnection() *Error {
	return failf(CodeUnreachable,
		"the ERP database at %s ended the connection or is starting; it is tried again at the next run", s.target)
}

func (s server) lostConnection() *Error {
	return failf(CodeUnreachable,
		"the connection to the ERP database at %s was lost; it is tried again at the next run", s.target)
}

func (s server) noConnectionLeft() *Error {
	return failf(CodeUnreachable,
		"the ERP database at %s has no connection left for us; it is tried again at the next run", s.target)
}

func (s server) unknownError(number any) *Error {
	return failf(CodeOther, "the ERP database reports error %v; its own log has the details", number)
}

// noAnswer explains an error that is not the server's: there was no answer at all, or none that the
// driver reads.
func (s server) noAnswer(err error) *Error {
	var verify *tls.CertificateVerificationError
	var cert x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	var network net.Error
	switch {
	case errors.As(err, &verify), errors.As(err, &cert), errors.As(err, &host), errors.As(err, &invalid):
		return failf(CodeTLS, "the certificate of the ERP database at %s is not trusted; check %s in erp.dsn",
			s.target, s.settings)
	case errors.As(err, &record):
		return failf(CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or off in erp.dsn (%s) if the network is trusted",
			s.target, s.settings)
	case errors.As(err, &dns):
		return failf(CodeUnreachable,
			"the ERP database at %s is not reachable: the name of the host is not known; check erp.dsn and DNS",
			s.target)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failf(CodeUnreachable,
			"the ERP database at %s is not reachable: connection refused; is %s running, and is the port right?",
			s.target, s.product)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return failf(CodeUnreachable, "the ERP database at %s does not answer; check the network and firewall",
			s.target)
	case errors.Is(err, os.ErrNotExist):
		return failf(CodeUnreachable,
			"the ERP database at %s is not reachable: no such socket; is %s running on this host?", s.target, s.product)
	case errors.As(err, &network), errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		return s.lostConnection()
	}
	return failf(CodeOther, "the ERP database at %s gave an answer that the driver does not understand", s.target)
}

// quotedIn is the first 'name' in a message; "" where there is none.
func quotedIn(message string) string {
	_, rest, _ := strings.Cut(message, "'")
	name, _, closed := strings.Cut(rest, "'")
	if !closed {
		return ""
	}
	return name
}
