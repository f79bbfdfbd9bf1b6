package alert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/wneessen/go-mail"

	"github.com/safrasync/safrasync/trade"
)

// Security is how the connection to the mail server is protected.
type Security string

// The kinds of security.
const (
	STARTTLS Security = "starttls" // a plain greeting, then TLS is required
	TLS      Security = "tls"      // TLS from the first byte
	NoTLS    Security = "none"     // for a server on this host only
)

// EmailOptions configures the sending of mail.
type EmailOptions struct {
	Host, HELO string // HELO is the name of this host in the greeting; "" means its own name
	Port       int
	Security   Security
	User       string        // "" means no authentication
	Password   func() string // a function, because fmt prints fields
	From       string        // an address, with or without a name
	To         []string      // recipients of alerts
	Roots      *x509.CertPool
	Timeout    time.Duration // for one message
}

// Email is the e-mail channel. Every address gets a separate message, so that a refused address
// does not affect the others.
type Email struct{ o EmailOptions }

// NewEmail returns the channel. It opens no connection.
func NewEmail(o EmailOptions) *Email { return &Email{o} }

const emailPrefix = "email:"

// String returns a text that names the server only.
func (e *Email) String() string {
	return "e-mail (" + net.JoinHostPort(e.o.Host, strconv.Itoa(e.o.Port)) + ")"
}

// Format prints String for every verb.
func (e *Email) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, e.String()) }

// Targets returns the addresses.
func (e *Email) Targets(string) []string {
	return trade.Map(e.o.To, func(address string) string { return emailPrefix + address })
}

// Send delivers a message to one address.
func (e *Email) Send(ctx context.Context, target string, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, e.o.Timeout)
	defer cancel()
	msg := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP),
		mail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.From(e.o.From), msg.To(strings.TrimPrefix(target, emailPrefix))); err != nil {
		return &Fault{Code: "address", Why: trade.Say("delivery.mail_address")}
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(m.At)
	_, domain, _ := strings.Cut(strings.TrimSuffix(e.o.From, ">"), "@")
	msg.SetMessageIDWithValue("safrasync-" + m.ID + "@" + domain) // the same at each attempt, to identify repetitions
	msg.SetGenHeader("Auto-Submitted", "auto-generated")          // RFC 3834: no automatic replies
	msg.SetBodyString(mail.TypeTextPlain, m.text())
	// a page that any mail program can show, without scripts, images or external resources
	var b strings.Builder
	b.WriteString(
		`<!DOCTYPE html><html><head><meta charset="utf-8"></head><body style="margin:0;font-family:Arial,Helvetica,sans-serif;font-size:15px;color:#1d2330;background:#ffffff">` +
			`<div style="max-width:680px;margin:0 auto;padding:16px;border-top:6px solid ` +
			markColours[m.Tone] + `">` +
			`<h1 style="font-size:19px;margin:8px 0 16px">` + html.EscapeString(m.Subject) + "</h1>\n")
	for _, p := range m.Parts {
		if p.Heading != "" {
			b.WriteString(`<h2 style="font-size:15px;margin:18px 0 4px">` + html.EscapeString(p.Heading) + "</h2>\n")
		}
		if p.Text != "" {
			b.WriteString(`<p style="margin:0 0 8px">` + lines(p.Text) + "</p>\n")
		}
		if len(p.Items) == 0 {
			continue
		}
		b.WriteString(`<ul style="margin:4px 0 8px;padding-left:22px">` + "\n")
		for _, item := range p.Items {
			b.WriteString(`<li style="margin:0 0 6px">` + lines(item.Text))
			for _, more := range item.More {
				b.WriteString(`<br><span style="color:#4a5568">` + lines(more) + "</span>")
			}
			if item.Link.URL != "" {
				b.WriteString("<br>" + item.Link.html())
			}
			b.WriteString("</li>\n")
		}
		b.WriteString("</ul>\n")
	}
	if m.Link.URL != "" {
		b.WriteString(`<p style="margin:16px 0 0">` + m.Link.html() + "</p>\n")
	}
	b.WriteString(`<p style="margin:20px 0 0;color:#6b7280;font-size:12px">` + lines(m.Foot) +
		"</p></div></body></html>\n")
	msg.AddAlternativeString(mail.TypeTextHTML, b.String())
	var conns conns
	config := &tls.Config{ServerName: e.o.Host, RootCAs: e.o.Roots, MinVersion: tls.VersionTLS12}
	options := []mail.Option{
		mail.WithPort(e.o.Port), mail.WithTimeout(e.o.Timeout), mail.WithTLSConfig(config), mail.WithoutNoop(),
		mail.WithDialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			if e.o.Security == TLS {
				return conns.track((&tls.Dialer{Config: config}).DialContext(ctx, network, address))
			}
			c, err := conns.track((&net.Dialer{}).DialContext(ctx, network, address))
			if err != nil {
				return nil, err
			}
			if a, ok := c.RemoteAddr().(*net.TCPAddr); e.o.Security == NoTLS && (!ok || !a.IP.IsLoopback()) {
				return nil, errNotLoopback
			}
			return c, nil
		}),
	}
	// the headers are encoded in any case
	if !strings.ContainsFunc(e.o.From+target, func(r rune) bool { return r > unicode.MaxASCII }) {
		options = append(options, mail.WithoutSMTPUTF8())
	}
	mechanisms := []mail.SMTPAuthType{
		mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthCramMD5,
		mail.SMTPAuthPlain, mail.SMTPAuthLogin,
	}
	switch e.o.Security {
	case TLS:
		options = append(options, mail.WithSSL())
	case NoTLS:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
		mechanisms = append(mechanisms[:3:3], mail.SMTPAuthPlainNoEnc, mail.SMTPAuthLoginNoEnc)
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if e.o.User != "" {
		options = append(options, mail.WithOpportunisticSMTPAuth(mechanisms...), mail.WithUsername(e.o.User),
			mail.WithPassword(e.o.Password()))
	}
	if e.o.HELO != "" {
		options = append(options, mail.WithHELO(e.o.HELO))
	}
	client, err := mail.NewClient(e.o.Host, options...)
	if err != nil {
		return &Fault{Code: "options", Why: trade.Say("delivery.mail_options"), All: true}
	}
	defer conns.close()                         // the library leaves a connection open if its greeting or login failed
	defer context.AfterFunc(ctx, conns.close)() // and its own time limit starts again with each command
	if err := client.DialAndSendWithContext(ctx, msg); err != nil && !msg.IsDelivered() {
		var send *mail.SendError // without the server's text, which may repeat an address
		if errors.As(err, &send) && send.ErrorCode() > 0 {
			code, later := fmt.Sprintf("smtp_%d", send.ErrorCode()), send.ErrorCode() < 500
			switch toOne := send.Reason == mail.ErrSMTPRcptTo; {
			case toOne && later: // as a greylist does
				return &Fault{Code: code + "_recipient", Why: trade.Say("delivery.mail_address_later")}
			case toOne:
				return &Fault{Code: code + "_recipient", Why: trade.Say("delivery.mail_address_refused")}
			case later:
				return &Fault{Code: code, Why: trade.Say("delivery.mail_later"), All: true}
			}
			return &Fault{Code: code, Why: trade.Say("delivery.mail_refused"), All: true}
		}
		return connectionFault(ctx, err)
	}
	return nil
}

