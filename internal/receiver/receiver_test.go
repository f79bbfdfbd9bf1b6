package receiver

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/throwaway"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a receiver on a real ledger, with one registration.
type world struct {
	t      *testing.T
	store  *state.Store
	login  Login
	server *Intake
	url    string // with the secret path
	dir    string
	told   chan struct{} // events were stored
	ahead  atomic.Int64  // of the clock
	trust  *tls.Config   // of a proxy in front; nil: plain HTTP
	counts sync.Map      // refusals by cause, each an *atomic.Int64
}

// times returns how often something was refused for a cause.
func (w *world) times(cause string) int64 {
	n, _ := w.counts.LoadOrStore(cause, &atomic.Int64{})
	return n.(*atomic.Int64).Load()
}

// newWorld makes one; change alters its options.
func newWorld(t *testing.T, change ...func(*Setup)) *world {
	t.Helper()
	w := &world{t: t, login: NewLogin(), dir: t.TempDir(), told: make(chan struct{}, 10_000)}
	w.store = must.Get(state.Open(t.Context(),
		state.OpenOptions{Driver: state.SQLite, DSN: w.path("state.db"), Begin: true, Journal: w.path("journal")}))(t)
	t.Cleanup(func() { _ = w.store.Close() })
	hook := trade.Webhook{
		ID: "hook-1", Event: "CREATE_ORDER_COMMITMENT", PathHash: HashOf(w.login.Path),
		LoginHash: HashOf(w.login.Basic()), State: trade.WebhookAsked, AskedAt: time.Now(),
	}
	must.Do(t, w.store.AskWebhook(t.Context(), hook,
		trade.AuditRecord{At: time.Now(), Who: "test", Act: "webhooks apply", Target: hook.Event}))
	options := Setup{
		Stored: func() { w.told <- struct{}{} },
		Refused: func(cause string, _ error) {
			n, _ := w.counts.LoadOrStore(cause, &atomic.Int64{})
			n.(*atomic.Int64).Add(1)
		},
		Now:      func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
		Fault:    func(string, error) {},
		Inbox:    w.store,
		Webhooks: func(ctx context.Context) ([]trade.Webhook, error) { return w.store.Webhooks(ctx, time.Now()) },
	}
	for _, c := range change {
		c(&options)
	}
	options.Listener = must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	w.server = Start(options)
	t.Cleanup(func() { must.Do(t, w.server.Close()) })
	w.url = "http://" + w.server.Address() + w.login.Path
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// post sends a request and gives the status of its answer, whose body must be empty.
func (w *world) post(body io.Reader, change ...func(*http.Request)) int {
	w.t.Helper()
	status, text, err := w.answer(body, change...)
	must.Do(w.t, err)
	if text != "" {
		w.t.Errorf("the answer %d has the body %q; want none", status, text)
	}
	return status
}

// answer returns the answer to a request.
func (w *world) answer(body io.Reader, change ...func(*http.Request)) (status int, text string, err error) {
	w.t.Helper()
	r := must.Get(http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url, body))(w.t)
	r.SetBasicAuth(w.login.User, w.login.Word)
	for _, c := range change {
		c(r)
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: w.trust, DisableKeepAlives: true,
		DisableCompression: true, ExpectContinueTimeout: time.Minute,
	}}
	res, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(res.Body)
	return res.StatusCode, string(said), err
}

func (w *world) want(what string, got, want int) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// stored waits until the inbox has so many events, and gives them.
func (w *world) stored(n int) []trade.InboxEvent {
	w.t.Helper()
	late := time.After(time.Minute)
	for {
		events := must.Get(w.store.Inbox(w.t.Context(), trade.InboxFilter{}))(w.t)
		if len(events) == n {
			return events
		}
		select {
		case <-w.told:
		case <-late:
			w.t.Fatalf("%d events are stored, want %d", len(events), n)
		}
	}
}

