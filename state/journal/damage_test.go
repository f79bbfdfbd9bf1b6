package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
)

// F056: whatever the end of the file lost, what is read is a prefix of what was written, and
// writing goes on behind it.
func TestF056AJournalCutAtEveryByteIsAPrefix(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	for n := range 4 {
		w.commit(group(n))
	}
	whole := must.Get(os.ReadFile(filepath.Join(w.dir, segmentName(1))))(t)
	records, _ := readAllOf(t, w.dir)
	headEnd := bytes.IndexByte(whole, '\n') + 1
	marks := map[int64]string{}
	must.Get(Read(w.dir, -1, func(r Record, mark string) error { marks[r.Seq] = mark; return nil }))(t)
	dir := filepath.Join(t.TempDir(), "l-1")
	must.Do(t, os.MkdirAll(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, reserveName), make([]byte, reserveSize), 0o600))
	for cut := range len(whole) + 1 {
		for _, tail := range []string{"", "\x00\x00\x00\x00", "garbage\n"} {
			text := append(bytes.Clone(whole[:cut]), tail...)
			must.Do(t, os.WriteFile(filepath.Join(dir, segmentName(1)), text, 0o600))
			var got []Record
			end, err := Read(dir, -1, func(r Record, _ string) error { got = append(got, r); return nil })
			if cut < headEnd {
				if err == nil {
					t.Fatalf("cut at %d: read without a head", cut)
				}
				continue
			}
			if err != nil {
				t.Fatalf("cut at %d with %q: %v", cut, tail, err)
			}
			if diff := cmp.Diff(records[:len(got)], got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("cut at %d: %s", cut, diff)
			}
			if want := bytes.Count(whole[headEnd:cut], []byte{'\n'}); len(got) != want ||
				end.size+end.Torn != int64(len(text)) {
				t.Fatalf("cut at %d with %q: %d records, want %d; end %+v", cut, tail, len(got), want, end)
			}
			if cut%7 != 0 {
				continue
			}
			j := must.Get(Open(dir, end.Seq, marks[end.Seq]))(t)
			if _, _, err := j.Append(group(1), end.Seq, marks[end.Seq]); err != nil {
				t.Fatalf("cut at %d with %q: %v", cut, tail, err)
			}
			must.Do(t, j.Close())
			if again, _ := readAllOf(t, dir); len(again) != len(got)+1 {
				t.Fatalf("cut at %d: %d records after one more, want %d", cut, len(again), len(got)+1)
			}
		}
	}
}

func TestDamageBeforeTheEndIsNamed(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	for range 3 {
		w.commit(group(1))
	}
	path := filepath.Join(w.dir, segmentName(1))
	whole := must.Get(os.ReadFile(path))(t)
	lines := bytes.SplitAfter(whole, []byte{'\n'})
	offset := int64(len(lines[0]))
	flipped := func(i int) []byte {
		text := bytes.Clone(whole)
		text[i] ^= 1
		return text
	}
	for name, c := range map[string]struct {
		text []byte
		at   int64
	}{
		"a flipped bit":       {flipped(int(offset) + 40), offset},
		"a lost line feed":    {flipped(int(offset) + len(lines[1]) - 1), offset},
		"a line that is gone": {bytes.Join([][]byte{lines[0], lines[2], lines[3]}, nil), offset},
		"two lines changed":   {bytes.Join([][]byte{lines[0], lines[2], lines[1], lines[3]}, nil), offset},
		"a line that is double": {
			bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2], lines[3]}, nil),
			offset + int64(len(lines[1])),
		},
		"a damaged head": {flipped(20), 0},
	} {
		must.Do(t, os.WriteFile(path, c.text, 0o600))
		var damage *DamageError
		if _, err := Read(w.dir, -1, func(Record, string) error { return nil }); !errors.As(err, &damage) ||
			damage.File != path || damage.Offset != c.at {
			t.Errorf("%s: %v, want damage of %s at byte %d", name, err, path, c.at)
		}
		if j, err := Open(w.dir, w.seq, w.mark); err == nil {
			j.Close()
			t.Errorf("%s: opened for writing", name)
		}
	}
}

func TestASegmentWithoutItsHeadIsIgnoredAndReplaced(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	stub := filepath.Join(w.dir, segmentName(2))
	must.Do(t, os.WriteFile(stub, []byte("1234"), 0o600))
	if records, end := readAllOf(t, w.dir); len(records) != 1 || end.Torn != 4 {
		t.Errorf("%d records, end %+v", len(records), end)
	}
	w.open()
	w.j.limit = 1
	w.commit(group(1))
	w.commit(group(1))
	if records, _ := readAllOf(t, w.dir); len(records) != 3 {
		t.Errorf("%d records, want 3", len(records))
	}
}

// FuzzRead feeds the reader any text: it ends with an error or with a prefix that is sound.
func FuzzRead(f *testing.F) {
	w := newWriter(f)
	w.commit(group(2))
	w.commit(Record{Kind: Act, At: at, ActName: "dismiss"})
	whole := must.Get(os.ReadFile(filepath.Join(w.dir, segmentName(1))))(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, segmentName(1)), text, 0o600))
		last := int64(0)
		end, err := Read(dir, -1, func(r Record, _ string) error {
			if r.Seq != last+1 {
				t.Fatalf("record %d after %d", r.Seq, last)
			}
			last = r.Seq
			return nil
		})
		if err == nil && (end.Seq != last || end.size+end.Torn != int64(len(text))) {
			t.Fatalf("end %+v, last record %d, %d bytes", end, last, len(text))
		}
	})
}
