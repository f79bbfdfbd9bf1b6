// The snapshot: all rows at one moment, in a temporary file; and closed reports.

package reconcile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Head is everything in a snapshot but the rows. Its JSON form is stored in closed reports: fields
// are only ever added.
type Head struct {
	Form    int       `json:"form"` // version of the format of rows and head
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Program string    `json:"program"`
	Zone    string    `json:"zone"`
	At      time.Time `json:"at"`   // the moment of the figures
	Day     string    `json:"day"`  // cut-off, YYYY-MM-DD; "" = none
	Kind    Kind      `json:"kind"` // now, closed or derived
	Rows    int       `json:"rows"`
	Derived int       `json:"derived"` // rows whose state then was derived
	Unknown int       `json:"unknown"` // rows whose state then is unknown
	// rows whose values retention has removed: product, producer and price are unknown
	Reduced int `json:"reduced"`

	Jobs     []JobHead           `json:"jobs"`
	Acts     []Act               `json:"acts"` // people's decisions until then, oldest first
	Messages []trade.SeenMessage `json:"messages"`
	Asked    *Asked              `json:"asked,omitempty"` // nil: the platform was not asked

	Closed *Closed `json:"closed,omitempty"` // set in a closed report, but not stored in it
}

// Kind is the kind of a snapshot's figures.
type Kind string

// The kinds of figures.
const (
	NowKind     Kind = "now"
	ClosedKind  Kind = "closed"
	DerivedKind Kind = "derived"
)

// formOfHead is the version of the format that this program writes.
const formOfHead = 1

// JobHead is what is known of a job apart from its rows.
type JobHead struct {
	Job        string     `json:"job"`
	Sends      trade.Kind `json:"sends"`
	SweptAt    *time.Time `json:"swept_at"` // nil: never completely
	InScope    *int       `json:"in_scope"` // distinct keys in the ERP at that sweep; nil without one
	SweepGone  int        `json:"sweep_gone"`
	Unreadable int        `json:"unreadable"` // rows without a usable key at that sweep
	Rows       int        `json:"rows"`       // entries in the ledger

	Read   int            `json:"read,omitempty"`   // rows of the query at that sweep; 0: unknown
	Beside []trade.Beside `json:"beside,omitempty"` // those of them that are not living documents
}

// Act is one decision of a person, or a late answer that contradicts one.
type Act struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"` // "" = no longer kept
	Act    string    `json:"act"`
	Target string    `json:"target"`
	Reason string    `json:"reason"`
	Before string    `json:"before,omitempty"` // state
	After  string    `json:"after,omitempty"`
}

// Asked is how the platform was asked.
type Asked struct {
	Contracts  int `json:"contracts"`
	NotFound   int `json:"not_found"`
	Unreadable int `json:"unreadable"` // no answer, or one without amount and unit
}

// Closed is who closed a report, and when.
type Closed struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Reason string    `json:"reason"`
	Audit  int64     `json:"audit"`
	Hash   string    `json:"hash"`
}

// Snapshot has a report's rows at one moment, in a temporary file that nobody else can read. Close
// removes the file.
type Snapshot struct {
	Head   Head
	file   *os.File
	folder string // of the temporary files; "" = the system's
	zone   *time.Location
	kinds  map[trade.Kind]bool // kinds of the rows, known after a complete Each; else nil
}

// Close removes the temporary file.
func (s *Snapshot) Close() error { return discard(s.file) }

// Zone returns the time zone of the report's days.
func (s *Snapshot) Zone() *time.Location { return s.zone }

func newSnapshot(folder string) (*Snapshot, error) {
	f, err := temporary(folder)
	if err != nil {
		return nil, err
	}
	return &Snapshot{file: f, folder: folder}, nil
}

// Each calls fn for every row: contracts first, then deliveries, then traceability, except for rows
// of another kind that a job once sent. Within a kind, rows are in the order of job and discovery.
func (s *Snapshot) Each(fn func(*Row) error) error {
	kinds := map[trade.Kind]bool{}
	err := s.each("", func(r *Row) error {
		kinds[r.Sends] = true
		return fn(r)
	})
	if err == nil {
		s.kinds = kinds
	}
	return err
}

