package apiclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/safrasync/safrasync/apiclient"
)

func chunked(body, after string) string {
	return "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2d\r\n" + body +
		"\r\n0\r\n" + after
}

func utf16Text(s string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

// What comes after a status line is taken for what it is, however it is wrapped.
func TestOddAnswersKeepTheirClass(t *testing.T) {
	t.Parallel()
	if len(created) != 0x2d {
		t.Fatalf("the sample body has %d bytes", len(created))
	}
	for name, tc := range map[string]struct {
		answer string
		known  apiclient.Known
		fault  apiclient.FaultCode
	}{
		"trailers": {chunked(created, "X-Sum: 1\r\n\r\n"), apiclient.Created, 0},
		"trailers nobody announced": {
			chunked(created, "Status: 500\r\nContent-Length: 3\r\n\r\n"),
			apiclient.Created, 0,
		},
		"an endless trailer": {
			chunked(created, "X-Sum: "+strings.Repeat("a", 1<<20)),
			apiclient.CreatedIDUnknown, apiclient.FaultProtocol,
		},
		"no end of the trailers": {
			chunked(created, "X-Sum: 1\r\n"), apiclient.CreatedIDUnknown,
			apiclient.FaultProtocol,
		},
		"no last chunk": {"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n2d\r\n" + created +
			"\r\n", apiclient.CreatedIDUnknown, apiclient.FaultProtocol},
		"a flood of chunk extensions": {
			"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n" +
				strings.Repeat("1;"+strings.Repeat("e", 4000)+"\r\n \r\n", 500), apiclient.CreatedIDUnknown,
			apiclient.FaultProtocol,
		},
		"chunks in gzip": {"HTTP/1.1 201 X\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2d\r\n" + created +
			"\r\n0\r\n\r\n", apiclient.Unknown, apiclient.FaultProtocol},
		"a length that is too short": {
			"HTTP/1.1 201 X\r\nContent-Length: 20\r\n\r\n" + created,
			apiclient.CreatedIDUnknown, 0,
		},
		"a length of the first of two": {"HTTP/1.1 201 X\r\nContent-Length: 45\r\n\r\n" + created +
			"HTTP/1.1 500 X\r\n\r\n", apiclient.Created, 0},
		"a length and chunks": {"HTTP/1.1 201 X\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2d\r\n" +
			created + "\r\n0\r\n\r\n", apiclient.Created, 0},
		"a refusal after 100": {
			"HTTP/1.1 100 Continue\r\n\r\n" + reply(400, `{"messages":["message.x"]}`),
			apiclient.NotCreated, 0,
		},
		"204 with a body": {"HTTP/1.1 204 No Content\r\n\r\n" + created, apiclient.CreatedIDUnknown, 0},
		"205":             {reply(205, ""), apiclient.CreatedIDUnknown, 0},
		"206 with a part": {reply(206, created), apiclient.Created, 0},
		"HTTP/2.0 in the first line": {
			"HTTP/2.0 201 X\r\nContent-Length: 45\r\n\r\n" + created, apiclient.Unknown,
			apiclient.FaultProtocol,
		},
		"two BOMs": {
			reply(201, "\xef\xbb\xbf\xef\xbb\xbf"+created),
			apiclient.CreatedIDUnknown, 0,
		},
		"UTF-16":                      {reply(201, utf16Text(created)), apiclient.CreatedIDUnknown, 0},
		"a NUL before the object":     {reply(201, "\x00"+created), apiclient.CreatedIDUnknown, 0},
		"invalid UTF-8 beside the id": {reply(201, `{"x":"`+"\xff"+`","id":"`+testID+`"}`), apiclient.Created, 0},
		"invalid UTF-8 in the id":     {reply(201, `{"id":"`+testID[:35]+"\xff"+`"}`), apiclient.CreatedIDUnknown, 0},
		"a number of a million digits": {
			reply(201, `{"n":`+strings.Repeat("9", 1_000_000)+`,"id":"`+testID+`"}`),
			apiclient.Created, 0,
		},
		"a number with a huge exponent": {reply(201, `{"n":1e999999999,"id":"`+testID+`"}`), apiclient.Created, 0},
		"an id in full-width digits": {
			reply(201, `{"id":"`+strings.ReplaceAll(testID, "0", "０")+`"}`),
			apiclient.CreatedIDUnknown, 0,
		},
		"an id with a NUL":             {reply(201, `{"id":"`+testID+`\u0000"}`), apiclient.CreatedIDUnknown, 0},
		"a refusal in UTF-16":          {reply(400, utf16Text(`{"messages":["message.a"]}`)), apiclient.NotCreated, 0},
		"a refusal of endless nesting": {reply(400, strings.Repeat(`{"messages":[`, 50_000)), apiclient.NotCreated, 0},
		"messages with a null":         {reply(400, `{"messages":["message.a",null]}`), apiclient.NotCreated, 0},
		"messages of a 500":            {reply(500, `{"messages":[{"a":1},5]}`), apiclient.Unknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, err := submit(t, func(c net.Conn, _ received) bool {
				_, _ = io.WriteString(c, tc.answer)
				return false
			})
			wantKnown(t, a, err, tc.known, tc.fault)
			if tc.known == apiclient.Created && a.ID != testID {
				t.Errorf("ID = %q", a.ID)
			}
			if strings.HasPrefix(name, "messages") && len(a.Messages) != 0 {
				t.Errorf("messages = %q", a.Messages)
			}
		})
	}
}

