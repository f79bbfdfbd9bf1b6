package apiclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// handshakeError is a TLS handshake that failed. No byte of a request had left.
type handshakeError struct {
	host string
	err  error
}

func (e *handshakeError) Error() string {
	return fmt.Sprintf("TLS with %s: %s", e.host, handshakeText(e.host, e.err))
}

func (e *handshakeError) Unwrap() error { return e.err }

// certificate reports whether the two sides could not agree, as opposed to a network that broke in the middle. The
// first lasts until somebody acts, the second passes.
func (e *handshakeError) certificate() bool {
	var errno syscall.Errno
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(e.err, &verify):
		return true
	case errors.As(e.err, &errno), errors.Is(e.err, io.EOF), errors.Is(e.err, io.ErrUnexpectedEOF),
		errors.Is(e.err, net.ErrClosed), errors.Is(e.err, os.ErrDeadlineExceeded),
		errors.Is(e.err, context.Canceled), errors.Is(e.err, context.DeadlineExceeded):
		return false
	default:
		return true
	}
}

// handshakeText says what is wrong and who can cure it.
func handshakeText(host string, err error) string {
	var (
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		if now := time.Now(); now.Before(invalid.Cert.NotBefore) {
			return fmt.Sprintf("the certificate is valid only from %s on; check the clock of this host",
				invalid.Cert.NotBefore.UTC().Format(time.DateOnly))
		}
		return fmt.Sprintf("the certificate expired on %s; whoever runs the API must renew it (or the clock of this host is wrong)",
			invalid.Cert.NotAfter.UTC().Format(time.DateOnly))
	case errors.As(err, &invalid):
		return "the certificate is not valid: " + invalid.Error()
	case errors.As(err, &name):
		return fmt.Sprintf("the certificate is for %s, not for %s; check api.base_url", certificateNames(name.Certificate), host)
	case errors.As(err, &unknown):
		return "the certificate is signed by an authority this host does not know; behind an inspecting proxy, or with a CA of your own, set api.ca_file"
	case errors.As(err, &record):
		return "the server does not speak TLS on this port; check host and port in api.base_url"
	case errors.As(err, &alert):
		return "the server refused the handshake: " + alert.Error()
	case errors.Is(err, context.Canceled):
		return "given up during the handshake"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection was closed during the handshake"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("no answer during the handshake within %v", handshakeTimeout)
	default:
		return strings.TrimPrefix(err.Error(), "tls: ") + " (TLS 1.2 or newer is needed)"
	}
}

// certificateNames lists a few of the names a certificate is for.
func certificateNames(c *x509.Certificate) string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case len(names) == 0:
		return "no name at all"
	case len(names) > 3:
		return strings.Join(names[:3], ", ") + " and others"
	default:
		return strings.Join(names, ", ")
	}
}

// connectText says in one line why no connection came about.
func connectText(host string, err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("the name %s was not found; check api.base_url and the DNS of this host", host)
	case errors.As(err, &dns):
		return fmt.Sprintf("the name %s could not be resolved; check the DNS of this host", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return host + " refused the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return host + " cannot be reached from this host; check network and firewall"
	case errors.As(err, &op) && op.Timeout():
		return fmt.Sprintf("no connection to %s within %v; check network and firewall", host, dialTimeout)
	default:
		return ""
	}
}
