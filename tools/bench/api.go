package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The API of a measurement: one path for POSTs of deliveries, the list of webhooks that the program
// requests before it sends, and the log.
const (
	deliveriesPath = "/api/v1/integration/deliveries"
	webhooksPath   = "/api/v1/integration/webhooks"
	logPath        = "/log"
)

// record is one executed POST: the number of its row, and the id that the API assigned.
type record struct {
	row int32
	id  [16]byte
}

// apiOptions defines what an API does to a contestant.
type apiOptions struct {
	latency time.Duration
	lose    int // of a thousand rows, how many get no answer the first time, although they are executed
	tell    int // number of POSTs after which it writes a line; 0 = never
}

// api answers as fast as it can, or after a latency, and checks nothing.
type api struct {
	apiOptions
	told func()

	mu          sync.Mutex
	log         []record
	lost        map[int32]bool
	random      *rand.ChaCha8
	first, last time.Time // arrival of the first POST, and end of the last answer
}

// serveAPI is the process of the API. It writes its address to w and serves until it is killed.
func serveAPI(ctx context.Context, w io.Writer, opts apiOptions) error {
	a := &api{
		apiOptions: opts, lost: map[int32]bool{},
		random: rand.NewChaCha8([32]byte(fmt.Appendf(nil, "%032d", time.Now().UnixNano()))),
	}
	a.told = func() { _, _ = io.WriteString(w, "reached\n") }
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+deliveriesPath, a.post)
	mux.HandleFunc("GET "+webhooksPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[]")
	})
	mux.HandleFunc("GET "+logPath, a.dump)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "http://%s\n", listener.Addr()); err != nil {
		return err
	}
	return (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(listener)
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (a *api) post(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	b := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(b)
	b.Reset()
	if _, err := b.ReadFrom(r.Body); err != nil {
		return
	}
	contract, volume := field(b.Bytes(), `"contract_id":"`, '"'), field(b.Bytes(), `"delivered_volume":`, ',')
	row, err := strconv.Atoi(string(bytes.TrimLeft(contract, "C")))
	if err != nil {
		http.Error(w, fmt.Sprintf("the body has no contract_id of a measurement: %q", b),
			http.StatusInternalServerError)
		return
	}
	id, answered := a.execute(int32(row), arrived)
	if a.latency > 0 {
		time.Sleep(a.latency)
	}
	a.mu.Lock()
	a.last = time.Now()
	a.mu.Unlock()
	if !answered {
		panic(http.ErrAbortHandler) // cuts the connection
	}
	answer := make([]byte, 0, 160)
	answer = append(answer, `{"id":"`...)
	answer = appendUUID(answer, id)
	answer = append(answer, `","contract_id":"`...)
	answer = append(answer, contract...)
	answer = append(answer, `","delivered_volume":`...)
	answer = append(answer, volume...)
	answer = append(answer, '}')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(answer) // on an error the client has gone, which does not matter here
}

// execute records a POST, and reports whether it will be answered.
func (a *api) execute(row int32, arrived time.Time) (id [16]byte, answered bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.random.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	a.log = append(a.log, record{row, id})
	if a.first.IsZero() {
		a.first = arrived
	}
	if len(a.log) == a.tell {
		a.told()
	}
	if a.lose > 0 && !a.lost[row] && int(uint32(row)*2654435761%1000) < a.lose {
		a.lost[row] = true
		return id, false
	}
	return id, true
}

// field returns the text of a body between a label and an end, or nil if it is missing.
func field(body []byte, label string, end byte) []byte {
	_, rest, found := bytes.Cut(body, []byte(label))
	n := bytes.IndexAny(rest, string(end)+"}")
	if !found || n < 0 {
		return nil
	}
	return rest[:n]
}

func appendUUID(to []byte, id [16]byte) []byte {
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			to = append(to, '-')
		}
		to = hex.AppendEncode(to, []byte{b})
	}
	return to
}

// seen is what the API saw of a measurement.
type seen struct {
	Posts   int     `json:"posts"`
	Seconds float64 `json:"seconds"` // from the arrival of the first POST to the last answer

	rows map[int32][]string // the ids that were assigned to each row
}

// dump writes the log: one line with the totals, then one for each POST.
func (a *api) dump(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := bufio.NewWriterSize(w, 1<<20)
	_ = json.NewEncoder(out).Encode(seen{Posts: len(a.log), Seconds: a.last.Sub(a.first).Seconds()})
	line := make([]byte, 0, 64)
	for _, r := range a.log {
		line = append(strconv.AppendInt(line[:0], int64(r.row), 10), ' ')
		line = append(appendUUID(line, r.id), '\n')
		_, _ = out.Write(line)
	}
	_ = out.Flush() // a reader that misses lines notices that they are fewer than Posts, and fails
}

// readLog fetches and parses what dump writes.
func readLog(ctx context.Context, client *http.Client, url string) (s seen, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+logPath, http.NoBody)
	if err != nil {
		return s, err
	}
	response, err := client.Do(request)
	if err != nil {
		return s, fmt.Errorf("the log of the API: %w", err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() {
		return s, fmt.Errorf("the log of the API is empty: %w", lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		return s, fmt.Errorf("the log of the API: %w", err)
	}
	s.rows = make(map[int32][]string, s.Posts)
	n := 0
	for lines.Scan() {
		number, id, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		row, err := strconv.ParseInt(string(number), 10, 32)
		if err != nil {
			return s, fmt.Errorf("the log of the API: %w", err)
		}
		s.rows[int32(row)] = append(s.rows[int32(row)], string(id))
		n++
	}
	if err := lines.Err(); err != nil || n != s.Posts {
		return s, errors.Join(fmt.Errorf("the log of the API has %d of %d lines", n, s.Posts), err)
	}
	return s, nil
}
