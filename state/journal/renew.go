package journal

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// ErrUnsettled is returned if the journal has answers or intents that the ledger does not have yet.
// It cannot begin again before they are settled.
var ErrUnsettled = errors.New("the journal has records that the ledger does not have yet")

// Size returns the present size of a journal's folder in bytes, the first existing record, and
// where the journal last began again: the first record that is needed (base), and the size in bytes
// of the snapshot there.
func (j *Journal) Size() (bytes, first, base, snapshot int64, err error) {
	names, err := segments(j.dir)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(j.dir, name))
		if err != nil {
			return 0, 0, 0, 0, phrase.Errorf("journal: %w", err)
		}
		bytes += info.Size()
	}
	first, _ = firstOf(names[0])
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes, first, j.end.Base, j.end.Size, nil
}

// SizeBefore returns the size in bytes of the segments that hold only records before base.
func (j *Journal) SizeBefore(base int64) (bytes int64, err error) {
	names, err := segments(j.dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if first, _ := firstOf(name); first >= base {
			break
		}
		info, err := os.Stat(filepath.Join(j.dir, name))
		if err != nil {
			return 0, phrase.Errorf("journal: %w", err)
		}
		bytes += info.Size()
	}
	return bytes, nil
}

// Cut begins a new segment for a snapshot, unless the last segment has no record yet, and returns
// the number of the first record in it. committed and mark are as for Append. It returns
// ErrUnsettled if the journal has records after committed.
func (j *Journal) Cut(committed int64, mark string) (first int64, err error) {
	err = j.locked(func() error {
		void, err := j.compare(committed, mark, "")
		if err == nil && (len(void) > 0 || j.end.Seq != committed) {
			err = ErrUnsettled
		}
		if err != nil {
			return phrase.Errorf("journal %s: %w", j.dir, err)
		}
		first = j.end.Seq + 1
		if begun, _ := firstOf(filepath.Base(j.end.file)); begun == first {
			return nil
		}
		return j.rotate()
	})
	return first, err
}

// Drop removes the segments that hold only records before the last base, the oldest first, so that
// a crash always leaves a complete journal. The caller must ensure that the ledger has the base,
// and that what the base replaces can be read from it.
func (j *Journal) Drop() (removed int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	unlock, err := lock(filepath.Join(j.dir, lockName))
	if err != nil {
		return 0, err
	}
	defer phrase.Join(&err, unlock)
	end, err := ReadEnd(j.dir)
	if err != nil {
		return 0, err
	}
	names, err := segments(j.dir)
	if err != nil {
		return 0, err
	}
	for i := 0; i+1 < len(names); i++ {
		if next, _ := firstOf(names[i+1]); next > end.Base {
			break
		}
		if err := os.Remove(filepath.Join(j.dir, names[i])); err != nil {
			return removed, phrase.Errorf("journal: %w", err)
		}
		removed++
		if err := SyncFolder(j.dir); err != nil {
			return removed, phrase.Errorf("journal: %w", err)
		}
	}
	return removed, nil
}

// Mend cuts off a damaged end of a journal, so that it can be written again. The bytes are kept in
// files beside it, for people to look at. The caller must have stored that something may be missing.
func Mend(dir string, now time.Time) (err error) {
	unlock, err := lock(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	defer phrase.Join(&err, unlock)
	end, err := ReadEnd(dir)
	if err != nil || !end.Damaged {
		return err
	}
	kept := ".damaged-" + now.UTC().Format("20060102T150405.000Z")
	if end.stub != "" {
		if err := os.Rename(end.stub, end.stub+kept); err != nil {
			return phrase.Errorf("journal: %w", err)
		}
	}
	text, err := os.ReadFile(end.file)
	if err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	if after := text[end.size:]; len(after) > 0 {
		if err := errors.Join(writeFile(end.file+kept, after), os.Truncate(end.file, end.size)); err != nil {
			return phrase.Errorf("journal: %w", err)
		}
	}
	return SyncFolder(dir)
}
