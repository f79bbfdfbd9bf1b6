// Writing an archive.

package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// Manifest is the content of manifest.json. Its JSON form is permanent: fields are only ever added.
type Manifest struct {
	Form    int       `json:"form"`
	Report  string    `json:"report"` // id
	Name    string    `json:"name"`   // of the installation
	Program string    `json:"program"`
	Who     string    `json:"who"`
	MadeAt  time.Time `json:"made_at"`
	At      time.Time `json:"at"` // the moment of the report's figures
	Told    Scope     `json:"told"`
	Files   []File    `json:"files"`
}

// Scope is which rows the report shows, and how.
type Scope struct {
	From      trade.Date          `json:"from"` // first day of the documents; none = the beginning
	To        trade.Date          `json:"to"`   // none = the end
	Filter    reconcile.Filter    `json:"filter"`
	Tolerance reconcile.Tolerance `json:"tolerance"`
	Lang      trade.Lang          `json:"language"`
	Titles    trade.Titles        `json:"titles"`
	Show      bool                `json:"show"`
}

// File is one file of an archive.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Closing is a line of closings.jsonl.
type Closing struct {
	trade.Closing
	Masked bool `json:"masked"` // its rows have documents, which are masked here
}

// Act is the audit's name of the act that stores the seal of an archive.
const Act = "report archive"

// Sealed is the detail of that audit record.
type Sealed struct {
	Report string `json:"report"`
	Seal   string `json:"sha256"` // of the manifest
}

// formOfManifest is the version of the format that this program writes.
const formOfManifest = 1

// The files of an archive.
const (
	manifestFile = "manifest.json"
	headFile     = "head.json"
	rowsFile     = "rows.jsonl"
	closingsFile = "closings.jsonl"
	auditFile    = "audit.jsonl"
)

// Closed is what an archive needs of the ledger in addition to the report.
type Closed interface {
	reconcile.ClosedRows
	// Closings returns the closings of a cut-off day, or all if day is zero, newest first.
	Closings(ctx context.Context, day trade.Date) ([]trade.Closing, error)
	// AuditPage returns one page of the audit, newest first.
	AuditPage(ctx context.Context, q trade.AuditQuery) (trade.AuditPage, error)
}

// Contents are what an archive is made from.
type Contents struct {
	Snapshot *reconcile.Snapshot
	Options  reconcile.Options
	Ledger   Closed
	Who      string
	Now      time.Time
	Program  string
}

// writer writes the files of an archive, and collects their entries in the manifest.
type writer struct {
	Contents
	zip   *zip.Writer
	files []File
}

// Write writes an archive and returns its seal, the SHA-256 of its manifest.
func Write(ctx context.Context, to io.Writer, c Contents) (seal string, err error) {
	w := &writer{Contents: c, zip: zip.NewWriter(to)}
	steps := []func() error{
		w.rows, w.reports, func() error { return w.closings(ctx) }, func() error { return w.audit(ctx) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return "", phrase.Errorf("write the archive: %w", err)
		}
	}
	head, o := c.Snapshot.Head, c.Options
	text, err := json.MarshalIndent(Manifest{
		Form: formOfManifest, Report: head.ID, Name: head.Name, Program: c.Program, Who: c.Who, MadeAt: c.Now.UTC(),
		At: head.At, Files: w.files,
		Told: Scope{o.Filter.From, o.Filter.To, o.Filter, o.Tolerance, o.Lang, o.Titles, o.Show},
	}, "", "  ")
	if err != nil {
		return "", phrase.Errorf("write the archive: %w", err)
	}
	text = trade.MaskJSON(text)
	if err := w.file(manifestFile, func(to io.Writer) error { _, err := to.Write(text); return err }); err != nil {
		return "", phrase.Errorf("write the archive: %w", err)
	}
	return w.files[len(w.files)-1].SHA256, w.zip.Close()
}

