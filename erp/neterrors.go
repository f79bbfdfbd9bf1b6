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
	"syscall"
)

// networkProblem explains why a server gives no answer at all; nil when the
// error is of another kind. settings are those of erp.dsn about certificates.
func networkProblem(err error, target, product, settings string) *Error {
	var verify *tls.CertificateVerificationError
	var cert x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &verify), errors.As(err, &cert), errors.As(err, &host), errors.As(err, &invalid):
		return failf(CodeTLS, "the certificate of the ERP database at %s is not trusted; check %s in erp.dsn",
			target, settings)
	case errors.As(err, &record):
		return failf(CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or off in erp.dsn (%s) if the network is trusted", target, settings)
	case errors.As(err, &dns):
		return failf(CodeUnreachable,
			"the ERP database at %s is not reachable: the name of the host is not known; check erp.dsn and DNS", target)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failf(CodeUnreachable,
			"the ERP database at %s is not reachable: connection refused; is %s running, and is the port right?",
			target, product)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return failf(CodeUnreachable, "the ERP database at %s does not answer; check the network and firewall", target)
	case errors.Is(err, os.ErrNotExist):
		return failf(CodeUnreachable,
			"the ERP database at %s is not reachable: no such socket; is %s running on this host?", target, product)
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) {
		return failf(CodeUnreachable,
			"the connection to the ERP database at %s was lost; it is tried again at the next run", target)
	}
	return nil
}
