// Opening and verifying an archive.

package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// ErrDamaged means that an archive is not as it was written.
var ErrDamaged = errors.New("the archive is not as it was written")

// ErrNoArchive means that a file is not an archive of a report.
var ErrNoArchive = errors.New("this is no archive of a report")

// ErrNewer means that an archive has the format of a newer program.
var ErrNewer = errors.New("the archive is of a newer program: install that one")

// mostText is the largest size, in bytes, of a file that is read as a whole.
const mostText = 64 << 20

// Archive is an open archive whose files are as they were written.
type Archive struct {
	Manifest
	Seal   string         // SHA-256 of the manifest
	Zone   *time.Location // of the report
	Closed []Closing
	zip    *zip.ReadCloser
	files  map[string]*zip.File
}

// Open opens an archive. It compares every file with the manifest first, and every closing with its
// hash.
func Open(path string) (a *Archive, err error) {
	z, err := zip.OpenReader(path)
	switch {
	case errors.Is(err, zip.ErrFormat):
		return nil, ErrNoArchive
	case err != nil:
		return nil, err
	}
	a = &Archive{zip: z, files: map[string]*zip.File{}}
	if err = a.verify(); err != nil {
		return nil, errors.Join(err, z.Close())
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.zip.Close() }

func damaged(name string) error { return phrase.Errorf("%w: %s", ErrDamaged, name) }

// verify compares the files with the manifest, and reads the closings.
func (a *Archive) verify() error {
	for _, f := range a.zip.File {
		if a.files[f.Name] != nil {
			return damaged(f.Name)
		}
		a.files[f.Name] = f
	}
	if a.files[manifestFile] == nil {
		return ErrNoArchive
	}
	text, sum, err := a.text(manifestFile)
	if err != nil {
		return err
	}
	var is struct {
		Form   int
		Report string
	}
	switch {
	case json.Unmarshal(text, &is) != nil || is.Report == "":
		return ErrNoArchive
	case is.Form > formOfManifest:
		return ErrNewer
	}
	a.Seal = sum
	if json.Unmarshal(text, &a.Manifest) != nil || len(a.Files)+1 != len(a.files) {
		return damaged(manifestFile)
	}
	seen := map[string]bool{manifestFile: true}
	for _, f := range a.Files {
		if sum, err := a.copy(f.Name, io.Discard); err != nil || sum != f.SHA256 || seen[f.Name] {
			return damaged(f.Name)
		}
		seen[f.Name] = true
	}
	if err := a.readZone(); err != nil {
		return err
	}
	return a.readClosings()
}

// readZone reads the time zone of the report.
func (a *Archive) readZone() error {
	text, err := a.head("")
	if err != nil {
		return err
	}
	var head reconcile.Head
	if json.Unmarshal(text, &head) != nil {
		return damaged(headFile)
	}
	a.Zone, err = time.LoadLocation(head.Zone)
	if err != nil {
		return damaged(headFile)
	}
	return nil
}

// copy writes a file of the archive to to, and returns its SHA-256.
func (a *Archive) copy(name string, to io.Writer) (sum string, err error) {
	f := a.files[name]
	if f == nil {
		return "", damaged(name)
	}
	from, err := f.Open()
	if err != nil {
		return "", damaged(name)
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, hash), from)
	if err = errors.Join(err, from.Close()); err != nil {
		return "", damaged(name)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// text returns a small file of the archive as a whole, and its SHA-256.
func (a *Archive) text(name string) (text []byte, sum string, err error) {
	if f := a.files[name]; f != nil && f.UncompressedSize64 > mostText {
		return nil, "", damaged(name)
	}
	var b bytes.Buffer
	sum, err = a.copy(name, &b)
	return b.Bytes(), sum, err
}

// readClosings reads the list of closings, and compares each with its hash.
func (a *Archive) readClosings() error {
	text, _, err := a.text(closingsFile)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, mostText)
	for lines.Scan() {
		var c Closing
		if json.Unmarshal(lines.Bytes(), &c) != nil || c.Day.IsZero() {
			return damaged(closingsFile)
		}
		if err := a.proves(c); err != nil {
			return err
		}
		a.Closed = append(a.Closed, c)
	}
	if lines.Err() != nil {
		return damaged(closingsFile)
	}
	return nil
}

// proves compares the stored rows of a closing with its hash. If documents are masked, nothing can
// be compared.
func (a *Archive) proves(c Closing) error {
	if c.Masked {
		return nil
	}
	head, err := a.head(c.folder())
	if err != nil {
		return err
	}
	rows, sum := a.files[c.folder()+closedRows], trade.NewClosingSum(head)
	if rows == nil {
		return damaged(c.folder() + closedRows)
	}
	from, err := rows.Open()
	if err == nil {
		err = errors.Join(sum.Rows(from), from.Close())
	}
	if err != nil || sum.Hash() != c.Hash {
		return damaged(c.folder() + closedRows)
	}
	return nil
}

// folder returns the folder of a closing in an archive.
func (c Closing) folder() string { return "closings/" + c.ID + "/" }

// Snapshot returns the rows of the report.
func (a *Archive) Snapshot() (*reconcile.Snapshot, error) { return a.kept("", rowsFile, nil) }

// Closing returns the report of a closing. Open compared it with its hash.
func (a *Archive) Closing(c Closing) (*reconcile.Snapshot, error) {
	if c.Masked {
		return a.kept(c.folder(), rowsFile, &c.Closing)
	}
	return a.kept(c.folder(), closedRows, &c.Closing)
}

// kept returns a snapshot from the files of a folder.
func (a *Archive) kept(folder, rows string, c *trade.Closing) (*reconcile.Snapshot, error) {
	head, err := a.head(folder)
	if err != nil {
		return nil, err
	}
	file := a.files[folder+rows]
	if file == nil {
		return nil, damaged(folder + rows)
	}
	return reconcile.OpenKept(head, c, func() (io.ReadCloser, error) {
		from, err := file.Open()
		if err != nil || rows == rowsFile {
			return from, err
		}
		return reconcile.Unpack(from)
	})
}

func (a *Archive) head(folder string) ([]byte, error) {
	text, _, err := a.text(folder + headFile)
	return text, err
}

// Options returns the options with which the report was made.
func (a *Archive) Options() reconcile.Options {
	t := a.Told
	t.Filter.From, t.Filter.To = t.From, t.To
	return reconcile.Options{Filter: t.Filter, Tolerance: t.Tolerance, Lang: t.Lang, Titles: t.Titles, Show: t.Show}
}
