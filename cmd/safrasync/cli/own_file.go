package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
)

// MayMake returns nil if a file can be created. It returns fs.ErrExist if the file exists, and
// words.ErrNoFolder if its folder does not. "" means standard output.
func MayMake(path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := os.Stat(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return words.ErrNoFolder
	}
	return err
}

// WriteOwn creates a file that only its owner may read. On an error the file is removed.
func WriteOwn(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if rmErr := os.Remove(path); !errors.Is(rmErr, fs.ErrNotExist) {
				err = errors.Join(err, rmErr)
			}
		}
	}()
	out := ownFile{bufio.NewWriter(file), file}
	return errors.Join(write(out), out.Sync(), file.Close())
}

// ownFile is a file that is being written.
type ownFile struct {
	*bufio.Writer
	file *os.File
}

// Sync brings what was written to the disk.
func (o ownFile) Sync() error { return errors.Join(o.Flush(), o.file.Sync()) }

// CreateFile writes a new file. It returns an error if the file exists.
func CreateFile(path, text string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return phrase.Errorf("%s: %w", path, err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// ReplaceFile writes a file in one step: a crash leaves the old text or the new one. It keeps mode,
// owner and group, because the service reads by its group a configuration that root replaces.
func ReplaceFile(path, text string) error {
	mode := os.FileMode(0o644)
	before, err := os.Stat(path)
	if err == nil {
		mode = before.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".safrasync-*")
	if err != nil {
		return phrase.Errorf("%s: %s", path, config.PlainReason(err))
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, keepOwner(f, before), f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error explains more
		return phrase.Errorf("%s: %s", path, config.PlainReason(err))
	}
	return nil
}
