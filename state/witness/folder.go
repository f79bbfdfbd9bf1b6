package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
)

// folder keeps each line in a file of its own.
type folder struct{ dir string }

// OpenFolder returns the lines in a folder. It must exist: a missing one may be a disk that is not
// mounted.
func OpenFolder(dir string) Place { return folder{dir} }

const (
	filePrefix = "witness-"
	fileSuffix = ".txt"
	halfSuffix = ".part"        // of a file that is being written
	halfAge    = 24 * time.Hour // from when on nobody writes it any more, by whichever clock
)

func (f folder) file(l Line) string { return filepath.Join(f.dir, filePrefix+l.Key+fileSuffix) }

// Lines reads the files of a ledger. One that cannot be read is an error: it may be the one that
// tells.
func (f folder) Lines(_ context.Context, ledger string) (out []Line, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		// A file that a process left which ended while it wrote. One that stays is in nobody's way: it may
		// belong to another user.
		if strings.HasPrefix(e.Name(), filePrefix) && strings.HasSuffix(e.Name(), halfSuffix) {
			info, err := e.Info()
			if err == nil && time.Since(info.ModTime()) > halfAge {
				_ = os.Remove(filepath.Join(f.dir, e.Name()))
			}
		}
		if !strings.HasPrefix(e.Name(), filePrefix+ledger) || !strings.HasSuffix(e.Name(), fileSuffix) {
			continue
		}
		var line Line
		err := ReadFile(filepath.Join(f.dir, e.Name()), &line)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process has removed it
		case err != nil:
			return nil, err
		case line.Ledger == ledger:
			out = append(out, line)
		}
	}
	return out, nil
}

// ReadFile reads what WriteFile has written.
func ReadFile(file string, line any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sealed, whole := bytes.CutSuffix(text, []byte{'\n'})
	body, _, sound := journal.Unseal(sealed)
	if !whole || !sound {
		err = errors.New("it does not match its checksum")
	} else if err = json.Unmarshal(body, line); err != nil {
		err = phrase.Errorf("it is no line of a witness: %w", err)
	}
	if err != nil {
		return phrase.Errorf("%s is damaged: %w", file, err)
	}
	return nil
}

// WriteFile replaces a file by a line, which is flushed before it gets the name.
func WriteFile(file string, line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	sealed, _ := journal.Seal(text) // as the lines of a journal
	half, err := os.CreateTemp(filepath.Dir(file), filePrefix+"*"+halfSuffix)
	if err != nil {
		return err
	}
	_, err = half.Write(sealed)
	if err == nil {
		err = half.Sync()
	}
	err = errors.Join(err, half.Close())
	if err == nil {
		err = os.Rename(half.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(half.Name()))
	}
	return journal.SyncFolder(filepath.Dir(file)) // makes the name durable
}

// Swap replaces the file of a line.
func (f folder) Swap(_ context.Context, was, line Line) error {
	var found Line
	err := ReadFile(f.file(line), &found)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if found != (Line{}) && !found.sameHistory(was) || found == (Line{}) && was != (Line{}) {
		return &ConflictError{found}
	}
	return WriteFile(f.file(line), line)
}

// Remove removes the file of a line.
func (f folder) Remove(_ context.Context, line Line) error {
	var found Line
	err := ReadFile(f.file(line), &found)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !found.sameHistory(line) {
		return nil
	}
	if err == nil {
		err = os.Remove(f.file(line))
	}
	return err
}

// Try makes a file and removes it.
func (f folder) Try(context.Context) error {
	file, err := os.CreateTemp(f.dir, filePrefix+"*"+halfSuffix)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// Close does nothing: no file is kept open.
func (folder) Close() error { return nil }
