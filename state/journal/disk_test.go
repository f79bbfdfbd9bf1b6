//go:build seccomp

package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/sickdisk"
)

// use is a journal at work on a disk that fails.
type use struct {
	*writer
	home, before string
	seq0         int64
	mark0        string
}

// lived makes a journal of several segments with a snapshot in it, an answer that the ledger never
// took, and what a crash can leave: a torn end.
func lived(t *testing.T) *use {
	t.Helper()
	w := newWriter(t, Image{RowRef: RowRef{"contracts", "k"}, State: "accepted", Version: 3, Generation: 1})
	w.j.limit = 700
	for range 3 {
		w.commit(group(2))
	}
	first := must.Get(w.j.Cut(w.seq, w.mark))(t)
	w.commit(Record{Kind: Base, At: at})
	w.commit(Record{Kind: Base, At: at, Base: first, Size: 10})
	w.commit(group(1))
	w.commit(Record{Kind: Tx, At: at, Head: &header})
	must.Do(t, w.j.Close())
	u := &use{
		writer: w, home: filepath.Dir(w.dir), before: filepath.Join(t.TempDir(), "before"), seq0: w.seq,
		mark0: w.mark,
	}
	must.Do(t, os.CopyFS(u.before, os.DirFS(u.home)))
	return u
}

// again sets the journal up as it was.
func (u *use) again() {
	u.t.Helper()
	_ = u.j.Close()
	must.Do(u.t, os.RemoveAll(u.home), os.CopyFS(u.home, os.DirFS(u.before)))
	u.seq, u.mark = u.seq0, u.mark0
}

// sound checks that all that the ledger has is in the journal, and that writing goes on after what
// may have been written.
func (u *use) sound(what string) {
	u.t.Helper()
	_ = u.j.Close() // after a failure the process starts again
	if _, err := os.Stat(u.dir); err != nil {
		if err := os.Rename(u.dir+".until-"+at.UTC().Format("20060102T150405.000Z"), u.dir); err != nil {
			u.t.Fatalf("%s: %v", what, err)
		}
	}
	c, err := Compare(u.dir, u.seq)
	if err != nil || c.Mark != u.mark || c.Missing > 1 {
		u.t.Fatalf("%s: afterwards the journal is %+v, %v", what, c, err)
	}
	seq, mark := u.seq, u.mark
	if c.Missing > 0 { // which the ledger takes up before it writes
		seq, mark = c.End.Seq, c.End.Mark
	}
	j, err := Open(u.dir, seq, mark)
	if err != nil {
		u.t.Fatalf("%s: afterwards it is not opened: %v", what, err)
	}
	if _, _, err = j.Append(group(1), seq, mark); err != nil {
		u.t.Fatalf("%s: afterwards it is not written: %v", what, err)
	}
	must.Do(u.t, j.Close())
}

// uses are the ways to use a journal; prepare comes before the disk fails, and what use gives is
// the same each time that it gives no error.
var uses = map[string]struct {
	prepare func(u *use)
	use     func(u *use) (string, error)
}{
	"open": {nil, func(u *use) (string, error) { return u.opens() }},
	"open torn": {
		func(u *use) {
			names := must.Get(segments(u.dir))(u.t)
			u.add(filepath.Base(names[len(names)-1]), "70b2")
		},
		func(u *use) (string, error) { return u.opens() },
	},
	"open with a segment that was begun": {
		func(u *use) { u.add(segmentName(u.seq+1), "1234") },
		func(u *use) (string, error) { return u.opens() },
	},
	"open without the reserve": {
		func(u *use) {
			must.Do(u.t, os.Remove(filepath.Join(u.dir, reserveName)))
		},
		func(u *use) (string, error) { return u.opens() },
	},
	"append": {(*use).ready, func(u *use) (string, error) { return u.appends() }},
	"append to a new segment": {
		func(u *use) { u.ready(); u.j.limit = 1 },
		func(u *use) (string, error) { return u.appends() },
	},
	"append after another process": {func(u *use) {
		u.ready()
		other, err := Open(u.dir, u.seq, u.mark)
		if err != nil {
			u.t.Fatal(err)
		}
		other.limit = 1
		if u.seq, u.mark, err = other.Append(group(1), u.seq, u.mark); err == nil {
			err = other.Close()
		}
		must.Do(u.t, err)
	}, func(u *use) (string, error) { return u.appends() }},
	"keep": {(*use).ready, func(u *use) (string, error) {
		if err := u.j.WriteAnswers(group(1)); err != nil {
			return "", err
		}
		return u.text()
	}},
	"begin a segment for a snapshot": {func(u *use) { u.ready(); u.commit(group(1)) }, func(u *use) (string, error) {
		first, err := u.j.Cut(u.seq, u.mark)
		return fmt.Sprint(first), err
	}},
	"drop what a snapshot replaces": {(*use).ready, func(u *use) (string, error) {
		removed, err := u.j.Drop()
		return fmt.Sprint(removed > 0), err // of what failed half way, the rest goes the next time
	}},
	"its size": {(*use).ready, func(u *use) (string, error) {
		bytes, first, base, size, err := u.j.Size()
		before, beforeErr := u.j.SizeBefore(base)
		return fmt.Sprint(bytes, first, base, size, before), errors.Join(err, beforeErr)
	}},
	"read":         {nil, func(u *use) (string, error) { return u.reads(-1) }},
	"read the end": {nil, func(u *use) (string, error) { return u.reads(1 << 62) }},
	"compare": {nil, func(u *use) (string, error) {
		c, err := Compare(u.dir, u.seq-1)
		text, textErr := json.Marshal(c)
		return string(text), errors.Join(err, textErr)
	}},
	"find": {nil, func(u *use) (string, error) {
		found, broken, err := Find(u.home)
		for _, b := range broken {
			err = errors.Join(err, b)
		}
		return fmt.Sprintf("%+v", found), err
	}},
	"create": {nil, func(u *use) (string, error) {
		seq, _, err := Create(filepath.Join(u.home, "deep", "down", "l-2"), header,
			func(put func(Record) error) error { return put(Record{}) })
		if err == nil {
			_, err = Read(filepath.Join(u.home, "deep", "down", "l-2"), -1, func(Record, string) error { return nil })
		}
		return fmt.Sprint(seq), err
	}},
	"set aside": {nil, func(u *use) (string, error) {
		aside, err := SetAside(u.dir, at)
		if _, statErr := os.Stat(aside); err == nil && statErr != nil {
			err = statErr
		}
		return aside, err
	}},
}

