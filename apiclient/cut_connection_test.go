package apiclient_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

// ending is how a connection ends at its cut.
type ending string

const (
	endFIN   ending = "FIN"   // an orderly end
	endRST   ending = "RST"   // a reset
	endStall ending = "stall" // silence, until the caller gives up
)

var endings = []ending{endFIN, endRST, endStall}

type submission = func(context.Context, *apiclient.Client) (apiclient.Answer, error)

// creates are the three endpoints whose records the engine sends.
var creates = []struct {
	name   string
	submit submission
}{
	{"order commitment", func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
		return c.SubmitOrderCommitment(ctx, payload, nil)
	}},
	{"delivery", func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
		return c.SubmitDelivery(ctx, payload, nil)
	}},
	{"traceability", func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
		return c.SubmitTraceability(ctx, namedID, payload, nil)
	}},
}

// cut is how the connections of one call end: after so many bytes of the request (below 0: the
// whole request, which ends with the payload) and these of the answer.
type cut struct {
	read   int
	answer string
	how    ending
}

// call makes one call whose connections end as said, and gives the answer and how many bytes of the
// request arrived (of a reset only those before it). Each call has a server of its own: a transport
// that finds its connection dead before the first byte opens another one.
func (k cut) call(t *testing.T, submit submission) (a apiclient.Answer, arrived int, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var bytesRead atomic.Int64
	addr, end := accept(t, func(c *net.TCPConn) { bytesRead.Add(k.serve(c, cancel)) })
	c := must.Get(apiclient.New(apiclient.Settings{BaseURL: "http://" + addr, APIKey: testKey}))(t)
	a, err = submit(ctx, c)
	c.Close()
	end()
	return a, int(bytesRead.Load()), err
}

// serve reads, answers and ends one connection; at a stall the caller gives up.
func (k cut) serve(c *net.TCPConn, giveUp func()) int64 {
	var got bytes.Buffer
	for buf := make([]byte, 4096); k.read < 0 && !bytes.HasSuffix(got.Bytes(), payload); {
		n, err := c.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			return int64(got.Len())
		}
	}
	_, _ = io.CopyN(&got, c, int64(max(k.read, 0)))
	_, _ = io.WriteString(c, k.answer)
	switch k.how {
	case endRST:
		_ = c.SetLinger(0)
		return int64(got.Len())
	case endFIN:
		_ = c.CloseWrite()
	case endStall:
		giveUp()
	}
	_, _ = io.Copy(&got, c)
	return int64(got.Len())
}

// F090, F091, F092: the connection ends after every byte of the request. Once the server has seen a
// byte, nothing but "unknown" may be said; "not sent" only when none arrived.
func TestF091TheConnectionIsCutAtEveryByteOfTheRequest(t *testing.T) {
	t.Parallel()
	for _, e := range creates {
		for _, how := range endings {
			t.Run(e.name+" "+string(how), func(t *testing.T) {
				t.Parallel()
				_, size, _ := cut{-1, reply(201, created), endFIN}.call(t, e.submit)
				if size < 200 {
					t.Fatalf("the whole request has %d bytes", size)
				}
				for at := range size {
					a, arrived, err := cut{at, "", how}.call(t, e.submit)
					switch {
					case err == nil:
						t.Errorf("cut after byte %d: no error", at)
					case a.Known == apiclient.NotSent && arrived == 0 && a.Evidence.BytesWritten == 0:
					case a.Known != apiclient.Unknown:
						t.Errorf("cut after byte %d: %v, and %d bytes arrived (%v)", at, a.Known, arrived, err)
					}
				}
				t.Logf("%d cuts", size)
			})
		}
	}
}

// F092, F108: the connection ends after every byte of the answer. Created only with the whole
// answer; a refusal from the end of its head on; nothing is ever "not sent".
func TestF108TheConnectionIsCutAtEveryByteOfTheAnswer(t *testing.T) {
	t.Parallel()
	answers := []struct {
		name, text string
		body       apiclient.Known // from the end of the head on
		whole      apiclient.Known
	}{
		{
			"created", reply(201, created, "Content-Type: application/json"), apiclient.CreatedIDUnknown,
			apiclient.Created,
		},
		{"created, in chunks", chunked(created, "\r\n"), apiclient.CreatedIDUnknown, apiclient.Created},
		{
			"created, until the end of the connection", "HTTP/1.1 201 X\r\nConnection: close\r\n\r\n" + created,
			apiclient.CreatedIDUnknown, apiclient.Created,
		},
		{"refused", reply(400, `{"messages":["message.duplicate.key"]}`), apiclient.NotCreated, apiclient.NotCreated},
		{
			"refused connection", reply(http.StatusBadGateway,
				`{"messages":["message.integration.connection.refused"]}`),
			apiclient.Unknown, apiclient.NotCreated,
		},
		{"failed", reply(500, `{"messages":["message.internal.error"]}`), apiclient.Unknown, apiclient.Unknown},
	}
	for _, e := range creates {
		for _, how := range endings {
			t.Run(e.name+" "+string(how), func(t *testing.T) {
				t.Parallel()
				cuts := 0
				for _, answer := range answers {
					head := strings.Index(answer.text, "\r\n\r\n") + 4
					for at := range len(answer.text) + 1 {
						if at == len(answer.text) && how == endStall &&
							strings.Contains(answer.text, "Connection: close") {
							continue // nothing tells that it is whole
						}
						cuts++
						if err := cutAnswer(t, e.submit, answer.text, at, head, how, answer.body,
							answer.whole); err != nil {
							t.Errorf("%s: %v", answer.name, err)
						}
					}
				}
				t.Logf("%d cuts", cuts)
			})
		}
	}
}

// cutAnswer cuts one answer at one byte and judges what the client says. A reset and a caller that
// gives up may overtake bytes that were written before.
func cutAnswer(t *testing.T, submit submission, text string, at, head int, how ending,
	body, whole apiclient.Known,
) error {
	t.Helper()
	want := []apiclient.Known{apiclient.Unknown}
	if at >= head {
		want = append(want, body)
	}
	if at == len(text) {
		want = append(want, whole)
	}
	if how == endFIN {
		want = want[len(want)-1:]
	}
	a, _, _ := cut{-1, text[:at], how}.call(t, submit)
	if slices.Contains(want, a.Known) {
		return nil
	}
	return fmt.Errorf("cut after byte %d of %d (head: %d): %v, want one of %v", at, len(text), head, a.Known, want)
}
