package apiclient_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
)

// bodies of every form, and of none.
var bodies = []struct {
	name, body string
	header     string
	format     apiclient.Format // for a status other than 2xx and 401
	messages   []string
}{
	{
		"a one key", `{"messages":["message.wallet.not-found"]}`, "", apiclient.FormatA,
		[]string{"message.wallet.not-found"},
	},
	{
		"a two keys", `{"messages":["message.a.b","message.c.d"],"trace":1}`, "", apiclient.FormatA,
		[]string{"message.a.b", "message.c.d"},
	},
	{
		"a key in other case, with a blank", `{"messages":["message.Duplicate.Key "]}`, "", apiclient.FormatA,
		[]string{"message.Duplicate.Key "},
	},
	{"a with BOM", "\xef\xbb\xbf" + `{"messages":["message.x"]}`, "", apiclient.FormatA, []string{"message.x"}},
	{
		"a connection refused", `{"messages":["message.integration.connection.refused"]}`, "", apiclient.FormatA,
		[]string{"message.integration.connection.refused"},
	},
	{
		"a technical text", `{"messages":["could not execute statement; constraint [uk_1]"]}`, "", apiclient.FormatA,
		[]string{"could not execute statement; constraint [uk_1]"},
	},
	{
		"b", `{"timestamp":"2026-11-21T09:00:00Z","status":400,"error":"Bad Request","message":"message.id.invalid"}`,
		"",
		apiclient.FormatB,
		[]string{"message.id.invalid"},
	},
	{
		"b without message", `{"timestamp":"2026-11-21T09:00:00Z","status":400,"error":"Bad Request"}`, "",
		apiclient.FormatB, nil,
	},
	{"c text", `Request method 'POST' not supported`, "Content-Type: text/plain", apiclient.FormatC, nil},
	{"c JSON string", `"Unexpected value: X"`, "", apiclient.FormatC, nil},
	{"d object", `{"code":17,"detail":"x"}`, "", apiclient.FormatD, nil},
	{"d list", `[{"code":17}]`, "", apiclient.FormatD, nil},
	{"gateway shape", `{"data":[],"error":{"text":"no"}}`, "", apiclient.FormatD, nil},
	{"empty", ``, "", apiclient.FormatEmpty, nil},
	{"blank", " \r\n", "", apiclient.FormatOther, nil},
	{"HTML", `<html><body>Bad Gateway</body></html>`, "Content-Type: text/html", apiclient.FormatHTML, nil},
	{"F115 no messages", `{"messages":[]}`, "", apiclient.FormatD, nil},
	{"F115 messages is a text", `{"messages":"x"}`, "", apiclient.FormatD, nil},
	{"F115 messages is null", `{"messages":null}`, "", apiclient.FormatD, nil},
	{"F115 odd entries", `{"messages":[1,null,{}]}`, "", apiclient.FormatD, nil},
	{
		"F115 both forms", `{"messages":["message.x"],"timestamp":"t","status":400,"error":"e"}`, "",
		apiclient.FormatD, nil,
	},
	{"messages twice", `{"messages":["message.x"],"messages":["message.y"]}`, "", apiclient.FormatD, nil},
	{"messages in other case", `{"Messages":["message.x"]}`, "", apiclient.FormatD, nil},
	{"F116 number", `5`, "", apiclient.FormatOther, nil},
	{"F116 null", `null`, "", apiclient.FormatOther, nil},
	{"F116 broken JSON", `{"messages":["message.x"`, "", apiclient.FormatOther, nil},
	{"F116 two documents", `{"messages":["message.x"]}{}`, "", apiclient.FormatOther, nil},
	{"F116 not UTF-8", "\xff\xfe\x00", "", apiclient.FormatOther, nil},
	{"F116 more than 1 MiB", strings.Repeat("x", 1<<20+1), "", apiclient.FormatTooLarge, nil},
	{"compressed", "\x1f\x8b....", "Content-Encoding: gzip", apiclient.FormatEncoded, nil},
}

