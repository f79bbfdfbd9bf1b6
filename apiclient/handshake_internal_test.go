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
	"testing"
)

func TestAHandshakeTellsACertificateFaultFromANetworkThatBroke(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err         error
		certificate bool
		text        string
	}{
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, true, "set api.ca_file"},
		{&tls.CertificateVerificationError{Err: io.EOF}, true, ""},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, true, "no name at all"},
		{
			x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a", "b", "c", "d"}}, Host: "h"},
			true,
			"a, b, c and others",
		},
		{tls.RecordHeaderError{Msg: "x"}, true, "does not speak TLS"},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, true, "refused the handshake"},
		{errors.New("tls: something new"), true, "something new (TLS 1.2"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false, "closed during the handshake"},
		{io.EOF, false, "closed during the handshake"},
		{io.ErrUnexpectedEOF, false, "closed during the handshake"},
		{os.ErrDeadlineExceeded, false, "no answer during the handshake"},
		{context.DeadlineExceeded, false, "no answer during the handshake"},
		{fmt.Errorf("x: %w", context.Canceled), false, "given up"},
	} {
		e := &handshakeError{host: "api.example.com", err: tc.err}
		if got := e.certificate(); got != tc.certificate {
			t.Errorf("certificate(%v) = %v, want %v", tc.err, got, tc.certificate)
		}
		if !strings.Contains(e.Error(), tc.text) {
			t.Errorf("text of %v = %q, want %q in it", tc.err, e, tc.text)
		}
	}
}

func TestWhyNoConnectionCameAboutIsSaidInWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&net.DNSError{IsNotFound: true}, "was not found; check api.base_url"},
		{&net.DNSError{IsTimeout: true}, "could not be resolved"},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "refused the connection"},
		{&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, "cannot be reached"},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, "no connection to h within"},
		{io.EOF, "closed the connection"},
	} {
		if got := networkText("h", tc.err).Error(); !strings.Contains(got, tc.want) {
			t.Errorf("networkText(%v) = %q, want %q in it", tc.err, got, tc.want)
		}
	}
}