// Nothing else is served there.
func TestNothingElseIsOnTheListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{
		"/", "/login", "/metrics", "/healthz", "/_sandbox/", "/api/v1/integration/webhooks",
		w.login.Path + "/x", w.login.Path[:20], w.login.Path + "?a=1", "/%2e%2e" + w.login.Path[:9],
	} {
		at := func(r *http.Request) { r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?"); r.URL.RawPath = "" }
		w.want("GET "+path, w.post(nil, at, func(r *http.Request) { r.Method = http.MethodGet }),
			http.StatusMethodNotAllowed)
		w.want("POST "+path, w.post(strings.NewReader("{}"), at), http.StatusNotFound)
	}
	w.stored(0)
}

// W2, F147: without the credentials that we made nothing is stored, whatever is tried; what is
// compared are hashes of one length.
func TestF147WrongCredentialsAreRefusedAndTheBodyDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	right := basic(w.login.Basic())
	for name, headers := range map[string][]string{
		"none": nil, "empty": {""}, "another user": {basic("root:" + w.login.Word)},
		"another password": {basic(w.login.User + ":" + NewLogin().Word)},
		"the beginning":    {basic(w.login.Basic()[:20])}, "more": {basic(w.login.Basic() + "x")},
		"the hash": {basic(HashOf(w.login.Basic()))}, "no base64": {"Basic " + w.login.Basic()},
		"another scheme": {strings.Replace(right, "Basic", "Bearer", 1)}, "two": {right, right},
		"wrong and right": {basic("a:b"), right}, "a list": {right + ", " + right},
		"a NUL": {basic(w.login.Basic() + "\x00")}, "the case": {basic(strings.ToUpper(w.login.Basic()))},
		"no scheme": {strings.TrimPrefix(right, "Basic ")},
	} {
		w.want(name, w.post(strings.NewReader(`{"id":1}`), func(r *http.Request) {
			r.Header.Del("Authorization")
			for _, h := range headers {
				r.Header.Add("Authorization", h)
			}
		}), http.StatusUnauthorized)
	}
	w.stored(0)
	w.want("the scheme in small letters",
		w.post(strings.NewReader("{}"),
			func(r *http.Request) { r.Header.Set("Authorization", strings.Replace(right, "Basic", "basic", 1)) }), 200)
	w.stored(1)
	if len(w.login.Word) < 22 || len(w.login.Path) < 23 || NewLogin().Word == w.login.Word {
		t.Errorf("a password of %d and a path of %d characters: fewer than 128 random bits", len(w.login.Word),
			len(w.login.Path))
	}
	for _, shown := range []string{fmt.Sprint(w.login), fmt.Sprintf("%+v %#v %s", w.login, w.login, &w.login)} {
		if strings.Contains(shown, w.login.Word) || strings.Contains(shown, w.login.Path[1:]) {
			t.Errorf("a login prints as %s", shown)
		}
	}
}

// Any body is taken as it is; a header with some HMAC changes nothing, and nothing of a
// body is looked at.
func TestAnyBodyIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bodies := [][]byte{
		{},
		[]byte(`{`), []byte(`{"a":1,"a":2}`), []byte(strings.Repeat("[", 100_000)),
		[]byte(`{"n":1` + strings.Repeat("0", 5000) + `}`),
		{0xff, 0xfe, 0x00, 0x01},
		[]byte("\xef\xbb\xbf{}"),
		[]byte(`<xml/>`), []byte("a\x00b"), []byte(`"text"`), []byte(`{"id":"` + strings.Repeat("é", 1000) + `"}`),
	}
	for i, body := range bodies {
		w.want(fmt.Sprint("body ", i), w.post(bytes.NewReader(body), func(r *http.Request) {
			r.Header.Set("Content-Type", []string{"text/plain", "application/json; charset=x", "", "🌽"}[i%4])
			r.Header.Set("X-Hub-Signature-256", "sha256=00")
		}), 200)
	}
	events := w.stored(len(bodies))
	for i, body := range bodies {
		found := false
		for _, e := range events {
			found = found || bytes.Equal(e.Body, body)
		}
		if !found {
			t.Errorf("body %d was not stored byte by byte", i)
		}
	}
}