var errNotLoopback = errors.New("not on this host")

// codeCancelled is the fault of a delivery that was interrupted by the end of the service.
const codeCancelled = "cancelled"

// connectionFault returns why a server was not reached or the connection broke; its code is the second
// part of the code of its sentence.
func connectionFault(ctx context.Context, err error) *Fault {
	why := connectionLost(ctx, err)
	return &Fault{Code: strings.TrimPrefix(why.Code, "delivery."), Why: why, All: true}
}

func connectionLost(ctx context.Context, err error) trade.Sentence {
	var dns *net.DNSError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var protocol interface{ Timeout() bool }
	text := err.Error() // of the library: which step of a mail session failed
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return trade.Say("delivery.cancelled")
	case errors.Is(err, errNotLoopback):
		return trade.Say("delivery.not_loopback")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), ctx.Err() != nil,
		errors.As(err, &protocol) && protocol.Timeout():
		return trade.Say("delivery.timeout")
	case errors.As(err, &dns):
		return trade.Say("delivery.dns")
	case errors.As(err, &verify):
		return trade.Say("delivery.certificate")
	case errors.As(err, &record):
		return trade.Say("delivery.no_tls")
	case strings.Contains(text, "AUTH failed"), strings.Contains(text, "SMTP AUTH"),
		strings.Contains(text, "SMTP Auth"):
		return trade.Say("delivery.login")
	case strings.Contains(text, "STARTTLS"):
		return trade.Say("delivery.no_starttls")
	case errors.As(err, &op) && op.Op == "dial":
		return trade.Say("delivery.refused")
	case slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed},
		func(e error) bool { return errors.Is(err, e) }):
		return trade.Say("delivery.broken")
	}
	return trade.Say("delivery.protocol")
}

// AddressOf returns the e-mail address of a target, or "" for a target that must not be shown.
func AddressOf(target string) string {
	address, ok := strings.CutPrefix(target, emailPrefix)
	if !ok {
		return ""
	}
	return address
}
