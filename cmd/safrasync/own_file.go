package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// errNoFolder says that a file cannot be made because its folder is not there.
var errNoFolder = errors.New("the folder does not exist")

// mayMake tells whether a file can be there: not where one is already (fs.ErrExist), or in no folder (errNoFolder). "" is standard output.
func mayMake(path string) error {
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
		return errNoFolder
	}
	return err
}

// writeOwn makes a file that only its owner may read, whole or not at all.
func writeOwn(path string, write func(io.Writer) error) (err error) {
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
	out := bufio.NewWriter(file)
	return errors.Join(write(out), out.Flush(), file.Sync(), file.Close())
}
