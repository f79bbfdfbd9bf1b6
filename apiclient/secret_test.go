package apiclient_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
)

// wantNoKey wants no spelling of the key in a text.
func wantNoKey(t *testing.T, where, s string) {
	t.Helper()
	hexed := fmt.Sprintf("%x", testKey)
	for _, k := range []string{
		testKey, url.QueryEscape(testKey), url.PathEscape(testKey), strings.ReplaceAll(testKey, "/", `\/`),
		base64.StdEncoding.EncodeToString([]byte(testKey)), hexed, strings.ToUpper(hexed),
	} {
		if strings.Contains(s, k) {
			t.Errorf("%s shows the key: %.300q", where, s)
			return
		}
	}
}

// printed returns v as every printer shows it.
func printed(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	if j, err := json.Marshal(v); err == nil {
		b.Write(j)
	}
	slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "v", v)
	slog.New(slog.NewTextHandler(&b, nil)).Info("m", "v", v)
	return b.String()
}

func TestASecretPrintsAsSecretUnderEveryVerb(t *testing.T) {
	t.Parallel()
	o := apiclient.Settings{APIKey: testKey}
	for name, v := range map[string]any{"Secret": o.APIKey, "*Secret": &o.APIKey, "Options": o, "*Options": &o} {
		s := printed(t, v)
		wantNoKey(t, name, s)
		if !strings.Contains(s, "[secret]") {
			t.Errorf("%s does not print as [secret]", name)
		}
	}
	text, err := o.APIKey.MarshalText()
	if err != nil || string(text) != "[secret]" {
		t.Errorf("MarshalText = %q, %v", text, err)
	}
}

// I10: no error, no answer and no printed value has the key.
func TestTheKeyNeverAppearsInAnyErrorAnswerOrPrintedValue(t *testing.T) {
	t.Parallel()
	quoted, _ := json.Marshal(testKey)
	answers := map[string]answerFunc{
		"created": always(201, created, "X-Echo: "+testKey),
		"401": always(401, `{"data":[],"error":{"key":`+string(quoted)+`}}`,
			"WWW-Authenticate: Key "+testKey),
		"400 a":         always(400, `{"messages":["invalid key `+testKey+`"]}`, "Set-Cookie: k="+testKey),
		"400 a escaped": always(400, `{"messages":["`+strings.ReplaceAll(testKey, "/", `\/`)+`"]}`),
		"403 c":         always(403, "Unexpected value: "+testKey),
		"403 c cut":     always(403, strings.Repeat("x", 290)+testKey),
		"500 HTML": always(500, "<html>"+url.QueryEscape(testKey)+
			base64.StdEncoding.EncodeToString([]byte(testKey))),
		"redirect":         always(302, "", "Location: https://x.example/?k="+url.QueryEscape(testKey)),
		"garbage":          raw(testKey + "\r\n\r\n"),
		"garbage status":   raw("HTTP/1.1 " + testKey + "\r\n\r\n"),
		"garbage header":   raw("HTTP/1.1 201 OK\r\n" + testKey + "\r\n\r\n"),
		"created, no id":   always(200, `{"key":`+string(quoted)+`}`),
		"cut":              raw("HTTP/1.1 201 X\r\nContent-Length: 900\r\n\r\n" + testKey),
		"nothing":          func(net.Conn, received) bool { return false },
		"no body, no type": always(415, ""),
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, answer)
			c := s.client(t)
			wantNoKey(t, "the client", printed(t, c))
			wantNoKey(t, "the client's value in a struct", printed(t, struct{ c *apiclient.Client }{c}))
			a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
			wantNoKey(t, "the answer", printed(t, a))
			wantNoKey(t, "the body", string(a.Body))
			wantNoKey(t, "the excerpt", a.Excerpt())
			for e := err; e != nil; e = errors.Unwrap(e) {
				wantNoKey(t, "the error", printed(t, e))
				if strings.ContainsAny(e.Error(), "\r\n") {
					t.Errorf("the error has several lines: %q", e)
				}
			}
		})
	}
}

func TestTheExcerptIsShortCleanAndMasked(t *testing.T) {
	t.Parallel()
	body := "cpf 123.456.789-09 and 12345678909, cnpj 12.ABC.345/01DE-35 and 11222333000181\r\n\x00\x1b[31m\u202eabc\xff" +
		strings.Repeat("é", 3000)
	a, _, _ := submit(t, always(500, body))
	got := a.Excerpt()
	if len(got) > 2<<10 {
		t.Errorf("the excerpt has %d bytes", len(got))
	}
	for _, bad := range []string{
		"123.456", "12345678909", "ABC.345", "11222333000181", "\x00", "\x1b", "\u202e",
		"\n", "\r",
	} {
		if strings.Contains(got, bad) {
			t.Errorf("the excerpt holds %q: %.200q", bad, got)
		}
	}
	if !strings.HasPrefix(got, "cpf [document] and [document], cnpj [document] and [document]  ") ||
		!strings.HasSuffix(got, "é…") {
		t.Errorf("the excerpt is %.120q … %.20q", got, got[len(got)-20:])
	}
	if string(a.Body) != body {
		t.Error("the body itself was changed")
	}
}

// I10: what the API writes in its own words may name a person.
func TestErrorsHoldNoFreeTextOfTheAPI(t *testing.T) {
	t.Parallel()
	a, _, err := submit(t,
		always(500, `{"messages":["duplicate (cpf)=(12345678909) for Joana","message.internal.error"]}`))
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultNone)
	for _, bad := range []string{"Joana", "12345678909", "duplicate"} {
		if strings.Contains(err.Error(), bad) {
			t.Errorf("the error shows %q: %v", bad, err)
		}
	}
	if want := "create order commitment: unknown, status 500 (body: a) message.internal.error (and 1 more)"; err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
	if strings.Contains(a.Text, "12345678909") {
		t.Errorf("Text = %q", a.Text)
	}
}

func TestAQueryNeverAppearsInAnError(t *testing.T) {
	t.Parallel()
	s := startRaw(t, func(c net.Conn, _ received) bool {
		_, _ = io.WriteString(c, "HTTP/1.1 2x1 http://a/?identity=12345678909\r\n\r\n")
		return false
	})
	a, err := s.client(t).SubmitOrderCommitment(context.Background(), payload, nil)
	if strings.Contains(err.Error()+a.Evidence.Err+a.Text, "12345678909") {
		t.Errorf("error = %v, evidence = %q", err, a.Evidence.Err)
	}
}