func (u *use) ready() {
	u.t.Helper()
	u.j = must.Get(Open(u.dir, u.seq, u.mark))(u.t)
}

func (u *use) opens() (string, error) {
	j, err := Open(u.dir, u.seq, u.mark)
	if err != nil {
		return "", err
	}
	u.j = j
	return fmt.Sprint(j.end.Seq, j.end.Mark, j.end.size), nil
}

func (u *use) appends() (string, error) {
	seq, mark, err := u.j.Append(group(1), u.seq, u.mark)
	if err != nil {
		return "", err
	}
	u.seq, u.mark = seq, mark
	return u.text()
}

func (u *use) reads(after int64) (string, error) {
	var out []Record
	end, err := Read(u.dir, after, func(r Record, _ string) error { out = append(out, r); return nil })
	text, textErr := json.Marshal(out)
	return fmt.Sprintf("%s %+v", text, end), errors.Join(err, textErr)
}

// text is how many records there are, read without a failing disk: the call that fails was before.
func (u *use) text() (string, error) {
	n := 0
	_, err := Read(u.dir, -1, func(Record, string) error { n++; return nil })
	return fmt.Sprint(n), err
}

func (u *use) add(name, text string) {
	f, err := os.OpenFile(filepath.Join(u.dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	must.Do(u.t, err)
}

// F047, F048, F050, F053: in every use of a journal, every system call on its files fails, alone or
// with all after it, with an error of the device or for want of room: the use says so, or gives
// what it gives without a failure. What the ledger was told is there afterwards, and writing goes
// on.
func TestF048EverySystemCallOnAJournalFails(t *testing.T) {
	disk := sickdisk.Own(t)
	if disk == nil {
		return
	}
	failed := 0
	for name, way := range uses {
		u := lived(t)
		u.again()
		if way.prepare != nil {
			way.prepare(u)
		}
		want, err := way.use(u)
		if err != nil {
			t.Fatalf("%s, without a failure: %v", name, err)
		}
		for _, plan := range []sickdisk.Plan{
			{Err: syscall.EIO},
			{Err: syscall.EIO, Lasting: true},
			{Err: syscall.ENOSPC},
			{Err: syscall.ENOSPC, Lasting: true},
		} {
			for plan.At = 1; ; plan.At++ {
				u.again()
				if way.prepare != nil {
					way.prepare(u)
				}
				plan.Under = u.home
				disk.Arm(plan)
				got, err := way.use(u)
				hit := must.Get(disk.Disarm())(t)
				if hit == "" {
					break
				}
				failed++
				what := fmt.Sprintf("%s, whose call %d failed (%s, lasting %t, %v) and that said %v", name, plan.At,
					hit, plan.Lasting, plan.Err, err)
				if err == nil {
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s: (-want +got)\n%s", what, diff)
					}
				}
				u.sound(what)
				if half, err := filepath.Glob(filepath.Join(u.home, "deep", "down", "*.new-*")); err != nil ||
					len(half) > 0 && !plan.Lasting {
					t.Errorf("%s: has left %v, %v", what, half, err)
				}
			}
		}
	}
	t.Logf("%d calls failed in %d uses", failed, len(uses))
}
