package apiclient_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

const created = `{"id":"` + testID + `"}`

func TestF104ASuccessWithOneValidIdIsCreated(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"200":               reply(200, created),
		"201":               reply(201, created),
		"202":               reply(202, created),
		"upper-case UUID":   reply(201, `{"id":"`+strings.ToUpper(testID)+`"}`),
		"byte order mark":   reply(201, "\xef\xbb\xbf"+created),
		"unknown fields":    reply(201, `{"a":{"id":"`+otherID+`"},"id":"`+testID+`","ids":[1],"idx":2}`),
		"blanks around":     reply(201, " \n"+created+"\r\n"),
		"charset":           reply(201, created, "Content-Type: application/json;charset=ISO-8859-1"),
		"wrong type":        reply(201, created, "Content-Type: text/html"),
		"identity encoding": reply(201, created, "Content-Encoding: identity"),
		"chunked": "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + created[:5] +
			"\r\n2b\r\n" + created[5:] + "\r\n0\r\n\r\n",
		"until close": "HTTP/1.0 201 Created\r\n\r\n" + created,
		"interim answers": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
			reply(201, created),
		"escaped name":   reply(201, `{"\u0069d":"`+testID+`"}`),
		"F112 not UTF-8": reply(201, "{\"id\":\""+testID+"\",\"nome\":\"JO\xc3O\"}"),
	} {
		if name == "chunked" {
			answer = strings.Replace(answer, "2b\r\n", fmt.Sprintf("%x\r\n", len(created)-5), 1)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, err := submit(t, raw(answer))
			wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			if a.ID != testID {
				t.Errorf("ID = %q, want %q", a.ID, testID)
			}
		})
	}
}

func TestASuccessWithoutOneValidIdIsNeverCreated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer string
		fault  apiclient.FaultCode
	}{
		"F105 empty":            {reply(200, ""), 0},
		"F105 204":              {"HTTP/1.1 204 No Content\r\n\r\n", 0},
		"F105 {}":               {reply(201, `{}`), 0},
		"F105 null":             {reply(201, `{"id":null}`), 0},
		"F105 number":           {reply(201, `{"id":5}`), 0},
		"F105 object":           {reply(201, `{"id":{"id":"`+testID+`"}}`), 0},
		"F105 text":             {reply(201, `{"id":"abc"}`), 0},
		"F105 path":             {reply(201, `{"id":"../../x"}`), 0},
		"F105 braces":           {reply(201, `{"id":"{`+testID+`}"}`), 0},
		"F105 urn":              {reply(201, `{"id":"urn:uuid:`+testID+`"}`), 0},
		"F105 blank":            {reply(201, `{"id":" `+testID+`"}`), 0},
		"F105 nil UUID":         {reply(201, `{"id":"00000000-0000-0000-0000-000000000000"}`), 0},
		"F105 nested only":      {reply(201, `{"data":`+created+`}`), 0},
		"F106 list":             {reply(201, `[`+created+`]`), 0},
		"F106 text":             {reply(201, `"`+testID+`"`), 0},
		"F106 number":           {reply(201, `5`), 0},
		"F106 true":             {reply(201, `true`), 0},
		"F106 null":             {reply(201, `null`), 0},
		"F106 two documents":    {reply(201, created+created), 0},
		"F106 trailing":         {reply(201, created+"x"), 0},
		"F107 doubled":          {reply(201, `{"id":"`+testID+`","id":"`+otherID+`"}`), 0},
		"F107 the same twice":   {reply(201, `{"id":"`+testID+`","id":"`+testID+`"}`), 0},
		"F107 other case":       {reply(201, `{"id":"`+testID+`","ID":"`+otherID+`"}`), 0},
		"F107 other case first": {reply(201, `{"Id":"`+otherID+`","id":"`+testID+`"}`), 0},
		"F107 other case only":  {reply(201, `{"ID":"`+testID+`"}`), 0},
		"F107 escaped double":   {reply(201, `{"id":"`+testID+`","\u0069\u0064":"`+otherID+`"}`), 0},
		"F108 cut": {
			"HTTP/1.1 201 X\r\nContent-Length: 100\r\n\r\n" + created,
			apiclient.FaultProtocol,
		},
		"F108 cut chunk": {
			"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n2f\r\n" + created,
			apiclient.FaultProtocol,
		},
		"F108 bad chunk": {
			"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + created,
			apiclient.FaultProtocol,
		},
		"F108 cut until close": {"HTTP/1.0 201 X\r\n\r\n" + created[:20], 0},
		"F109 HTML":            {reply(200, `<html>login</html>`), 0},
		"F109 OK":              {reply(200, `OK`), 0},
		"F110 says gzip":       {reply(201, created, "Content-Encoding: gzip"), 0},
		"F110 says br":         {reply(201, created, "Content-Encoding: br"), 0},
		"F111 50 MB": {"HTTP/1.1 201 X\r\nContent-Length: 50000000\r\n\r\n{\"id\":\"" + testID +
			`","x":"` + strings.Repeat("x", 2<<20), 0},
		"F111 one byte too much": {reply(201, created+strings.Repeat(" ", 1<<20+1-len(created))), 0},
		"F111 100,000 deep": {reply(201, `{"id":"`+testID+`","x":`+strings.Repeat("[", 100000)+
			strings.Repeat("]", 100000)+`}`), 0},
		"F111 100,000 deep, open":  {reply(201, strings.Repeat(`{"a":`, 100000)), 0},
		"F111 many members broken": {reply(201, `{`+strings.Repeat(`"a":1,`, 100000)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, err := submit(t, raw(tc.answer))
			wantKnown(t, a, err, apiclient.CreatedIDUnknown, tc.fault)
			if a.Status < 200 || a.Status > 299 {
				t.Errorf("Status = %d", a.Status)
			}
			if len(a.Body) > 1<<20 {
				t.Errorf("%d bytes of the body were kept", len(a.Body))
			}
		})
	}
}