// Whatever a connection carried, the next call gets its own answer or none.
func TestAfterAnOddAnswerTheNextCallGetsItsOwn(t *testing.T) {
	t.Parallel()
	for _, first := range []string{
		"HTTP/1.1 201 X\r\nContent-Length: 45\r\n\r\n" + created + reply(201, `{"id":"`+otherID+`"}`),
		"HTTP/1.1 204 X\r\n\r\n" + reply(201, `{"id":"`+otherID+`"}`),
		"HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n" + "{}" + reply(201, `{"id":"`+otherID+`"}`),
		chunked(created, "\r\n") + reply(201, `{"id":"`+otherID+`"}`),
		"HTTP/1.1 200 X\r\nContent-Length: 45\r\n\r\n" + created + "garbage",
	} {
		s := startRaw(t, func(c net.Conn, r received) bool {
			answer := first
			if r.nth > 1 || r.conn > 1 {
				answer = reply(201, created)
			}
			_, err := io.WriteString(c, answer)
			return err == nil
		})
		c := s.client(t)
		_, _ = c.SubmitOrderCommitment(context.Background(), payload, nil)
		a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		if a.ID != testID {
			t.Errorf("%q: the second call got %q", first, a.ID)
		}
	}
}

// A call that is given up keeps its evidence at every stage, and frees its slot and its goroutines
// (TestMain counts those).
func TestACallThatIsGivenUpKeepsItsEvidenceAndFreesItsSlot(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"nothing yet": "", "half a status line": "HTTP/1.1 20",
		"the headers": "HTTP/1.1 201 X\r\nContent-Length: 45\r\n\r\n",
		"half a body": "HTTP/1.1 201 X\r\nContent-Length: 45\r\n\r\n{\"id\"",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		s := startRaw(t, func(c net.Conn, r received) bool {
			if r.conn > 1 {
				_, err := io.WriteString(c, reply(201, created))
				return err == nil
			}
			if _, err := io.WriteString(c, head); err != nil {
				return false
			}
			cancel()
			_, _ = io.Copy(io.Discard, c) // until the client goes away
			return false
		})
		c := newClient(t, apiclient.Settings{BaseURL: s.url(), Timeout: 30 * time.Second})
		a, err := c.SubmitOrderCommitment(ctx, payload, nil)
		if a.Known != apiclient.Unknown && a.Known != apiclient.CreatedIDUnknown || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", name, a.Known, err)
		}
		if a.Evidence.Phase < apiclient.PhaseWroteAll || a.Evidence.BytesWritten == 0 || a.Evidence.RemoteAddr == "" {
			t.Errorf("%s: evidence %+v", name, a.Evidence)
		}
		a, err = c.SubmitOrderCommitment(context.Background(), payload, nil)
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		cancel()
	}
}

// Chapter 7 knows that DELETE owner-details fails on every call: no method of the client leads
// there.
func TestChapter7_DeleteOwnerDetailsIsNotOffered(t *testing.T) {
	t.Parallel()
	client := reflect.TypeFor[*apiclient.Client]()
	for i := range client.NumMethod() {
		if name := client.Method(i).Name; strings.Contains(name, "Owner") {
			t.Errorf("%s is offered", name)
		}
	}
	if client.NumMethod() < 18 {
		t.Errorf("only %d methods were seen", client.NumMethod())
	}
}