// W4, F152: what is too large, too slow or not POST is refused with the fitting status, and nothing
// of it is stored.
func TestF152TheLimitsOfARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("GET", w.post(nil, func(r *http.Request) { r.Method = http.MethodGet }), http.StatusMethodNotAllowed)
	w.want("PUT", w.post(nil, func(r *http.Request) { r.Method = http.MethodPut }), http.StatusMethodNotAllowed)
	w.want("10 MB, told", w.post(bytes.NewReader(make([]byte, 10<<20)),
		func(r *http.Request) { r.Header.Set("Expect", "100-continue") }), http.StatusRequestEntityTooLarge)
	w.want("the most", w.post(bytes.NewReader(make([]byte, MaxBody))), 200)
	w.want("one more, in chunks", w.post(io.MultiReader(bytes.NewReader(make([]byte, MaxBody+1)))),
		http.StatusRequestEntityTooLarge)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{}`))
	_ = z.Close()
	w.want("gzip", w.post(&packed, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }),
		http.StatusUnsupportedMediaType)
	w.want("identity", w.post(strings.NewReader("plain"),
		func(r *http.Request) { r.Header.Set("Content-Encoding", "identity") }), 200)
	w.stored(2)
}

// One connection is one request, whatever is hidden behind it.
func TestNoSecondRequestHidesInAConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	head := "POST " + w.login.Path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Basic " +
		base64.StdEncoding.EncodeToString([]byte(w.login.Basic())) + "\r\n"
	hidden := head + "Content-Length: 6\r\n\r\nhidden"
	for name, raw := range map[string]string{
		"pipelined":            head + "Content-Length: 2\r\n\r\nok" + hidden,
		"keep-alive asked for": head + "Connection: keep-alive\r\nContent-Length: 2\r\n\r\nok" + hidden,
		"both lengths": head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			hidden,
		"two lengths":                   head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok" + hidden,
		"a blank before the colon":      head + "Content-Length : 2\r\n\r\nok" + hidden,
		"an odd transfer-encoding":      head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
		"bare line feeds in the chunks": head + "Transfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n" + hidden,
		"a negative length":             head + "Content-Length: -1\r\n\r\nok" + hidden,
		"a folded header":               head + "X: a\r\n b\r\nContent-Length: 2\r\n\r\nok" + hidden,
		"HTTP/1.0": strings.Replace(head, "HTTP/1.1", "HTTP/1.0", 1) +
			"Connection: keep-alive\r\nContent-Length: 2\r\n\r\nok" + hidden,
		"HTTP/2 preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + hidden,
		"upgrade": head +
			"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 2\r\n\r\nok" + hidden,
	} {
		conn := must.Get(net.Dial("tcp", w.server.Address()))(t)
		_, _ = io.WriteString(conn, raw) // the other side may have closed already
		answers := 0
		for scan := bufio.NewScanner(conn); scan.Scan(); {
			if strings.HasPrefix(scan.Text(), "HTTP/1.") {
				answers++
			}
		}
		_ = conn.Close()
		if answers > 1 {
			t.Errorf("%s: %d answers on one connection", name, answers)
		}
	}
	events, err := w.store.Inbox(t.Context(), trade.InboxFilter{Text: "hidden"})
	if err != nil || len(events) != 0 {
		t.Errorf("%d hidden requests were stored, %v", len(events), err)
	}
}

// Plain HTTP is taken from the named proxies only.
func TestPlainHTTPIsForNamedProxies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Setup) { o.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	conn := must.Get(net.Dial("tcp", w.server.Address()))(t)
	defer func() { _ = conn.Close() }()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("a stranger got %d bytes", n)
	}
	if n := w.times("foreign"); n != 1 {
		t.Errorf("%d strangers were counted", n)
	}
}

// sick is an inbox that fails or hangs.
type sick struct {
	Inbox
	mu    sync.Mutex
	fails bool
	hangs chan struct{} // nil: it does not
	began chan struct{} // gets a value when it is asked
	ends  bool          // when its context does
}

func (s *sick) StoreEvents(ctx context.Context, events []trade.InboxEvent) error {
	s.mu.Lock()
	fails, hangs := s.fails, s.hangs
	s.mu.Unlock()
	if s.began != nil {
		s.began <- struct{}{}
	}
	if hangs != nil && s.ends {
		<-ctx.Done()
		return ctx.Err()
	}
	if hangs != nil {
		<-hangs
	}
	if fails {
		return errors.New("the ledger is full")
	}
	return s.Inbox.StoreEvents(ctx, events)
}

func (s *sick) set(fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

// F149: while the ledger takes nothing, the answer says so, with when to send again; what is sent
// again when the ledger is well is stored, once.
func TestF149WhileTheLedgerTakesNothingTheAnswerIs503(t *testing.T) {
	t.Parallel()
	s := &sick{fails: true}
	w := newWorld(t, func(o *Setup) { s.Inbox, o.Inbox = o.Inbox, s })
	w.want("while the ledger is full", w.post(strings.NewReader("{}")), http.StatusServiceUnavailable)
	if n := w.times("not_stored"); n != 1 {
		t.Errorf("%d events were counted as not stored", n)
	}
	w.stored(0)
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, strings.NewReader("{}")))(t)
	r.SetBasicAuth(w.login.User, w.login.Word)
	res := must.Get(http.DefaultClient.Do(r))(t)
	if again := res.Header.Get("Retry-After"); again != retryAfter {
		t.Errorf("Retry-After is %q, want %q", again, retryAfter)
	}
	must.Do(t, res.Body.Close())
	s.set(false)
	for range 2 {
		w.want("again", w.post(strings.NewReader("{}")), 200)
	}
	w.stored(1)
}

// F149, F151: an event waits for a ledger that hangs, and is answered as soon as it is stored.
func TestF151F149AnEventWaitsForALedgerThatHangs(t *testing.T) {
	t.Parallel()
	s := &sick{hangs: make(chan struct{})}
	w := newWorld(t, func(o *Setup) { s.Inbox, o.Inbox = o.Inbox, s })
	answers := make(chan int, 3)
	for i := range cap(answers) {
		go func() { answers <- w.post(strings.NewReader(fmt.Sprint(i))) }()
	}
	select {
	case status := <-answers:
		t.Errorf("the answer %d came before the event was stored", status)
	case s.hangs <- struct{}{}: // the first transaction has begun, and goes on
	}
	close(s.hangs)
	for range cap(answers) {
		w.want("after it hung", <-answers, 200)
	}
	w.stored(3)
}

// F149: a ledger that takes too long for the 30 s of the platform costs the event, not the answer.
func TestF149ALedgerThatTakesTooLongIsAnswered503InTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(Setup{Inbox: &sick{hangs: make(chan struct{}), ends: true}})
		defer k.close()
		began := time.Now()
		if err := k.store(trade.InboxEvent{}); err == nil {
			t.Error("what was not stored is kept")
		}
		if took := time.Since(began); took != storeTime {
			t.Errorf("the answer came after %s, want %s", took, storeTime)
		}
	})
}

// F149: after an event that the ledger did not store, one is tried at a time, and the others are answered
// at once, until one is stored.
func TestF149WhileTheLedgerIsIllOneEventIsTried(t *testing.T) {
	t.Parallel()
	s := &sick{fails: true, began: make(chan struct{}, 10)}
	w := newWorld(t, func(o *Setup) { s.Inbox, o.Inbox = o.Inbox, s })
	w.want("the first", w.post(strings.NewReader("0")), http.StatusServiceUnavailable)
	<-s.began
	s.mu.Lock()
	s.fails, s.hangs = false, make(chan struct{})
	s.mu.Unlock()
	tried := make(chan int, 1)
	go func() { tried <- w.post(strings.NewReader("1")) }()
	<-s.began
	w.want("beside the one that is tried", w.post(strings.NewReader("2")), http.StatusServiceUnavailable)
	close(s.hangs)
	w.want("the one that is tried", <-tried, 200)
	w.want("the next", w.post(strings.NewReader("3")), 200)
	for _, e := range w.stored(2) {
		if string(e.Body) == "2" {
			t.Error("what was refused is stored")
		}
	}
}

// F149: an event whose sender was told to send it again waits no longer.
func TestF149AnEventThatIsGivenUpLeavesTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sick{fails: true, hangs: make(chan struct{})}
		k := newKeeper(Setup{Inbox: s})
		given := make(chan error, 2)
		for range cap(given) { // one in the batch that hangs, and one that waits for the next batch
			go func() { given <- k.store(trade.InboxEvent{}) }()
			synctest.Wait()
		}
		for range cap(given) {
			if err := <-given; !errors.Is(err, errSlow) {
				t.Errorf("while the ledger hangs: %v", err)
			}
		}
		if n := len(k.waiting); n != 0 {
			t.Errorf("%d events wait", n)
		}
		if err := k.store(trade.InboxEvent{}); !errors.Is(err, errIll) {
			t.Errorf("another one while the ledger hangs: %v", err)
		}
		close(s.hangs)
		k.close()
	})
}

// A large body is in memory until its request is answered, and counted so long.
func TestALargeBodyHasItsSlotUntilItIsStored(t *testing.T) {
	t.Parallel()
	s := &sick{hangs: make(chan struct{}), began: make(chan struct{}, 1)}
	w := newWorld(t, func(o *Setup) { s.Inbox, o.Inbox = o.Inbox, s })
	status := make(chan int, 1)
	go func() { status <- w.post(bytes.NewReader(make([]byte, MaxBody))) }()
	<-s.began
	if n := len(w.server.large); n != 1 {
		t.Errorf("%d large bodies are counted", n)
	}
	close(s.hangs)
	w.want("a large body", <-status, 200)
}

// While the registrations cannot be read, an unknown path may be one of them: the platform sends the event
// again.
func TestWhileRegistrationsCannotBeReadAPathIsNotRefusedForGood(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	fails.Store(true)
	w := newWorld(t, func(o *Setup) {
		known := o.Webhooks
		o.Webhooks = func(ctx context.Context) ([]trade.Webhook, error) {
			if fails.Load() {
				return nil, errors.New("the ledger is locked")
			}
			return known(ctx)
		}
	})
	w.want("while they cannot be read", w.post(strings.NewReader("1")), http.StatusServiceUnavailable)
	w.want("a path that cannot be one", w.post(strings.NewReader("1"),
		func(r *http.Request) { r.URL.RawQuery = "x" }), http.StatusNotFound)
	fails.Store(false)
	w.ahead.Store(int64(2 * bookMiss))
	w.want("when they can", w.post(strings.NewReader("1")), 200)
	w.stored(1)
}

// A service that ends keeps no event waiting.
func TestAServiceThatEndsAnswersWhatItDidNotStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sick{fails: true, hangs: make(chan struct{})}
		k := newKeeper(Setup{Inbox: s})
		kept := make(chan error, 1)
		go func() { kept <- k.store(trade.InboxEvent{}) }()
		synctest.Wait()
		go k.close()
		if err := <-kept; !errors.Is(err, errClosing) {
			t.Errorf("%v", err)
		}
		close(s.hangs)
	})
}

// F149, F151: nor does one that hangs while the registrations are read again, for those whose
// registrations are known; not even while strangers guess paths.
func TestF151ALedgerThatHangsHoldsNoKnownRegistrationUp(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	asked, free := make(chan struct{}, 100), make(chan struct{})
	w := newWorld(t, func(o *Setup) {
		known := o.Webhooks
		o.Webhooks = func(ctx context.Context) ([]trade.Webhook, error) {
			if hangs.Load() {
				asked <- struct{}{}
				<-free
			}
			return known(ctx)
		}
	})
	t.Cleanup(func() { close(free) })
	w.want("before", w.post(strings.NewReader("0")), 200)
	hangs.Store(true)
	for i, ahead := range []time.Duration{2 * bookMiss, 4 * bookLasts} {
		w.ahead.Store(int64(ahead))
		if i == 0 {
			go func() { // a guess; its answer comes when the ledger is free
				if r, err := http.NewRequest(http.MethodPost, w.url+"x", nil); err == nil {
					if res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(
						r); err == nil {
						_ = res.Body.Close()
					}
				}
			}()
			<-asked
		}
		taken := make(chan int, 1)
		go func() { taken <- w.post(strings.NewReader(fmt.Sprint(ahead))) }()
		select {
		case status := <-taken:
			w.want("while the ledger hangs", status, 200)
		case <-time.After(throwaway.Patience):
			t.Fatal("an event of a known registration waits for the ledger")
		}
	}
	w.stored(3)
}

// F150: what was answered with 200 is on the disk then: a copy of the ledger's files as a kill would
// leave them has it.
func TestF150WhatWasAnsweredIsOnTheDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("an event", w.post(strings.NewReader("kept")), 200)
	copied := filepath.Join(t.TempDir(), "state.db")
	for _, suffix := range []string{"", "-wal"} {
		file := must.Get(os.ReadFile(w.path("state.db" + suffix)))(t)
		must.Do(t, os.WriteFile(copied+suffix, file, 0o600))
	}
	db := must.Get(sql.Open("sqlite", "file:"+copied+"?mode=ro"))(t)
	defer func() { _ = db.Close() }()
	var body string
	if err := db.QueryRow("SELECT body FROM inbox").Scan(&body); err != nil || body != "kept" {
		t.Errorf("the copy has the event %q, %v", body, err)
	}
}

// F152: senders that send one byte now and then hold nobody up.
func TestF152SlowSendersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var slow []net.Conn
	for range 100 {
		conn := must.Get(net.Dial("tcp", w.server.Address()))(t)
		_, _ = io.WriteString(conn, "POST "+w.login.Path+" HTTP/1.1\r\nHost: x\r\nContent-Le")
		slow = append(slow, conn)
	}
	for i := range 20 {
		w.want("beside a hundred slow senders", w.post(strings.NewReader(fmt.Sprint(i))), 200)
	}
	for _, conn := range slow {
		_ = conn.Close()
	}
	w.stored(20)
}

// A registration that another process makes is known without a restart, and one whose place another
// took is taken still.
func TestARegistrationOfAnotherProcessIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("the first", w.post(strings.NewReader("{}")), 200)
	old := w.login
	fresh := NewLogin()
	hook := trade.Webhook{
		ID: "hook-2", Event: "CREATE_FARM", PathHash: HashOf(fresh.Path),
		LoginHash: HashOf(fresh.Basic()), State: trade.WebhookAsked, AskedAt: time.Now(),
	}
	must.Do(t, w.store.AskWebhook(t.Context(), hook,
		trade.AuditRecord{At: time.Now(), Who: "test", Act: "webhooks apply", Target: hook.Event}))
	w.login, w.url = fresh, "http://"+w.server.Address()+fresh.Path
	w.ahead.Store(int64(2 * bookMiss))
	w.want("the second", w.post(strings.NewReader("{}")), 200)
	w.login, w.url = old, "http://"+w.server.Address()+old.Path
	w.want("the old one", w.post(strings.NewReader("{}")), 200)
	w.stored(2)
}

// Address returns the address on which the server listens.
func (s *Intake) Address() string { return s.opts.Listener.Addr().String() }
