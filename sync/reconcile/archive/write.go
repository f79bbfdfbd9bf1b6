// Writing an archive.

package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// Closing is a line of closings.jsonl.
type Closing struct {
	trade.Closing
	Masked bool `json:"masked"` // its rows have documents, which are masked here
}

// Act is the audit's name of the act that stores the seal of an archive.
const Act = "report archive"

// The files of an archive.
const (
	sumsFile     = "SHA256SUMS"
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
	Now      time.Time
}

// writer writes the files of an archive, and lists them with their hashes.
type writer struct {
	Contents
	zip  *zip.Writer
	sums bytes.Buffer
}

// Write writes an archive and returns its seal, the SHA-256 of its list of files.
func Write(ctx context.Context, to io.Writer, c Contents) (seal string, err error) {
	w := &writer{Contents: c, zip: zip.NewWriter(to)}
	err = w.reports()
	if err == nil {
		err = w.closings(ctx)
	}
	if err == nil {
		f, zone := w.Options.Filter, w.Snapshot.Zone()
		q := trade.AuditQuery{Limit: auditPage, From: f.From.In(zone)}
		if !f.To.IsZero() {
			q.Until = f.To.In(zone).AddDate(0, 0, 1)
		}
		err = w.file(auditFile, func(to io.Writer) error {
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
	if err == nil {
		sum := sha256.Sum256(w.sums.Bytes())
		seal = hex.EncodeToString(sum[:])
		err = w.text(sumsFile, w.sums.Bytes())
	}
	if err = errors.Join(err, w.zip.Close()); err != nil {
		return "", phrase.Errorf("write the archive: %w", err)
	}
	return seal, nil
}

// file adds a file to the archive, and to the list that sha256sum -c reads.
func (w *writer) file(name string, write func(io.Writer) error) error {
	part, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.Now.UTC()})
	if err != nil {
		return err
	}
	sum := sha256.New()
	if err := write(io.MultiWriter(part, sum)); err != nil {
		return phrase.Errorf("%s: %w", name, err)
	}
	w.sums.WriteString(hex.EncodeToString(sum.Sum(nil)) + "  " + name + "\n")
	return nil
}

// text is file for a text that is there.
func (w *writer) text(name string, text []byte) error {
	return w.file(name, func(to io.Writer) error { _, err := to.Write(text); return err })
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
	return w.text(closingsFile, lines.Bytes())
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
	folder := "closings/" + c.ID + "/"
	if err := w.text(folder+"head.json", trade.MaskJSON(c.Head)); err != nil {
		return false, err
	}
	if masked {
		return true, w.file(folder+"rows.jsonl", func(to io.Writer) error {
			return s.Each(func(r *reconcile.Row) error { _, err := line(to, r); return err })
		})
	}
	return false, w.file(folder+"rows.jsonl.gz", func(to io.Writer) error { return w.Ledger.ClosedRows(ctx, c, to) })
}

// auditPage is how many records are read at once.
const auditPage = 1000