// class is what design says about a status with a body in a form of the API, or in none.
func class(status int, form bool) (apiclient.Known, apiclient.FaultCode) {
	switch status {
	case 400, 409, 413, 422:
		return apiclient.NotCreated, apiclient.FaultNone
	case 401, 403, 404, 405, 406, 411, 414, 415, 426, 431, 501:
		if form {
			return apiclient.NotCreated, apiclient.FaultNone
		}
		return apiclient.Unknown, apiclient.FaultNone
	case 429:
		return apiclient.Throttled, apiclient.FaultNone
	}
	switch {
	case status >= 200 && status <= 299:
		return apiclient.CreatedIDUnknown, apiclient.FaultNone
	case status >= 300 && status <= 399:
		return apiclient.Unknown, apiclient.FaultRedirect
	case status < 200 || status > 599:
		return apiclient.Unknown, apiclient.FaultProtocol
	default:
		return apiclient.Unknown, apiclient.FaultNone
	}
}

// TestEveryStatusWithEveryBody covers F114-F117, F121, F125, F129-F132, F134, F137-F139: the status
// decides, and the form of the body where anybody may have answered.
func TestEveryStatusWithEveryBody(t *testing.T) {
	t.Parallel()
	statuses := []int{
		99, 101, 200, 201, 202, 203, 206, 299, 300, 301, 302, 307, 399,
		400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421,
		422, 423, 424,
		425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 520, 522, 599, 600, 999,
	}
	var status, body int
	s := startRaw(t, func(c net.Conn, _ received) bool {
		b := bodies[body]
		headers := []string{}
		if b.header != "" {
			headers = append(headers, b.header)
		}
		_, err := io.WriteString(c, strings.Replace(reply(status, b.body, headers...), "HTTP/1.1 99 ",
			"HTTP/1.1 099 ", 1))
		return err == nil
	})
	c := s.client(t)
	calls := 0
	for _, status = range statuses {
		for body = range bodies {
			if bodies[body].format == apiclient.FormatTooLarge && status%100 > 1 {
				continue // a megabyte for a few statuses is enough
			}
			b := bodies[body]
			a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
			calls++
			form := slices.Contains([]apiclient.Format{apiclient.FormatA, apiclient.FormatB, apiclient.FormatD},
				b.format) ||
				b.format == apiclient.FormatC &&
					(status == 405 || status == 403 && strings.Contains(b.body, "Unexpected value: ")) ||
				b.format == apiclient.FormatEmpty && (status == 401 || status == 415)
			known, fault := class(status, form)
			if status == 502 && b.name == "a connection refused" {
				known = apiclient.NotCreated
			}
			name := fmt.Sprintf("%d with %s", status, b.name)
			if a.Known != known || a.Status != status || a.ID != "" {
				t.Errorf("%s: Known = %v, Status = %d, ID = %q; want %v", name, a.Known, a.Status, a.ID, known)
			}
			if e := asError(t, err); e.Fault != fault {
				t.Errorf("%s: Fault = %v, want %v", name, e.Fault, fault)
			}
			switch {
			case status < 200: // the body is not read
			case status < 300:
				if a.APIForm() {
					t.Errorf("%s: APIForm is true for a success", name)
				}
			case b.name == "gateway shape" && status == 401:
				if a.Format != apiclient.FormatGateway401 {
					t.Errorf("%s: Format = %v", name, a.Format)
				}
			case status == 304: // has no body by definition
			default:
				if a.Format != b.format {
					t.Errorf("%s: Format = %v, want %v", name, a.Format, b.format)
				}
				if d := cmp.Diff(b.messages, a.Messages); d != "" {
					t.Errorf("%s: messages (-want +got):\n%s", name, d)
				}
				if a.APIForm() != form {
					t.Errorf("%s: APIForm = %v, want %v", name, a.APIForm(), form)
				}
			}
		}
	}
	if n := len(s.requests()); n != calls {
		t.Errorf("%d calls led to %d requests", calls, n)
	}
}

