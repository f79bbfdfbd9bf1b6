package console_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// Slow sockets of one address, and of ten others, are held for as long as the console lets them,
// and come again after five seconds at the earliest, while another person asks a hundred times a
// second, and is never refused. On a machine that is too busy for so many, eight at once are asked.
// The long form asks for half a minute; docs/reliability.md has the figures.
func TestSlowSocketsOfManyKeepNobodyWaiting(t *testing.T) {
	requests := 100
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		requests = 3000
	}
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	address := served(t, w)
	cookies := w.As(trade.Accountant).Client.Jar.Cookies(must.Get(url.Parse(w.Server.URL))(t))
	over, end := context.WithCancel(t.Context())
	defer end()
	var slow sync.WaitGroup
	hold := func(host byte, sockets int) {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, host)}}
		for i := range sockets {
			text := consoletest.Methods[i%3] + " /login HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
				append(consoletest.SlowBodies, "X-Slow: ")[i/3%(len(consoletest.SlowBodies)+1)]
			slow.Go(func() {
				again := rate.NewLimiter(rate.Every(5*time.Second), 1) // what has no body is answered at once
				for again.Wait(over) == nil {
					conn, err := from.DialContext(over, "tcp", address)
					if err != nil {
						continue
					}
					stop := context.AfterFunc(over, func() { _ = conn.Close() })
					_, _ = io.WriteString(conn, text)
					_, _ = io.Copy(io.Discard, conn) // until the console has enough of it
					stop()
					_ = conn.Close()
				}
			})
		}
	}
	hold(2, 40)
	for host := range 10 {
		hold(byte(3+host), 30)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: shorter}
	times := make([]time.Duration, requests)
	pace := rate.NewLimiter(100, 1)
	var asks sync.WaitGroup
	atOnce := make(chan struct{}, 8)
	for i := range requests {
		must.Do(t, pace.Wait(t.Context()))
		atOnce <- struct{}{}
		due := time.Now()
		asks.Go(func() {
			defer func() { <-atOnce }()
			path := []string{"/", "/login", "/rows", "/account"}[i%4]
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.Server.URL+path, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			for _, c := range cookies {
				r.AddCookie(c)
			}
			answer, err := client.Do(r)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				return
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("%s: %d", path, answer.StatusCode)
			}
			times[i] = time.Since(due)
		})
	}
	asks.Wait()
	end()
	slices.Sort(times)
	t.Logf("%d requests beside 340 slow sockets: half of them within %s, 99 of 100 within %s, the longest %s",
		requests, times[requests/2], times[requests*99/100], times[requests-1])
	slow.Wait()
}
