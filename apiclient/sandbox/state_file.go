package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// stateHeader is the first line of a state file. It distinguishes a state file from another file
// that was named by mistake.
const stateHeader = `{"safrasync_sandbox_state":1}` + "\n"

// change is one line of the state file: a change of the platform's state.
type change struct {
	Record  *keptRecord `json:"record,omitempty"`
	Webhook *Webhook    `json:"webhook,omitempty"` // registered, or updated if its id is known
	Removed string      `json:"removed_webhook,omitempty"`
}

// keptRecord is a [Record] as stored. The body is stored as a string, because embedded JSON would
// lose its blanks.
type keptRecord struct {
	N        int               `json:"n"`
	ID       string            `json:"id"`
	Resource string            `json:"resource"`
	At       time.Time         `json:"at"`
	Params   map[string]string `json:"params,omitempty"`
	Header   http.Header       `json:"header"`
	Body     string            `json:"body"`
}

func newKeptRecord(r Record) *keptRecord {
	return &keptRecord{r.N, r.ID, r.Resource, r.At, r.Params, r.Header, string(r.Body)}
}

// stateFile appends changes to a file, one per line. A line is either complete or ignored: one that
// a crash cut off has no line break and is removed when the file is opened again. Appending costs
// the same for the thousandth record as for the first, unlike writing the whole state anew.
type stateFile struct {
	// pending is guarded by the server's mu: changes are in the order in which they were made.
	pending []change
	keeps   bool // set before the server is used, then constant

	mu   sync.Mutex // guards the fields below; acquired before the server's mu
	file *os.File   // nil: kept in memory only, or closed
	err  error      // the first error
}

// note queues a change for the next flush. The caller holds the server's mu.
func (f *stateFile) note(c change) {
	if f.keeps {
		f.pending = append(f.pending, c)
	}
}

// flushState writes all changes made so far and flushes them to the disk; a concurrent caller may
// find its changes already written. Nothing is answered that could not be stored, because a
// platform that forgets a confirmed record would be a wrong rehearsal.
func (s *Server) flushState() error {
	f := &s.state
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.keeps:
		return nil
	case f.err != nil:
		return f.err
	case f.file == nil:
		return errors.New("the state file is closed")
	}
	s.mu.Lock()
	changes := f.pending
	f.pending = nil
	s.mu.Unlock()
	if len(changes) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, c := range changes {
		b.Write(encode(c))
		b.WriteByte('\n')
	}
	_, err := f.file.Write(b.Bytes())
	if err == nil {
		err = f.file.Sync()
	}
	if err != nil {
		f.err = fmt.Errorf("write the state file: %w", err)
	}
	return f.err
}

func (f *stateFile) firstErr() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *stateFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	if err != nil {
		return fmt.Errorf("close the state file: %w", err)
	}
	return nil
}

// openState restores the server's state from the file, and appends to the file from now on. It must
// be called before the server is used.
func (s *Server) openState(path string) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // it holds the secrets of webhooks
	if err != nil {
		return fmt.Errorf("open the state file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			err = fmt.Errorf("state file %s: %w", path, err)
		}
	}()
	if err := lockFile(file); err != nil { // two sandboxes appending to one file would overwrite each other
		return err
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, []byte(stateHeader)) && !bytes.HasPrefix([]byte(stateHeader), data) {
		return errors.New("this is no state file of the sandbox; name another one, or a new one")
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if err := file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := file.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	if whole == 0 {
		if err := beginState(file, path); err != nil {
			return err
		}
	} else {
		lines := bytes.Split(data[:whole-1], []byte("\n"))
		for i, line := range lines[1:] {
			if err := s.replay(line); err != nil {
				return fmt.Errorf("line %d: %w", i+2, err)
			}
		}
	}
	s.state.file, s.state.keeps = file, true
	return nil
}

func beginState(file *os.File, path string) error {
	if _, err := file.WriteString(stateHeader); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path)) // otherwise a power cut may lose the directory entry
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	return dir.Sync()
}

func (s *Server) replay(line []byte) error {
	var c change
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return err
	}
	switch {
	case c.Record != nil:
		return s.replayRecord(c.Record)
	case c.Webhook != nil:
		for i := range s.webhooks {
			if s.webhooks[i].ID == c.Webhook.ID {
				s.webhooks[i] = *c.Webhook
				return nil
			}
		}
		s.webhooks = append(s.webhooks, *c.Webhook)
	case c.Removed != "":
		s.dropWebhook(c.Removed)
	default:
		return errors.New("a change of no kind")
	}
	return nil
}

func (s *Server) replayRecord(k *keptRecord) error {
	fields, ok := creatable[k.Resource]
	if !ok {
		return fmt.Errorf("a record of the unknown resource %q", k.Resource)
	}
	rq := request{body: []byte(k.Body)}
	v, ok := rq.members(fields)
	if !ok {
		return fmt.Errorf("the body of record %s is no object with the fields of %s", k.ID, k.Resource)
	}
	s.keep(Record{
		N: k.N, ID: k.ID, Resource: k.Resource, At: k.At, Params: k.Params, Header: k.Header, Body: []byte(k.Body),
		Fields: v.decoded(),
	}, v)
	return nil
}
