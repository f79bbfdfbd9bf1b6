package console_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// Pages are compressed for browsers that ask for it. A stream is not.
func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, "sqlite")).WithPeople()
	b := w.As(trade.Reader)
	get := func(path, accept string) (*http.Response, []byte) {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, w.Server.URL+path, nil))(t)
		r.Header.Set("Accept-Encoding", accept)
		answer := must.Get(b.Client.Do(r))(t)
		defer func() { must.Do(t, answer.Body.Close()) }()
		if path == "/live" {
			return answer, nil
		}
		return answer, must.Get(io.ReadAll(answer.Body))(t)
	}
	_, plain := get("/rows", "identity")
	answer, body := get("/rows", "gzip")
	if answer.Header.Get("Content-Encoding") != "gzip" || answer.Header.Get("Vary") == "" {
		t.Fatal(answer.Header)
	}
	unpacked := must.Get(io.ReadAll(must.Get(gzip.NewReader(bytes.NewReader(body)))(t)))(t)
	if len(body) > len(plain)/2 || len(unpacked) != len(plain) || !bytes.Contains(unpacked, []byte("</html>")) {
		t.Errorf("%d bytes, of %d", len(body), len(plain))
	}
	if live, _ := get("/live", "gzip"); live.StatusCode != http.StatusOK || live.Header.Get("Content-Encoding") != "" {
		t.Error(live.Status, live.Header)
	}
}