func TestExactlyOneMebibyteIsStillRead(t *testing.T) {
	t.Parallel()
	a, _, err := submit(t, raw(reply(201, created+strings.Repeat(" ", 1<<20-len(created)))))
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
}

func TestAnAnswerThatIsNotHTTPIsUnknown(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"F139 garbage":             "hello\r\n\r\n",
		"F139 HTTP/0.9":            created,
		"F139 no status":           "HTTP/1.1\r\n\r\n",
		"F139 letters":             "HTTP/1.1 abc OK\r\n\r\n" + created,
		"F139 four digits":         "HTTP/1.1 2010 OK\r\n\r\n" + created,
		"F139 negative":            "HTTP/1.1 -01 OK\r\n\r\n",
		"header cut":               "HTTP/1.1 400 Bad Request\r\nContent-Le",
		"status line cut":          "HTTP/1.1 400",
		"bad header":               "HTTP/1.1 201 OK\r\nno colon here\r\n\r\n" + created,
		"two lengths":              "HTTP/1.1 201 OK\r\nContent-Length: 47\r\nContent-Length: 3\r\n\r\n" + created,
		"bad length":               "HTTP/1.1 201 OK\r\nContent-Length: -5\r\n\r\n" + created,
		"F101 endless header line": "HTTP/1.1 201 OK\r\nX: " + strings.Repeat("a", 80<<10),
		"F101 endless headers":     "HTTP/1.1 201 OK\r\n" + strings.Repeat("X-A: b\r\n", 20<<10),
		"F102 flood of 1xx": strings.Repeat(
			"HTTP/1.1 100 Continue\r\nX-A: 0123456789012345678901234567890123456789\r\n\r\n", 20<<10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, err := submit(t, func(c net.Conn, _ received) bool {
				_, _ = io.WriteString(c, answer)
				// Not closed with unread bytes: a reset could overtake the answer.
				return false
			})
			wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultProtocol)
			if a.Status != 0 {
				t.Errorf("Status = %d, want 0", a.Status)
			}
			if flood := strings.HasPrefix(name, "F10"); flood != strings.Contains(a.Evidence.Err,
				"exceeded 65536 bytes") {
				t.Errorf("error = %v; want the header limit named for a flood only", err)
			}
			if a.Evidence.Phase < apiclient.PhaseFirstByte {
				t.Errorf("phase = %v", a.Evidence.Phase)
			}
			if strings.Contains(err.Error(), "hello") || strings.Contains(err.Error(), testID) {
				t.Errorf("the error quotes the answer: %v", err)
			}
		})
	}
}