func TestF133A429SaysHowLongToWait(t *testing.T) {
	t.Parallel()
	date := "Date: Sat, 21 Nov 2026 09:00:00 GMT"
	cases := []struct {
		header string
		want   time.Duration
	}{
		{"", time.Minute},
		{"Retry-After: 5", 5 * time.Second},
		{"Retry-After: 0", time.Second},
		{"Retry-After: -1", time.Minute},
		{"Retry-After: 1000000000", time.Hour},
		{"Retry-After: 99999999999999999999999999", time.Hour},
		{"Retry-After: soon", time.Minute},
		{"Retry-After: 5.5", time.Minute},
		{"Retry-After: Sat, 21 Nov 2026 09:00:30 GMT\r\n" + date, 30 * time.Second},
		{"Retry-After: Sat, 21 Nov 2026 08:00:00 GMT\r\n" + date, time.Minute},
		{"Retry-After: Sat, 21 Nov 2027 08:00:00 GMT\r\n" + date, time.Hour},
	}
	for _, tc := range cases {
		a, _, err := submit(t, always(429, "", tc.header+"\r\nX-A: b"))
		if tc.header == "" {
			a, _, err = submit(t, always(429, ""))
		}
		wantKnown(t, a, err, apiclient.Throttled, apiclient.FaultNone)
		if a.RetryAfter != tc.want {
			t.Errorf("%q: RetryAfter = %v, want %v", tc.header, a.RetryAfter, tc.want)
		}
	}
}

func TestThe502RuleNeedsExactlyOneKey(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]apiclient.Known{
		`{"messages":["message.integration.connection.refused"]}`:                                          apiclient.NotCreated,
		`{"messages":["message.integration.connection.refused","message.integration.connection.refused"]}`: apiclient.Unknown,
		`{"messages":["message.integration.connection.refused "]}`:                                         apiclient.Unknown,
		`{"messages":["message.integration.connection.refused\u0000"]}`:                                    apiclient.Unknown,
		`{"messages":["message.other"]}`:                                                                   apiclient.Unknown,
		`["message.integration.connection.refused"]`:                                                       apiclient.Unknown,
	} {
		a, _, err := submit(t, always(http.StatusBadGateway, body))
		wantKnown(t, a, err, want, apiclient.FaultNone)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	many := `{"messages":[` + strings.Repeat(`"`+strings.Repeat("é", 400)+`",`, 500) + `"x"]}`
	a, _, err := submit(t, always(400, many))
	wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
	if len(a.Messages) != 64 || len(a.Messages[0]) > 300 {
		t.Errorf("%d messages, the first of %d bytes", len(a.Messages), len(a.Messages[0]))
	}
	if len(err.Error()) > 500 || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is long or has several lines: %q", err)
	}
}

func TestChapter7_403_TheUnknownEnumerationValueIsRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		body   string
		value  string
		ok     bool
	}{
		"text":                {403, "Unexpected value: XX", "XX", true},
		"JSON string":         {403, `"Unexpected value: XX"`, "XX", true},
		"BOM and blanks":      {403, "\xef\xbb\xbf Unexpected value: XX\r\n", "XX", true},
		"no value":            {403, "Unexpected value:", "", true},
		"a document":          {403, "Unexpected value: 529.982.247-25", "[document]", true},
		"another text":        {403, "Forbidden", "", false},
		"another status":      {400, "Unexpected value: XX", "", false},
		"a success":           {200, "Unexpected value: XX", "", false},
		"a message":           {403, `{"messages":["Unexpected value: XX"]}`, "", false},
		"a page":              {403, "<p>Unexpected value: XX</p>", "", false},
		"in the middle of it": {403, "Error. Unexpected value: XX", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, err := submit(t, always(tc.status, tc.body))
			if err == nil {
				t.Error("no error")
			}
			if value, ok := a.UnexpectedValue(); value != tc.value || ok != tc.ok {
				t.Errorf("UnexpectedValue() = %q, %v; want %q, %v", value, ok, tc.value, tc.ok)
			}
			want := apiclient.NotCreated
			switch {
			case tc.status == 200:
				want = apiclient.CreatedIDUnknown
			case !tc.ok && tc.status == 403 && tc.body[0] != '{': // text that the document does not show
				want = apiclient.Unknown
			}
			if a.Known != want {
				t.Errorf("Known = %v, want %v", a.Known, want)
			}
		})
	}
}
