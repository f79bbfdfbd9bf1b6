package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

var at = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

var header = Header{
	Journal: "j-1", Ledger: "l-1", Host: "srv/abc", Machine: "abc", Place: "/var/lib/state.db",
	Created: at, Program: "1.0.0",
}

// group is a record of n rows.
func group(n int) Record {
	r := Record{Kind: Tx, At: at}
	for i := range n {
		r.Rows = append(r.Rows, Image{
			RowRef: RowRef{"contracts", fmt.Sprintf("01|%04d", i)},
			Sends:  "order_commitments", Version: 2, Generation: 1, State: "sending", Payload: "p",
		})
		r.Sent = append(r.Sent, Sent{
			SentImage:    SentImage{Kind: "order_commitments", Job: "contracts", Key: fmt.Sprintf("01|%04d", i)},
			AttemptImage: AttemptImage{Attempt: fmt.Sprintf("a-%d", i), Generation: 1, Outcome: OutcomeOpen},
			Attempted:    true,
		})
	}
	return r
}

// writer is a journal with the ledger's side of it.
type writer struct {
	t    testing.TB
	dir  string
	j    *Journal
	seq  int64
	mark string
}

func newWriter(t testing.TB, known ...Image) *writer {
	t.Helper()
	w := &writer{t: t, dir: filepath.Join(t.TempDir(), "parent", "l-1")}
	var err error
	if w.seq, w.mark, err = Create(w.dir, header, func(put func(Record) error) error {
		for page := range slices.Chunk(known, 500) {
			if err := put(Record{Rows: page}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	w.open()
	return w
}

func (w *writer) open() {
	w.t.Helper()
	w.j = must.Get(Open(w.dir, w.seq, w.mark))(w.t)
	j := w.j
	w.t.Cleanup(func() { _ = j.Close() })
}

// commit appends a record that the ledger then has.
func (w *writer) commit(r Record) {
	w.t.Helper()
	var err error
	if w.seq, w.mark, err = w.j.Append(r, w.seq, w.mark); err != nil {
		w.t.Fatal(err)
	}
	w.j.Committed(w.seq)
}

// refused appends a record that the ledger does not take.
func (w *writer) refused(r Record) {
	w.t.Helper()
	if _, _, err := w.j.Append(r, w.seq, w.mark); err != nil {
		w.t.Fatal(err)
	}
}

func readAllOf(t testing.TB, dir string) ([]Record, End) {
	t.Helper()
	var out []Record
	end := must.Get(Read(dir, -1, func(r Record, _ string) error { out = append(out, r); return nil }))(t)
	return out, end
}

func TestWhatWasAppendedIsRead(t *testing.T) {
	t.Parallel()
	known := make([]Image, 1200)
	for i := range known {
		known[i] = Image{
			RowRef: RowRef{"contracts", fmt.Sprint(i)}, State: "accepted", Version: int64(i + 1), Generation: 1,
		}
	}
	w := newWriter(t, known...)
	if w.seq != 3 {
		t.Errorf("1,200 rows make %d records, want 3", w.seq)
	}
	w.commit(group(3))
	w.commit(Record{Kind: Tx, At: at, ActName: "adopt", Rows: known[:1]})
	moved := header
	moved.Place = "/elsewhere/state.db"
	w.commit(Record{Kind: Tx, At: at, Head: &moved})
	records, end := readAllOf(t, w.dir)
	if len(records) != 6 || end.Seq != 6 || end.Mark != w.mark || end.Torn != 0 || end.Header.Place != moved.Place ||
		!end.At.Equal(at) {
		t.Errorf("%d records, end %+v", len(records), end)
	}
	n := 0
	for _, r := range records {
		if r.Kind == Base {
			n += len(r.Rows)
		}
	}
	if n != 1200 {
		t.Errorf("%d rows, want 1,200", n)
	}
	for path, mode := range map[string]os.FileMode{
		w.dir: 0o700, filepath.Join(w.dir, segmentName(1)): 0o600,
		filepath.Join(w.dir, lockName): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, mode)
		}
	}
}

func TestAJournalGoesOnInFurtherSegments(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.j.limit = 700
	for range 20 {
		w.commit(group(2))
	}
	names, err := segments(w.dir)
	if err != nil || len(names) < 5 {
		t.Fatalf("segments %v, %v", names, err)
	}
	for after := int64(-1); after <= 20; after++ {
		var got []int64
		end, err := Read(w.dir, after, func(r Record, _ string) error { got = append(got, r.Seq); return nil })
		if err != nil || end.Seq != 20 || int64(len(got)) != 20-max(after, 0) {
			t.Errorf("after %d: %v, end %+v, %v", after, got, end, err)
		}
	}
	w.open()
	w.commit(group(1))

	// A segment that is missing in the middle, or at the beginning, is damage.
	for _, name := range []string{names[2], names[0]} {
		aside := filepath.Join(t.TempDir(), name)
		must.Do(t, os.Rename(filepath.Join(w.dir, name), aside))
		var damage *DamageError
		if _, err := Read(w.dir, -1, func(Record, string) error { return nil }); !errors.As(err, &damage) {
			t.Errorf("without %s: %v, want damage", name, err)
		}
		must.Do(t, os.Rename(aside, filepath.Join(w.dir, name)))
	}
	readAllOf(t, w.dir)
}

func TestRecordsThatTheLedgerRefusedAreNamedInTheNext(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	w.refused(group(2))
	w.refused(group(3))
	c, err := Compare(w.dir, w.seq)
	if err != nil || c.Missing != 1 || c.First.Seq != 3 || c.Intents != 3 {
		t.Errorf("with two refused records: %+v, %v; want that only the last is missing", c, err)
	}
	w.commit(group(4))
	c, err = Compare(w.dir, 1)
	if err != nil || c.Missing != 1 || c.First.Seq != 4 || len(c.First.Void) != 2 || c.Intents != 4 {
		t.Errorf("after the next commit: %+v, %v", c, err)
	}
	if c, err = Compare(w.dir, w.seq); err != nil || c.Missing != 0 || c.Mark != w.mark {
		t.Errorf("in step: %+v, %v", c, err)
	}
}

func TestAnotherLedgerCannotWrite(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	old := *w
	w.commit(group(1))
	if _, _, err := w.j.Append(group(1), old.seq, old.mark); !errors.Is(err, ErrBack) {
		t.Errorf("a ledger that was rolled back under a process: %v", err)
	}
	if _, _, err := w.j.Append(group(1), 9, "00000000"); !errors.Is(err, ErrBehind) {
		t.Errorf("a ledger that is ahead: %v", err)
	}
	if _, _, err := w.j.Append(group(1), w.seq, old.mark); !errors.Is(err, ErrOther) {
		t.Errorf("a ledger with another record of that number: %v", err)
	}
	// A copy of the ledger, in a process of its own.
	stale := must.Get(Open(w.dir, old.seq, old.mark))(t)
	defer stale.Close()
	if _, _, err := stale.Append(group(1), old.seq, old.mark); !errors.Is(err, ErrAhead) {
		t.Errorf("a copy of the ledger: %v", err)
	}
	w.commit(group(1))
}

func TestTwoProcessesOfOneLedgerTakeTurns(t *testing.T) {
	t.Parallel()
	a := newWriter(t)
	a.commit(group(1))
	b := *a
	b.open()
	b.commit(group(1))
	b.j.limit = 1 // the next record begins a segment
	b.commit(group(1))
	a.seq, a.mark = b.seq, b.mark
	a.commit(group(1))
	b.seq, b.mark = a.seq, a.mark
	b.commit(group(1))
	if _, end := readAllOf(t, a.dir); end.Seq != 5 {
		t.Errorf("end %+v, want record 5", end)
	}
	// What the other process has flushed and not committed is not ours to judge.
	b.refused(group(1))
	if _, _, err := a.j.Append(group(1), b.seq, b.mark); !errors.Is(err, ErrAhead) {
		t.Errorf("beside an unfinished record of another process: %v", err)
	}
}

// The old server of a cluster was not switched off, and connections to both are open: what was begun on
// one of them and may be stored there is not taken for refused on the other.
func TestWhatWasBegunOnAnotherServerIsNotTakenForRefused(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	begun := group(1)
	begun.On = "7/00000001"
	w.refused(begun)
	next := group(1)
	next.On = "7/00000002"
	if _, _, err := w.j.Append(next, w.seq, w.mark); !errors.Is(err, ErrAhead) {
		t.Errorf("on another server: %v", err)
	}
	next.On = begun.On
	w.commit(next)
	if records, _ := readAllOf(t, w.dir); len(records[len(records)-1].Void) != 1 {
		t.Errorf("on the same: %+v", records)
	}
}

func TestJournalsAreFound(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	parent := filepath.Dir(w.dir)
	must.Get(SetAside(w.dir, at))(t)
	if _, _, err := Create(w.dir, header, nil); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.MkdirAll(filepath.Join(parent, "broken"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(parent, "broken", segmentName(1)), []byte("nothing\n"), 0o600))
	found, broken, err := Find(parent)
	if err != nil || len(found) != 1 || found[w.dir].Header.Ledger != "l-1" || len(broken) != 1 {
		t.Errorf("found %v, broken %v, %v", found, broken, err)
	}
	if found, _, err := Find(filepath.Join(parent, "nowhere")); err != nil || len(found) != 0 {
		t.Errorf("in no folder: %v, %v", found, err)
	}
}

// F053: on a full disk the reserve is given up, so that the answers to what was in flight can be
// kept; what cannot be written is an error, and nothing goes.
func TestF053AFullDiskGivesUpTheReserve(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	full := must.Get(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	w.j.end.size = 0 // as /dev/full says of itself
	w.j.file, full = full, w.j.file
	defer full.Close()
	if err := w.j.write(Record{Seq: 2}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, reserveName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reserve is still there: %v", err)
	}
	w.open() // and it is made again
	if info, err := os.Stat(filepath.Join(w.dir, reserveName)); err != nil || info.Size() != reserveSize {
		t.Errorf("the reserve was not made again: %v", err)
	}
	w.commit(group(1))
}

func TestALockNamesItsHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock := must.Get(TryLock(path))(t)
	var held *HeldError
	if _, err := TryLock(path); !errors.As(err, &held) || held.PID != fmt.Sprint(os.Getpid()) {
		t.Errorf("a second lock: %v", err)
	}
	must.Do(t, unlock())
	unlock = must.Get(TryLock(path))(t)
	must.Do(t, unlock())
}