func TestF102SwitchingProtocolsIsUnknown(t *testing.T) {
	t.Parallel()
	a, _, err := submit(t, raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"+created))
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultProtocol)
}

// Where the status alone decides, a cut body changes nothing; where the form must be the API's, it
// is in none.
func TestARefusalWhoseBodyIsCut(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 403, 404, 409, 413, 422, 501} {
		a, _, err := submit(t,
			raw(fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: 100\r\n\r\n{\"messages\":[\"message.x\"]}", status)))
		if slices.Contains([]int{401, 403, 404, 501}, status) {
			wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultProtocol)
		} else {
			wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
		}
		if a.Format != apiclient.FormatCut || a.APIForm() || a.Evidence.Err == "" || len(a.Messages) != 0 {
			t.Errorf("%d: format %v, APIForm %v, messages %v, evidence %q", status, a.Format, a.APIForm(), a.Messages,
				a.Evidence.Err)
		}
	}
	a, _, err := submit(t,
		raw("HTTP/1.1 502 X\r\nContent-Length: 100\r\n\r\n{\"messages\":[\"message.integration.connection.refused\"]}"))
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultProtocol)
}

func TestF091AConnectionThatBreaksInTheMiddleOfTheRequestIsUnknown(t *testing.T) {
	t.Parallel()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = ln.Close() }()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, c, 10)
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}()
	a, err := newClient(t, apiclient.Settings{BaseURL: "http://" + ln.Addr().String()}).
		SubmitOrderCommitment(context.Background(), make([]byte, 64<<20), nil)
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultNetwork)
	if a.Evidence.Phase != apiclient.PhaseWroteSome {
		t.Errorf("phase = %v, want wrote_some", a.Evidence.Phase)
	}
}

func TestF101ADrippingAnswerEndsWithTheTimeout(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]apiclient.Known{
		"HTTP/1.1 201 X\r\nContent-Length: 100000\r\n\r\n" + created: apiclient.CreatedIDUnknown,
		"HTTP/1.1 500 X\r\nContent-Length: 100000\r\n\r\n":           apiclient.Unknown,
		"HTTP/1.1 201 X\r\nX-A: ":                                    apiclient.Unknown,
	} {
		t.Run(head[9:12]+" "+want.String(), func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, func(c net.Conn, _ received) bool {
				tick := time.NewTicker(5 * time.Millisecond)
				defer tick.Stop()
				for there := writes(c, head); there; <-tick.C {
					there = writes(c, " ")
				}
				return false
			})
			c := newClient(t, apiclient.Settings{BaseURL: s.url(), Timeout: overSoon})
			a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
			wantKnown(t, a, err, want, apiclient.FaultTimeout)
		})
	}
}

// One megabyte in flight that would be one gibibyte. Also endless chunks. The memory stays
// flat.
func TestF110BombsAndEndlessAnswersLeaveTheMemoryFlat(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	zero := make([]byte, 1<<20)
	for range 256 {
		must.Get(z.Write(zero))(t)
	}
	must.Do(t, z.Close())
	chunk := "100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n"
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 4 {
		a, _, err := submit(t, raw(reply(201, bomb.String(), "Content-Encoding: gzip",
			"Content-Type: application/json")))
		wantKnown(t, a, err, apiclient.CreatedIDUnknown, apiclient.FaultNone)
		if len(a.Body) != bomb.Len() {
			t.Errorf("%d bytes were kept of a body of %d", len(a.Body), bomb.Len())
		}
		a, _, err = submit(t, func(c net.Conn, _ received) bool {
			if _, err := io.WriteString(c, "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n"); err != nil {
				return false
			}
			for {
				if _, err := io.WriteString(c, chunk); err != nil {
					return false
				}
			}
		})
		wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultNone)
		if a.Format != apiclient.FormatTooLarge || len(a.Body) != 1<<20 {
			t.Errorf("format %v, %d bytes", a.Format, len(a.Body))
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 128<<20 {
		t.Errorf("%d MiB were allocated for 8 hostile answers", grown>>20)
	}
}
