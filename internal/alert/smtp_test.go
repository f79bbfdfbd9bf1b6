package alert

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"
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

// mailServer is a small mail server on loopback.
type mailServer struct {
	t        testing.TB
	listener net.Listener
	config   *tls.Config
	roots    *x509.CertPool
	security Security
	wg       sync.WaitGroup

	mu     sync.Mutex // guards what follows
	mails  []letter
	dials  int
	logins []string                 // what came with AUTH
	refuse func(line string) string // the answer to a line in place of the usual one; "" = the usual
	mute   bool                     // it accepts and says nothing
	conns  []net.Conn
}

func newMailServer(t testing.TB) *mailServer { return startMailServer(t, STARTTLS) }

func startMailServer(t testing.TB, security Security) *mailServer {
	t.Helper()
	config, roots := selfSigned(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{t: t, listener: listener, config: config, roots: roots, security: security}
	s.wg.Add(1)
	go s.serve()
	t.Cleanup(func() {
		listener.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

func (s *mailServer) serve() {
	defer s.wg.Done()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.dials++
		s.conns = append(s.conns, conn)
		mute := s.mute
		s.mu.Unlock()
		if mute {
			continue
		}
		if s.security == TLS {
			conn = tls.Server(conn, s.config)
		}
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			defer conn.Close()
			s.talk(conn)
		}()
	}
}

// talk speaks SMTP (RFC 5321), STARTTLS and AUTH PLAIN, and no more than that.
func (s *mailServer) talk(conn net.Conn) {
	secure := s.security == TLS
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 mail.test ESMTP")
	var m letter
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		if answer := s.refusal(line); answer != "" {
			say(answer)
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO", "HELO":
			say("250-mail.test")
			if s.security == STARTTLS && !secure {
				say("250-STARTTLS")
			}
			say("250-8BITMIME")
			if secure || s.security == NoTLS {
				say("250-AUTH PLAIN")
			}
			say("250 ENHANCEDSTATUSCODES")
		case "STARTTLS":
			say("220 go on")
			conn = tls.Server(conn, s.config)
			in, secure = bufio.NewReader(conn), true
		case "AUTH":
			_, secret, _ := strings.Cut(rest, " ")
			text, _ := base64.StdEncoding.DecodeString(secret)
			s.mu.Lock()
			s.logins = append(s.logins, string(text))
			s.mu.Unlock()
			if string(text) != "\x00"+smtpUser+"\x00"+smtpPassword {
				// some servers are that talkative
				say("535 5.7.8 " + string(bytes.ReplaceAll(text, []byte{0}, []byte(" "))) + " is wrong")
				continue
			}
			say("235 welcome")
		case "MAIL":
			m = letter{from: address(rest)}
			say("250 ok")
		case "RCPT":
			m.to = address(rest)
			say("250 ok")
		case "DATA":
			say("354 go on")
			m.raw = dotted(in)
			s.keep(m)
			say("250 2.0.0 queued")
		case "RSET", "NOOP":
			say("250 ok")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("500 what?")
		}
	}
}

func (s *mailServer) refusal(line string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse == nil {
		return ""
	}
	return s.refuse(line)
}

// silence makes it accept connections and say nothing.
func (s *mailServer) silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = true
}

// answers changes how the server answers from now on.
func (s *mailServer) answers(refuse func(line string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

func address(text string) string {
	_, rest, _ := strings.Cut(text, "<")
	out, _, _ := strings.Cut(rest, ">")
	return out
}

func dotted(in *bufio.Reader) string {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return b.String()
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}

func (s *mailServer) keep(m letter) {
	if err := m.read(); err != nil {
		s.t.Errorf("the mail cannot be read: %v\n%s", err, m.raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
}

// read takes a message apart as a mail program does.
func (m *letter) read() error {
	parsed, err := netmail.ReadMessage(strings.NewReader(m.raw))
	if err != nil {
		return err
	}
	m.id = parsed.Header.Get("Message-Id")
	if m.subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return errors.Join(errors.New("it is "+kind), err)
	}
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if got := part.Header.Get("Content-Transfer-Encoding"); got != "quoted-printable" {
			return errors.New("encoding " + got)
		}
		data, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		switch part.Header.Get("Content-Type") {
		case "text/plain; charset=UTF-8":
			m.text = text
		case "text/html; charset=UTF-8":
			m.html = text
		default:
			return errors.New("a part of type " + part.Header.Get("Content-Type"))
		}
	}
}

// take gives the mails that came since the last call.
func (s *mailServer) take() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.mails
	s.mails = nil
	return out
}

func (s *mailServer) dialled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}

func (s *mailServer) options() EmailOptions {
	return EmailOptions{
		Host: "127.0.0.1", Port: s.listener.Addr().(*net.TCPAddr).Port, Security: s.security, User: smtpUser,
		Password: func() string { return smtpPassword },
		From:     "safrasync <safrasync@coop.example>", To: []string{"ti@coop.example"}, Roots: s.roots,
		Timeout: 10 * time.Second, HELO: "srv1",
	}
}

func (s *mailServer) channel(change ...func(*EmailOptions)) *Email {
	o := s.options()
	for _, c := range change {
		c(&o)
	}
	return NewEmail(o)
}

var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

func selfSigned(t testing.TB) (*tls.Config, *x509.CertPool) {
	t.Helper()
	cert, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{cert}}, roots
}
