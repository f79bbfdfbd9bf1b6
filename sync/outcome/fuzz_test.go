package outcome

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// FuzzOutcome sends any status, header line and body through the client and the engine's decision.
// Whatever came back: a row is sent again by itself only after an answer of the statuses that mean
// "not created", accepted only with an id after 2xx, and its next state is one that it may have.
func FuzzOutcome(f *testing.F) {
	for _, b := range goldenBodies {
		for _, status := range []int{101, 200, 201, 204, 302, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503} {
			f.Add(status, "Content-Type: application/json", []byte(b.text))
		}
	}
	f.Add(201, "Content-Encoding: gzip", []byte("\x1f\x8b"))
	f.Add(201, "Transfer-Encoding: chunked", []byte("2d\r\n"))
	f.Add(429, "Retry-After: -1", []byte(""))
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(f)
	texts := make(chan string, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, <-texts)
			}
			_ = c.Close()
		}
	}()
	f.Cleanup(func() { _ = ln.Close() })
	notCreated := map[int]bool{
		401: true, 403: true, 404: true, 405: true, 406: true, 411: true, 414: true, 415: true,
		426: true, 429: true, 431: true, 501: true, 502: true,
	}
	f.Fuzz(func(t *testing.T, status int, header string, body []byte) {
		c := must.Get(apiclient.New(apiclient.Settings{
			BaseURL: "http://" + ln.Addr().String(),
			APIKey:  "a-key-of-the-tests",
		}))(t)
		defer c.Close()
		texts <- fmt.Sprintf("HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n\r\n%s", status,
			len(body), header, body)
		answer, err := c.Submit(t.Context(), trade.OrderCommitments, "", []byte(`{"amount":1}`), nil)
		fault := apiclient.FaultNone
		var failure *apiclient.CallError
		if errors.As(err, &failure) {
			answer, fault = failure.Answer, failure.Fault
		}
		if answer.Known == apiclient.NotSent { // the connection was dead before a byte left
			select {
			case <-texts:
			default:
			}
			return
		}
		for _, strict := range []bool{false, true} {
			d := Decide(answer, fault, strict)
			switch {
			case !trade.CanMove(trade.Sending, d.State) || d.Reason.Code == "":
				t.Fatalf("%+v", d)
			case d.State == trade.Accepted &&
				(answer.ID == "" || answer.Status/100 != 2 || d.Outcome != trade.OutcomeCreated):
				t.Fatalf("accepted after %d with id %q", answer.Status, answer.ID)
			case d.State == trade.Pending && !notCreated[answer.Status]:
				t.Fatalf("sent again by itself after %d", answer.Status)
			case d.Retry == RetryLater && answer.Status != 400 && answer.Status != 404 && answer.Status != 422:
				t.Fatalf("tried again after %d", answer.Status)
			case answer.Status/100 == 2 && d.Outcome == trade.OutcomeNotCreated, answer.Status == 500 &&
				d.Outcome != trade.OutcomeUnknown:
				t.Fatalf("%d: %s", answer.Status, d.Outcome)
			}
		}
	})
}