// each is Each for one kind; "" means all. Rows of other kinds are skipped cheaply.
func (s *Snapshot) each(kind trade.Kind, fn func(*Row) error) error {
	const reading = "read the report's rows: %w"
	if kind != "" && s.kinds != nil && !s.kinds[kind] {
		return nil
	}
	// a text cannot contain this, because its quotes are escaped
	is := []byte(`"sends":"` + string(kind) + `"`)
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf(reading, err)
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(s.file, 1<<16))
	if err != nil {
		return fmt.Errorf(reading, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(make([]byte, 1<<16), longestRow)
	for lines.Scan() {
		if kind != "" && !bytes.Contains(lines.Bytes(), is) {
			continue
		}
		var r Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf(reading, err)
		}
		if kind != "" && r.Sends != kind {
			continue
		}
		if err := fn(&r); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf(reading, err)
	}
	return nil
}

// longestRow is the largest size of a row in bytes, far above any real one.
const longestRow = 1 << 30

// spool writes rows into a snapshot.
type spool struct {
	to  *bufio.Writer
	z   *gzip.Writer
	enc *json.Encoder
}

func (s *Snapshot) spool() *spool {
	to := bufio.NewWriterSize(s.file, 1<<16)
	z, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		panic(err)
	}
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	return &spool{to, z, enc}
}

func (s *spool) row(r Row) error { return s.enc.Encode(r) }

func (s *spool) close() error { return errors.Join(s.z.Close(), s.to.Flush()) }

// Freeze closes a report permanently: it stores the snapshot in the archive, in the name of a
// person.
func Freeze(ctx context.Context, to Archive, s *Snapshot, who, reason string,
	record trade.AuditRecord,
) (trade.Closing, error) {
	day, err := s.cutOff()
	if err != nil {
		return trade.Closing{}, err
	}
	head, err := json.Marshal(s.Head)
	if err != nil {
		return trade.Closing{}, fmt.Errorf("close the report: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return trade.Closing{}, fmt.Errorf("close the report: %w", err)
	}
	c := trade.Closing{
		ID: s.Head.ID, Day: day, At: s.Head.At, Who: who, Reason: reason, Program: s.Head.Program,
		Head: head, Rows: s.Head.Rows,
	}
	return to.CloseReport(ctx, c, s.file, record)
}

// cutOff returns the last day of documents in the report; a report without one cannot be closed.
func (s *Snapshot) cutOff() (trade.Date, error) {
	day, err := trade.ParseDate(s.Head.Day)
	if err != nil {
		return trade.Date{}, errors.New("a report that is closed needs a cut-off")
	}
	return day, nil
}

// ClosedRows reads the rows of closings, and verifies that they are what was closed.
type ClosedRows interface {
	// ClosedRows writes the rows as they were stored.
	ClosedRows(ctx context.Context, c trade.Closing, to io.Writer) error
}

// OpenClosed returns a snapshot of a closed report, after verifying that it is what was closed.
func OpenClosed(ctx context.Context, from ClosedRows, c trade.Closing, folder string) (*Snapshot, error) {
	s, err := OpenKept(c.Head, func(to io.Writer) error { return from.ClosedRows(ctx, c, to) }, folder)
	if err != nil {
		return nil, fmt.Errorf("open the report that was closed at %s: %w", c.At.Format(time.RFC3339), err)
	}
	s.Head.Kind = ClosedKind
	s.Head.Closed = &Closed{ID: c.ID, At: c.At, Who: c.Who, Reason: c.Reason, Audit: c.Audit, Hash: c.Hash}
	return s, nil
}

// OpenKept returns a snapshot from a stored head and its rows, in the form of Snapshot.Rows:
// compressed JSON lines.
func OpenKept(head []byte, rows func(io.Writer) error, folder string) (*Snapshot, error) {
	s, err := newSnapshot(folder)
	if err != nil {
		return nil, err
	}
	if err = rows(s.file); err == nil {
		err = json.Unmarshal(head, &s.Head)
	}
	if err == nil && s.Head.Form > formOfHead {
		err = errors.New("it was kept by a newer program: install that one")
	}
	if err == nil {
		s.zone, err = time.LoadLocation(s.Head.Zone)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Rows writes the rows in the form that OpenKept reads.
func (s *Snapshot) Rows(to io.Writer) error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf(temporaryRead, err)
	}
	_, err := io.Copy(to, s.file)
	return err
}