// counted counts the bytes that are written.
type counted struct {
	to io.Writer
	n  int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// file adds a file to the archive.
func (w *writer) file(name string, write func(io.Writer) error) error {
	part, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.Now.UTC()})
	if err != nil {
		return err
	}
	sum := sha256.New()
	to := &counted{to: io.MultiWriter(part, sum)}
	if err := write(to); err != nil {
		return phrase.Errorf("%s: %w", name, err)
	}
	w.files = append(w.files, File{name, to.n, hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// line writes a value as a line of JSON with documents masked, and reports whether there were any.
func line(to io.Writer, v any) (masked bool, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return false, err
	}
	clean := trade.MaskJSON(text)
	_, err = to.Write(append(clean, '\n'))
	return !bytes.Equal(text, clean), err
}

// kept adds the head and the rows of a snapshot.
func (w *writer) kept(s *reconcile.Snapshot, folder string) error {
	if err := w.file(folder+headFile, func(to io.Writer) error { _, err := line(to, s.Head); return err }); err != nil {
		return err
	}
	return w.file(folder+rowsFile, func(to io.Writer) error {
		return s.Each(func(r *reconcile.Row) error { _, err := line(to, r); return err })
	})
}

func (w *writer) rows() error { return w.kept(w.Snapshot, "") }

// reports adds the report in all its formats, for programs and for people.
func (w *writer) reports() error {
	english := w.Options
	english.Lang = trade.English
	for _, form := range []struct {
		name    string
		options reconcile.Options
		writer  func(io.Writer) reconcile.Writer
	}{
		{"report.jsonl", english, reconcile.NewJSON},
		{"report.xlsx", w.Options, reconcile.NewXLSX},
		{"report.html", w.Options, paper.NewHTML},
	} {
		if err := w.file(form.name, func(to io.Writer) error {
			_, err := w.Snapshot.Report(form.options, form.writer(to))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// closings adds the closed months of the period.
func (w *writer) closings(ctx context.Context) error {
	list, err := w.Ledger.Closings(ctx, trade.Date{})
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, c := range list {
		if f := w.Options.Filter; !f.From.IsZero() && c.Day.Before(f.From) || !f.To.IsZero() && f.To.Before(c.Day) {
			continue
		}
		masked, err := w.closing(ctx, c)
		if err != nil {
			return err
		}
		c.At = c.At.UTC()
		if _, err := line(&lines, Closing{c, masked}); err != nil {
			return err
		}
	}
	return w.file(closingsFile, func(to io.Writer) error { _, err := lines.WriteTo(to); return err })
}

// closing adds the report of a closing: as it was hashed, if nothing in it is masked.
func (w *writer) closing(ctx context.Context, c trade.Closing) (masked bool, err error) {
	s, err := reconcile.OpenClosed(ctx, w.Ledger, c)
	if err != nil {
		return false, err
	}
	masked = !bytes.Equal(c.Head, trade.MaskJSON(c.Head))
	if err := s.Each(func(r *reconcile.Row) error {
		found, err := line(io.Discard, r)
		masked = masked || found
		return err
	}); err != nil {
		return false, err
	}
	folder := Closing{Closing: c}.folder()
	if masked {
		return true, w.kept(s, folder)
	}
	if err := w.file(folder+headFile, func(to io.Writer) error { _, err := to.Write(c.Head); return err }); err != nil {
		return false, err
	}
	return false, w.file(folder+closedRows, func(to io.Writer) error { return w.Ledger.ClosedRows(ctx, c, to) })
}

// closedRows is the file with the rows of a closing as they were hashed.
const closedRows = "rows.jsonl.gz"

// auditPage is how many records are read at once.
const auditPage = 1000

// audit adds the audit of the period, newest first.
func (w *writer) audit(ctx context.Context) error {
	f, zone := w.Options.Filter, w.Snapshot.Zone()
	q := trade.AuditQuery{Limit: auditPage, From: f.From.In(zone)}
	if !f.To.IsZero() {
		q.Until = f.To.In(zone).AddDate(0, 0, 1)
	}
	return w.file(auditFile, func(to io.Writer) error {
		for {
			page, err := w.Ledger.AuditPage(ctx, q)
			if err != nil {
				return err
			}
			for _, r := range page.Records {
				r.At = r.At.UTC()
				if _, err := line(to, r); err != nil {
					return err
				}
			}
			q.Before = page.Next
			if page.Next == 0 {
				return nil
			}
		}
	})
}
