package apiclient_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
)

// What the network did is told in the reader's language, with the host; the original stays in the
// evidence.
func TestWhatTheNetworkDidIsToldInPortuguese(t *testing.T) {
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
		want string
	}{
		"refused": {
			calls(apiclient.Settings{BaseURL: "http://" + closed.Addr().String()}), "127.0.0.1 recusou a conexão",
		},
		"closed": {ended(-1, "", endFIN), "127.0.0.1, ou algo no caminho, fechou a conexão"},
		"reset":  {ended(-1, "", endRST), "127.0.0.1, ou algo no caminho, cortou a conexão"},
		"cut": {
			ended(-1, "HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{", endFIN),
			"127.0.0.1, ou algo no caminho, fechou a conexão",
		},
		"silent": {
			calls(apiclient.Settings{BaseURL: "http://" + silent.Addr().String(), Timeout: time.Second}),
			"nenhuma resposta completa em 1s (api.timeout)",
		},
		"an unknown name": {
			calls(apiclient.Settings{BaseURL: "https://no.such.invalid"}), "no.such.invalid",
		},
		"an unknown authority": {calls(apiclient.Settings{BaseURL: strange.URL}), "TLS com 127.0.0.1: o certificado é assinado"},
		"no HTTP":              {ended(-1, "SSH-2.0-x\r\n\r\n", endFIN), "“"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.call(t)
			if told := i18n.Tell(i18n.Portuguese, a.Evidence.Why); !strings.HasPrefix(told, c.want) &&
				(name != "an unknown name" || !strings.Contains(told, c.want) || strings.Contains(told, "“")) {
				t.Errorf("%q (%s), want %q", told, a.Evidence.Err, c.want)
			}
			if a.Evidence.Err == "" {
				t.Error("the evidence has no original")
			}
		})
	}
}
