package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
				end.size+end.Torn != int64(len(text)) || end.Damaged != (tail == "garbage\n") {
				t.Fatalf("cut at %d with %q: %d records, want %d; end %+v", cut, tail, len(got), want, end)
			}
			if cut%7 != 0 {
				continue
			}
			if end.Damaged {
				mustMend(t, dir, end.Seq, marks[end.Seq], "garbage\n")
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

// mustMend checks that a damaged end is not cut off by itself, and that Mend keeps what it cuts off.
func mustMend(t *testing.T, dir string, seq int64, mark, ends string) {
	t.Helper()
	var damaged *EndError
	if _, err := Open(dir, seq, mark); !errors.As(err, &damaged) || damaged.Seq != seq || damaged.Bytes == 0 {
		t.Fatalf("opened for writing: %v", err)
	}
	must.Do(t, Mend(dir, at))
	kept := must.Get(filepath.Glob(filepath.Join(dir, "*.damaged-*")))(t)
	if len(kept) != 1 || !bytes.HasSuffix(must.Get(os.ReadFile(kept[0]))(t), []byte(ends)) {
		t.Fatalf("kept: %v", kept)
	}
	must.Do(t, os.Remove(kept[0]))
}

// Bytes after the last sound line are taken for the rest of an interrupted write only if they can be
// one: the beginning of one line, with zeros where the disk has not got it.
func TestTheEndOfAJournalIsDamagedOrWasInterrupted(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	for range 5 {
		w.commit(group(2))
	}
	path := filepath.Join(w.dir, segmentName(1))
	whole := must.Get(os.ReadFile(path))(t)
	lines := bytes.SplitAfter(whole, []byte{'\n'})
	sound := bytes.Join(lines[:3], nil) // the head and two records
	hole := bytes.Clone(lines[3])
	clear(hole[20:40])
	flipped := bytes.Clone(lines[3])
	flipped[60] ^= 1
	noise := bytes.Repeat([]byte{7, 0xfe, 'a', 200}, 375)
	for name, c := range map[string]struct {
		end     []byte
		damaged bool
	}{
		"nothing":                   {nil, false},
		"half a line":               {lines[3][:len(lines[3])/2], false},
		"a line without its end":    {lines[3][:len(lines[3])-1], false},
		"zeros":                     {make([]byte, 1500), false},
		"a line with a hole":        {hole, false},
		"a line that has changed":   {flipped, true},
		"noise":                     {noise, true},
		"a later line":              {lines[4][:len(lines[4])-1], true},
		"two lines that changed":    {slices.Concat(flipped, flipped), true},
		"two lines, one of zeros":   {slices.Concat(make([]byte, 100), []byte("\n"), lines[4][:50]), true},
		"the first of several, cut": {slices.Concat(lines[3][:30], lines[4][10:40], []byte("\n")), true},
	} {
		must.Do(t, os.WriteFile(path, slices.Concat(sound, c.end), 0o600))
		if _, end := readAllOf(t, w.dir); end.Seq != 2 || end.Damaged != c.damaged || end.Torn != int64(len(c.end)) {
			t.Errorf("%s: %+v", name, end)
		}
	}
	must.Do(t, os.WriteFile(path, sound, 0o600))
	_, end := readAllOf(t, w.dir)
	next := filepath.Join(w.dir, segmentName(3))
	head := []byte(fmt.Sprintf(`%08x {"seq":2,"prev":"%s","kind":"head"`, 7, end.Mark))
	for name, c := range map[string]struct {
		begun   []byte
		damaged bool
	}{"a head": {head, false}, "noise": {noise, true}, "several lines": {slices.Concat(flipped, flipped), true}} {
		must.Do(t, os.WriteFile(next, c.begun, 0o600))
		if _, end := readAllOf(t, w.dir); end.Seq != 2 || end.Damaged != c.damaged {
			t.Errorf("a segment that begins with %s: %+v", name, end)
		}
	}
	mark := end.Mark
	must.Do(t, os.WriteFile(next, noise, 0o600))
	mustMend(t, w.dir, 2, mark, string(noise))
	must.Do(t, must.Get(Open(w.dir, 2, mark))(t).Close())
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
	w.commit(Record{Kind: Tx, At: at, ActName: "dismiss"})
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
