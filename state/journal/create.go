package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// segmentSize is the size after which the next record begins a new segment.
const segmentSize = 64 << 20

// reserveSize is the space that is released on a full disk, so that the answers to requests in
// flight can still be stored (F053).
const reserveSize = 1 << 20

const (
	reserveName = "reserve"
	lockName    = "lock"
)

// Create creates a journal in a folder that must not exist yet, with what the ledger already knows:
// pages calls put with each page of it. The journal appears complete or not at
// all. Create returns the last record's number and mark, or 0 and "" if there is none.
func Create(dir string, header Header,
	pages func(put func(page Record) error) error,
) (seq int64, mark string, err error) {
	if _, err := os.Lstat(dir); err == nil {
		return 0, "", phrase.Errorf("journal: %s exists already", dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, "", phrase.Errorf("journal: %w", err)
	}
	parent := filepath.Dir(dir)
	if err := makeFolders(parent); err != nil {
		return 0, "", phrase.Errorf("journal: %w", err)
	}
	half, err := os.MkdirTemp(parent, filepath.Base(dir)+".new-")
	if err != nil {
		return 0, "", phrase.Errorf("journal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(half))
		}
	}()
	seq, mark, err = begin(filepath.Join(half, segmentName(1)), header, pages)
	if err != nil {
		return 0, "", err
	}
	if err := errors.Join(writeFile(filepath.Join(half, lockName), nil), SyncFolder(half), os.Rename(half, dir),
		SyncFolder(parent)); err != nil {
		return 0, "", phrase.Errorf("journal: %w", err)
	}
	if seq == 0 {
		mark = ""
	}
	return seq, mark, nil
}

// begin writes the first segment: the head, and what the ledger knows.
func begin(path string, header Header,
	pages func(put func(page Record) error) error,
) (seq int64, mark string, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, "", phrase.Errorf("journal: %w", err)
	}
	defer phrase.Join(&err, f.Close)
	mark = firstPrev
	put := func(r Record) error {
		r.Prev = mark
		line, crc, err := encode(r)
		if err != nil {
			return err
		}
		mark = crc
		_, err = f.Write(line)
		return err
	}
	header.Form = NewestForm
	if err := put(Record{Kind: Head, At: header.Created, Head: &header}); err != nil {
		return 0, "", phrase.Errorf("journal: %w", err)
	}
	if pages != nil {
		if err := pages(func(page Record) error {
			seq++
			page.Seq, page.Kind, page.At = seq, Base, header.Created
			return put(page)
		}); err != nil {
			return 0, "", err
		}
	}
	return seq, mark, f.Sync()
}

// SetAside renames a journal's folder, so that another can take its place. It returns the new name.
func SetAside(dir string, at time.Time) (string, error) {
	aside := dir + ".until-" + at.UTC().Format("20060102T150405.000Z")
	if err := os.Rename(dir, aside); err != nil {
		return "", phrase.Errorf("journal: %w", err)
	}
	return aside, SyncFolder(filepath.Dir(dir))
}

// makeFolders creates a folder and its parents, accessible to the owner only, and flushes each into
// its parent.
func makeFolders(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if up := filepath.Dir(dir); up != dir {
		if err := makeFolders(up); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncFolder(filepath.Dir(dir))
}

// writeFile creates a file, which must not exist, and flushes it.
func writeFile(path string, content []byte) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer phrase.Join(&err, f.Close)
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}
