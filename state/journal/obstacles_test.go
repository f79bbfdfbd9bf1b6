package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// block puts a folder with something in it where a file should be, and gives what takes it away
// again.
func block(t *testing.T, path string) (undo func()) {
	t.Helper()
	kept := path + ".kept"
	if err := os.Rename(path, kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	must.Do(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
	return func() {
		t.Helper()
		err := os.RemoveAll(path)
		if _, statErr := os.Stat(kept); statErr == nil {
			err = errors.Join(err, os.Rename(kept, path))
		}
		must.Do(t, err)
	}
}

// readOnly makes the journal's file one that cannot be written.
func (w *writer) readOnly(t *testing.T) func() {
	t.Helper()
	f := must.Get(os.Open(w.j.file.Name()))(t)
	must.Do(t, w.j.file.Close())
	w.j.file = f
	return func() {
		must.Do(t, w.j.Close())
		w.open() // nobody knows what a write that failed left: the process starts again
	}
}

// F047, F053, F056: whatever keeps the journal from being written, the writing says so, and when it
// is out of the way what was written before is there and writing goes on.
func TestWhatKeepsTheJournalFromBeingWritten(t *testing.T) {
	t.Parallel()
	for name, obstacle := range map[string]func(t *testing.T, w *writer) (undo func()){
		"the lock": func(t *testing.T, w *writer) func() { return block(t, filepath.Join(w.dir, lockName)) },
		"a file that is closed": func(t *testing.T, w *writer) func() {
			must.Do(t, w.j.file.Close())
			return func() {
				_ = w.j.Close() // its file is closed already
				w.open()
			}
		},
		"a file for reading": func(t *testing.T, w *writer) func() { return w.readOnly(t) },
		"what others have begun": func(t *testing.T,
			w *writer,
		) func() {
			return block(t, filepath.Join(w.dir, segmentName(w.seq+1)))
		},
	} {
		for way, write := range map[string]func(w *writer) error{
			"append": func(w *writer) error { _, _, err := w.j.Append(group(1), w.seq, w.mark); return err },
			"keep":   func(w *writer) error { return w.j.WriteAnswers(group(1)) },
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				w := newWriter(t)
				w.commit(group(1))
				w.commit(group(2))
				undo := obstacle(t, w)
				if err := write(w); err == nil {
					t.Fatal("it was written")
				}
				undo()
				w.commit(group(3))
				if records, _ := readAllOf(t, w.dir); len(records) != 3 {
					t.Errorf("%d records, want 3", len(records))
				}
			})
		}
	}
}

// A journal of which a flush or a cut failed writes nothing more.
func TestAJournalThatFailedOnceWritesNothingMore(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(t *testing.T, w *writer){
		"for reading": func(t *testing.T, w *writer) { w.readOnly(t) },
		"a full disk": func(t *testing.T, w *writer) {
			f := must.Get(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
			must.Do(t, w.j.file.Close())
			w.j.file = f
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.commit(group(1))
			put(t, w)
			r := group(1)
			r.Seq, r.Prev = w.j.end.Seq+1, w.j.end.Mark
			if err := w.j.write(r); err == nil || name == "a full disk" && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("write: %v", err)
			}
			if _, _, err := w.j.Append(group(1), w.seq, w.mark); !errors.Is(err, errBroken) {
				t.Errorf("Append: %v", err)
			}
			if err := w.j.WriteAnswers(group(1)); !errors.Is(err, errBroken) {
				t.Errorf("Keep: %v", err)
			}
		})
	}
}

func TestASegmentThatCannotBeBegunIsNoLoss(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	undo := block(t, filepath.Join(w.dir, segmentName(w.seq+1)))
	if err := w.j.rotate(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("rotate: %v", err)
	}
	undo()
	w.j.limit = 1
	w.commit(group(2))
	if records, _ := readAllOf(t, w.dir); len(records) != 2 {
		t.Errorf("%d records, want 2", len(records))
	}
}

