package alert

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/must"
)

const (
	smtpUser     = "safrasync@coop.example"
	smtpPassword = "canary-smtp-password-91bc"
)

// letter is one message as it arrived.
type letter struct {
	from, to, subject, id string
	text, html            string
	raw                   string
}

// mailServer is a small mail server on loopback, and what it has seen.
type mailServer struct {
	t        testing.TB
	listener net.Listener
	options  EmailOptions // to reach it

	refused atomic.Int64 // so many steps

	mu      sync.Mutex // guards what follows
	mails   []letter
	logins  []string        // the users of AUTH
	utf8    []bool          // whether SMTPUTF8 was asked for
	refuses string          // it refuses the steps that begin so,
	with    *smtp.SMTPError // with this; nil: none
}

func newMailServer(t testing.TB, security Security) *mailServer {
	t.Helper()
	lent := httptest.NewTLSServer(nil) // for its certificate
	lent.Close()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &mailServer{t: t, listener: listener, options: EmailOptions{
		Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, Security: security, User: smtpUser,
		Password: func() string { return smtpPassword },
		From:     "safrasync <safrasync@coop.example>", To: []string{"ti@coop.example"},
		Roots:   lent.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Timeout: 10 * time.Second, HELO: "srv1",
	}}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &mailSession{s: s}, s.step("EHLO")
	}))
	server.EnableSMTPUTF8 = true
	server.ErrorLog = log.New(io.Discard, "", 0)
	server.AllowInsecureAuth = security == NoTLS
	if security != NoTLS {
		server.TLSConfig = lent.TLS
	}
	if security == TLS {
		listener = tls.NewListener(listener, lent.TLS)
	}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		_ = server.Close()
		_ = listener.Close()
		served.Wait()
	})
	return s
}

// mailSession is one connection.
type mailSession struct {
	s *mailServer
	m letter
}

func (*mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }
func (*mailSession) Reset()                   {}
func (*mailSession) Logout() error            { return nil }

func (x *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		x.s.mu.Lock()
		defer x.s.mu.Unlock()
		x.s.logins = append(x.s.logins, user)
		if user == smtpUser && password == smtpPassword {
			return nil
		}
		return &smtp.SMTPError{Code: 535, Message: user + " " + password + " is wrong"} // some are that talkative
	}), nil
}

func (x *mailSession) Mail(from string, o *smtp.MailOptions) error {
	x.m.from = from
	x.s.mu.Lock()
	x.s.utf8 = append(x.s.utf8, o.UTF8)
	x.s.mu.Unlock()
	return x.s.step("MAIL")
}

func (x *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	x.m.to = to
	return x.s.step("RCPT " + to)
}

func (x *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	x.m.raw = string(raw)
	if err := errors.Join(err, x.s.step("DATA")); err != nil {
		return err
	}
	if err := x.m.read(); err != nil {
		x.s.t.Errorf("the mail cannot be read: %v\n%s", err, raw)
	}
	for _, line := range english.Lines(x.m.subject + "\n" + x.m.text) { // its page says the same
		x.s.t.Errorf("English in a mail in Portuguese: %s", line)
	}
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.mails = append(x.s.mails, x.m)
	return nil
}

// step decides about one step of a session.
func (s *mailServer) step(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.with == nil || !strings.HasPrefix(what, s.refuses) {
		return nil
	}
	s.refused.Add(1)
	return s.with
}

// refuse lets the server refuse some steps from now on, by how they begin.
func (s *mailServer) refuse(steps string, code int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses, s.with = steps, &smtp.SMTPError{Code: code, Message: text}
}

// accept lets it refuse nothing any more.
func (s *mailServer) accept() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.with = nil
}

// read takes a message apart as a mail program does.
func (m *letter) read() error {
	parsed, err := netmail.ReadMessage(strings.NewReader(m.raw))
	if err != nil {
		return err
	}
	m.id = parsed.Header.Get("Message-Id")
	m.subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return errors.Join(errors.New("it is "+kind), err)
	}
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	for _, of := range []struct {
		kind string
		text *string
	}{{"text/plain", &m.text}, {"text/html", &m.html}} {
		part, err := parts.NextPart() // it decodes quoted-printable, and then takes its header out
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		*of.text = strings.ReplaceAll(string(data), "\r\n", "\n")
		if encoding := part.Header.Get("Content-Transfer-Encoding"); err != nil || encoding != "" ||
			part.Header.Get("Content-Type") != of.kind+"; charset=UTF-8" {
			return errors.Join(err, fmt.Errorf("a part is %v", part.Header))
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		return fmt.Errorf("after the parts: %w", err)
	}
	return nil
}

// take returns the mails that came since the last call.
func (s *mailServer) take() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.mails
	s.mails = nil
	return out
}

func (s *mailServer) channel(change ...func(*EmailOptions)) *Email {
	o := s.options
	for _, c := range change {
		c(&o)
	}
	return NewEmail(o)
}
