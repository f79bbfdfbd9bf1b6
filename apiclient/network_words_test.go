package apiclient_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
)

// What the network did is a sentence with the host, which package i18n has in Portuguese. The original
// stays in the evidence, and is quoted only where nothing better is known.
func TestWhatTheNetworkDidIsASentence(t *testing.T) {
	t.Parallel()
	submit := creates[0].submit
	ended := func(read int, answer string, how ending) func(*testing.T) apiclient.Answer {
		return func(t *testing.T) apiclient.Answer {
			t.Helper()
			a, _, _ := cut{read, answer, how}.call(t, submit)
			return a
		}
	}
	calls := func(s apiclient.Settings) func(*testing.T) apiclient.Answer {
		return func(t *testing.T) apiclient.Answer {
			t.Helper()
			s.APIKey = testKey
			a, _ := submit(context.Background(), newClient(t, s))
			return a
		}
	}
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.Do(t, closed.Close())
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = silent.Close() })
	strange, _ := startTLS(t, newAuthority(t).issue(t, nil), nil)
	for name, c := range map[string]struct {
		call func(*testing.T) apiclient.Answer
		want string // the key of the sentence, or of the one in it
	}{
		"refused": {
			calls(apiclient.Settings{BaseURL: "http://" + closed.Addr().String()}), "%s refused the connection",
		},
		"closed": {ended(-1, "", endFIN), "%s, or something before it, closed the connection"},
		"reset":  {ended(-1, "", endRST), "%s, or something before it, reset the connection"},
		"cut": {
			ended(-1, "HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{", endFIN),
			"%s, or something before it, closed the connection",
		},
		"silent": {
			calls(apiclient.Settings{BaseURL: "http://" + silent.Addr().String(), Timeout: time.Second}),
			"no complete answer within %s (api.timeout)",
		},
		"an unknown authority": {
			calls(apiclient.Settings{BaseURL: strange.URL}),
			"the certificate is signed by an authority this host does not know; behind an inspecting proxy, or with a CA of your own, set api.ca_file",
		},
		"no HTTP": {ended(-1, "SSH-2.0-x\r\n\r\n", endFIN), "%s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.call(t)
			said := phrase.Of(a.Evidence.Why)
			key := said.Key()
			for _, arg := range said.Args() {
				if inner, ok := arg.(*phrase.Text); ok {
					key = inner.Key()
				}
			}
			if key != c.want || a.Evidence.Err == "" {
				t.Errorf("%q (%s), want %q", key, a.Evidence.Err, c.want)
			}
		})
	}
}
