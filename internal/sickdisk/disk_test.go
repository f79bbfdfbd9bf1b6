//go:build seccomp

package sickdisk_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/sickdisk"
)

// Of the calls on a folder's files each fails in its turn, once or with all after it; those on
// other files never do.
func TestTheKthCallFails(t *testing.T) {
	d := sickdisk.Own(t)
	if d == nil {
		return
	}
	dir, other := t.TempDir(), t.TempDir()
	write := func(dir string) error {
		f, err := os.Create(filepath.Join(dir, "a"))
		if err != nil {
			return err
		}
		_, err = f.WriteString("x")
		return errors.Join(err, f.Sync(), f.Close(), os.Rename(f.Name(), filepath.Join(dir, "b")))
	}
	var hits []string
	for at := 1; ; at++ {
		d.Arm(sickdisk.Plan{Under: dir, At: at})
		must.Do(t, write(other))
		err := write(dir)
		hit := must.Get(d.Disarm())(t)
		if hit == "" {
			must.Do(t, err)
			break
		}
		name, _, _ := strings.Cut(hit, " ")
		// os.Rename looks whether there is a folder in the way, and goes on without the answer
		if !errors.Is(err, syscall.EIO) && name != "fstatat" {
			t.Errorf("%s fails: %v", hit, err)
		}
		hits = append(hits, name)
	}
	want := []string{"openat", "write", "fsync", "close", "fstatat", "renameat"}
	if diff := cmp.Diff(want, hits); diff != "" {
		t.Errorf("the calls that failed (-want +got):\n%s", diff)
	}
	d.Arm(sickdisk.Plan{Under: dir, At: 2, Lasting: true, Err: syscall.ENOSPC})
	if err := write(dir); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if _, err := d.Disarm(); err != nil {
		t.Error(err)
	}
}
