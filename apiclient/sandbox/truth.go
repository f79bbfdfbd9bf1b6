package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// Line is one line of the truth log. A request that executed twice has two lines with the same N.
type Line struct {
	Time   time.Time `json:"time"`
	N      int       `json:"n,omitempty"` // number among the creating POSTs, or among the GETs
	Method string    `json:"method"`
	Path   string    `json:"path"`
	// Executed: a record with this ID exists from now on, whatever the client gets to see.
	Executed bool   `json:"executed"`
	Resource string `json:"resource,omitempty"` // of the record, as in [Record.Resource]
	ID       string `json:"id,omitempty"`
	// Status is what goes out after this line; 0 where no answer goes out.
	Status int    `json:"status"`
	Fault  string `json:"fault,omitempty"` // the fault as text, if one acted
	Note   string `json:"note,omitempty"`
	// Body is the body of a creating POST with the digits as sent, if it was JSON at all. Those of webhooks, which hold secrets, are left out.
	Body json.RawMessage `json:"body,omitempty"`
}

// truthLog writes lines, each with one Write.
type truthLog struct {
	mu  sync.Mutex
	w   io.Writer
	err error // the first; kept for LogErr
}

func (t *truthLog) write(lines []Line) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.w == nil {
		return nil
	}
	for _, line := range lines {
		if _, err := t.w.Write(append(encode(line), '\n')); err != nil {
			err = fmt.Errorf("write the truth log: %w", err)
			if t.err == nil {
				t.err = err
			}
			return err
		}
	}
	return nil
}

func (t *truthLog) firstErr() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// noteCut is the note of a request that did not arrive whole.
const noteCut = "the request did not arrive whole"

// acted is the fault's text for the records; "" for none.
func (f *Fault) acted() string {
	if f == nil || f.spec == "" && f.Do == Pass && f.Slow == 0 && f.Late == 0 {
		return ""
	}
	return f.String()
}

// log writes the truth about a request: a line per record, one line where there is none.
func (s *Server) log(rq *request, f *Fault, status int, note string) error {
	base := Line{
		Time: s.opts.Now().UTC(), N: rq.n, Method: rq.http.Method, Path: rq.path, Status: status, Note: note,
	}
	base.Fault = f.acted()
	if rq.create && rq.route.resource != ResourceWebhooks && utf8.Valid(rq.body) && json.Valid(rq.body) {
		base.Body = rq.body
	}
	lines := []Line{base}
	if len(rq.records) > 0 {
		lines = lines[:0]
		for _, rec := range rq.records {
			line := base
			line.Executed, line.ID, line.Resource = true, rec.ID, rec.Resource
			lines = append(lines, line)
		}
	}
	return s.truth.write(lines)
}