func TestWhatKeepsAJournalFromBeingOpenedOrMade(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	failed := errors.New("the ledger does not say what it knows")
	open := func(t *testing.T) error { _, err := Open(w.dir, w.seq, w.mark); return err }
	nothing := func(*testing.T) func() { return func() {} }
	for _, test := range []struct {
		name  string
		block func(t *testing.T) func()
		do    func(t *testing.T) error
		want  error
	}{
		{
			"no folder", nothing,
			func(*testing.T) error { _, err := Open(filepath.Join(dir, "nowhere"), 0, ""); return err },
			fs.ErrNotExist,
		},
		{
			"the lock", func(t *testing.T) func() { return block(t, filepath.Join(w.dir, lockName)) }, open,
			syscall.EISDIR,
		},
		{
			"the reserve", func(t *testing.T) func() { return block(t, filepath.Join(w.dir, reserveName)) }, open,
			syscall.ENOTEMPTY,
		},
		{
			"a segment that is a folder",
			func(t *testing.T) func() { return block(t, filepath.Join(w.dir, segmentName(1))) }, open, syscall.EISDIR,
		},
		{
			"a folder that is there", nothing,
			func(*testing.T) error { _, _, err := Create(w.dir, header, nil); return err }, nil,
		},
		{
			"a file in place of the parent", nothing,
			func(*testing.T) error { _, _, err := Create(filepath.Join(file, "l"), header, nil); return err },
			syscall.ENOTDIR,
		},
		{
			"a file above the parent", nothing,
			func(*testing.T) error { _, _, err := Create(filepath.Join(file, "a", "l"), header, nil); return err },
			syscall.ENOTDIR,
		},
		{"a ledger that cannot be read", nothing, func(*testing.T) error {
			_, _, err := Create(filepath.Join(dir, "l"), header,
				func(func(Record) error) error { return failed })
			return err
		}, failed},
		{
			"nothing to set aside", nothing,
			func(*testing.T) error { _, err := SetAside(filepath.Join(dir, "nowhere"), at); return err },
			fs.ErrNotExist,
		},
		{
			"a parent that is a file", nothing,
			func(*testing.T) error { _, _, err := Find(file); return err }, syscall.ENOTDIR,
		},
		{
			"a journal that is a file", nothing,
			func(*testing.T) error { _, err := Read(file, -1, nil); return err }, syscall.ENOTDIR,
		},
		{"a reader that fails", nothing, func(*testing.T) error {
			_, err := Read(w.dir, -1, func(Record, string) error { return failed })
			return err
		}, failed},
		{
			"a comparison with no journal", nothing,
			func(*testing.T) error { _, err := Compare(file, 0); return err }, syscall.ENOTDIR,
		},
	} {
		undo := test.block(t)
		if err := test.do(t); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		undo()
	}
	if left, err := filepath.Glob(filepath.Join(dir, "l*")); err != nil || len(left) > 0 {
		t.Errorf("a journal that was not made left %v, %v", left, err)
	}
	must.Do(t, os.Mkdir(filepath.Join(filepath.Dir(w.dir), "empty"), 0o700))
	found, broken, err := Find(filepath.Dir(w.dir))
	if err != nil || len(found) != 1 || len(broken) != 0 {
		t.Errorf("found %v, broken %v, %v", found, broken, err)
	}
	w.commit(group(2))
}

// F056: a line that matches its checksum and holds no record is damage, and is told with its place.
func TestASoundLineWithoutARecordIsDamage(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{
		"no time":                    `"at":1}`,
		"a head without its content": `"at":"2026-11-21T09:00:00Z","head":{"created":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.commit(group(1))
			text := string(seqMark) + "2," + string(prevMark) + w.mark + `",` + string(kindMark) + string(Tx) +
				`",` + rest
			f, err := os.OpenFile(filepath.Join(w.dir, segmentName(1)), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString(crcOf([]byte(text)) + " " + text + "\n")
			must.Do(t, err, f.Close())
			for _, after := range []int64{-1, 2} { // a reader of all, and one that only looks at the end
				var damage *DamageError
				if _, err := Read(w.dir, after, func(Record, string) error { return nil }); !errors.As(err, &damage) ||
					damage.Offset == 0 {
					t.Errorf("after %d: %v", after, err)
				}
			}
			if _, _, err := w.j.Append(group(1), w.seq, w.mark); err == nil {
				t.Error("it was written on")
			}
		})
	}
}
