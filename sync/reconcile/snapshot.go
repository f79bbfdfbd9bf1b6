// The snapshot: all rows at one moment; and closed reports.

package reconcile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// Head is everything in a snapshot but the rows. Its JSON form is stored in closed reports: fields
// are only ever added.
type Head struct {
	Form    int        `json:"form"` // version of the format of rows and head
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Program string     `json:"program"`
	Zone    string     `json:"zone"`
	At      time.Time  `json:"at"`   // the moment of the figures
	Day     string     `json:"day"`  // cut-off, YYYY-MM-DD; "" = none
	Kind    FigureKind `json:"kind"` // now or closed
	Rows    int        `json:"rows"`
	// rows whose values retention has removed: product, producer and price are unknown
	Reduced int `json:"reduced"`

	Jobs     []JobHead           `json:"jobs"`
	Acts     []Act               `json:"acts"` // people's decisions until then, oldest first
	Messages []trade.SeenMessage `json:"messages"`
	Asked    *Asked              `json:"asked,omitempty"` // nil: the platform was not asked
	ERP      *ERPNow             `json:"erp,omitempty"`   // nil: it was not read for this

	Closed *Closed `json:"closed,omitempty"` // set in a closed report, but not stored in it
}

// FigureKind is the kind of a snapshot's figures.
type FigureKind string

// The kinds of figures.
const (
	NowKind    FigureKind = "now"
	ClosedKind FigureKind = "closed"
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
	Seq    int64          `json:"seq"`
	At     time.Time      `json:"at"`
	Who    string         `json:"who"` // "" = no longer kept
	Act    string         `json:"act"`
	Target string         `json:"target"`
	Reason string         `json:"reason"`           // of a person; else Why
	Before string         `json:"before,omitempty"` // state
	After  string         `json:"after,omitempty"`
	Why    trade.Sentence `json:"why,omitzero"` // of an act of the program
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

// Snapshot has a report's rows at one moment. They are read each time, from the ledger or from what
// was closed.
type Snapshot struct {
	Head     Head
	zone     *time.Location
	rows     rowReader
	counts   bool                     // the counts of the head are those of the rows, and not stored
	sums     *sums                    // of the last selection; nil: none yet
	progress func(rows int, all bool) // of the first reading; nil: nobody wants it
}

// rowReader reads the rows of a report, any number of times.
type rowReader interface {
	// each calls fn for every row of a kind; "" means all: contracts first, then deliveries, then
	// traceability, except for rows of another kind that a job once sent. Within a kind, rows are in
	// the order of job and discovery. Unless they are shown, only their sums are wanted: when they were
	// sent and what events told may be missing. If only is not nil, other rows are left out: it has
	// the numbers of rows of this kind, in this order.
	each(kind trade.Kind, shown bool, only []int64, fn func(r *Row) error) error
}

// Zone returns the time zone of the report's days.
func (s *Snapshot) Zone() *time.Location { return s.zone }

// Each calls fn for every row, in the order of [rowReader].
func (s *Snapshot) Each(fn func(*Row) error) error {
	return s.rows.each("", true, nil, fn)
}

// storedRows are rows that were stored as JSON lines. Their numbers are those of the lines.
type storedRows struct{ open func() (io.ReadCloser, error) }

func (k storedRows) each(kind trade.Kind, _ bool, only []int64, fn func(*Row) error) error {
	const reading = "read the report's rows: %w"
	// a text cannot contain this, because its quotes are escaped
	is := []byte(`"sends":"` + string(kind) + `"`)
	from, err := k.open()
	if err != nil {
		return phrase.Errorf(reading, err)
	}
	defer func() { _ = from.Close() }() // it was only read
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 1<<16), longestRow)
	for n := int64(1); lines.Scan(); n++ {
		_, wanted := slices.BinarySearch(only, n)
		if kind != "" && !bytes.Contains(lines.Bytes(), is) || only != nil && !wanted { // skipped cheaply
			continue
		}
		r := Row{Number: n}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return phrase.Errorf(reading, err)
		}
		if kind != "" && r.Sends != kind {
			continue
		}
		if err := fn(&r); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return phrase.Errorf(reading, err)
	}
	return nil
}

// longestRow is the largest size of a row in bytes, far above any real one.
const longestRow = 1 << 30

// piped returns what write writes, while it writes. To close it ends write.
func piped(write func(io.Writer) error) *io.PipeReader {
	out, in := io.Pipe()
	go func() { _ = in.CloseWithError(write(in)) }() // it never fails
	return out
}

// compressed writes the rows in the form that a closing keeps: compressed JSON lines.
func (s *Snapshot) compressed(to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(z)
	lines.SetEscapeHTML(false)
	return errors.Join(s.Each(func(r *Row) error { return lines.Encode(r) }), z.Close(), out.Flush())
}

// Freeze closes a report permanently: it stores the rows in the archive, in the name of a person.
func Freeze(ctx context.Context, to Archive, s *Snapshot, who, reason string,
	record trade.AuditRecord,
) (trade.Closing, error) {
	day, err := s.cutOff()
	if err != nil {
		return trade.Closing{}, err
	}
	if s.sums == nil { // the head must have its counts, and the closing how many documents it is about
		if _, err := s.sum(Options{}); err != nil {
			return trade.Closing{}, err
		}
	}
	head, err := json.Marshal(s.Head)
	if err != nil {
		return trade.Closing{}, phrase.Errorf("close the report: %w", err)
	}
	c := trade.Closing{
		ID: s.Head.ID, Day: day, At: s.Head.At, Who: who, Reason: reason, Program: s.Head.Program,
		Head: head, Rows: s.sums.Selected,
	}
	rows := piped(s.compressed)
	defer func() { _ = rows.Close() }() // it never fails
	return to.CloseReport(ctx, c, rows, record)
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

// OpenClosed returns a snapshot of a closed report, after verifying that it is what was closed. ctx is
// that of all reads of its rows.
func OpenClosed(ctx context.Context, from ClosedRows, c trade.Closing) (*Snapshot, error) {
	const opening = "open the report that was closed at %s: %w"
	if err := from.ClosedRows(ctx, c, io.Discard); err != nil {
		return nil, phrase.Errorf(opening, c.At.Format(time.RFC3339), err)
	}
	s := &Snapshot{rows: storedRows{func() (io.ReadCloser, error) {
		rows := piped(func(to io.Writer) error { return from.ClosedRows(ctx, c, to) })
		z, err := gzip.NewReader(rows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		return struct {
			io.Reader
			io.Closer
		}{z, rows}, nil
	}}}
	err := json.Unmarshal(c.Head, &s.Head)
	if err == nil && s.Head.Form > formOfHead {
		err = errors.New("it was kept by a newer program: install that one")
	}
	if err == nil {
		s.zone, err = time.LoadLocation(s.Head.Zone)
	}
	s.Head.Kind = ClosedKind
	s.Head.Closed = &Closed{ID: c.ID, At: c.At, Who: c.Who, Reason: c.Reason, Audit: c.Audit, Hash: c.Hash}
	if err != nil {
		return nil, phrase.Errorf(opening, c.At.Format(time.RFC3339), err)
	}
	return s, nil
}
