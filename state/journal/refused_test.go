package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

// unwritable is a record that has no text: the year 10000 has none in JSON.
var unwritable = Record{Kind: Tx, At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}

// F053: a record that cannot be written leaves no trace, and the next one is written; a journal
// whose beginning cannot be written is not there.
func TestARecordWithoutATextIsNotWritten(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	for name, write := range map[string]func() error{
		"append": func() error { _, _, err := w.j.Append(unwritable, w.seq, w.mark); return err },
		"keep":   func() error { return w.j.WriteAnswers(unwritable) },
	} {
		if err := write(); err == nil || !strings.Contains(err.Error(), "record 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.commit(group(1))
	if records, end := readAllOf(t, w.dir); len(records) != 2 || end.Torn != 0 {
		t.Errorf("%d records, end %+v", len(records), end)
	}
	late := header
	late.Created = unwritable.At
	for name, pages := range map[string]func(put func(Record) error) error{
		"without rows": nil,
		"with rows":    func(put func(Record) error) error { return put(Record{Rows: []Image{{State: "accepted"}}}) },
	} {
		dir := filepath.Join(t.TempDir(), "l-2")
		if _, _, err := Create(dir, late, pages); err == nil {
			t.Errorf("%s: it was made", name)
		}
		if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}

// F048: a process that finds the journal locked for seconds says who has it, and writes nothing.
func TestAJournalThatIsLockedForLong(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	unlock := must.Get(TryLock(filepath.Join(w.dir, lockName)))(t)
	for name, use := range map[string]func() error{
		"append": func() error { _, _, err := w.j.Append(group(1), w.seq, w.mark); return err },
		"keep":   func() error { return w.j.WriteAnswers(group(1)) },
		"cut":    func() error { _, err := w.j.Cut(w.seq, w.mark); return err },
		"drop":   func() error { _, err := w.j.Drop(); return err },
		"open":   func() error { _, err := Open(w.dir, w.seq, w.mark); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var held *HeldError
				if err := use(); !errors.As(err, &held) || !strings.Contains(err.Error(), "wait for it, or end it") {
					t.Errorf("%v", err)
				}
			})
		})
	}
	must.Do(t, unlock())
	w.commit(group(1))
	if records, _ := readAllOf(t, w.dir); len(records) != 2 {
		t.Errorf("%d records", len(records))
	}
}

// F071: a snapshot begins only where ledger and journal agree, and what it replaces goes only when
// the journal says so.
func TestAJournalBeginsAgainOnlyWhenAllIsSettled(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	w.refused(group(1))
	if _, err := w.j.Cut(w.seq, w.mark); !errors.Is(err, ErrUnsettled) {
		t.Errorf("with a record that the ledger lacks: %v", err)
	}
	w.commit(group(1))
	if _, err := w.j.Cut(w.seq-1, w.mark); !errors.Is(err, ErrBack) {
		t.Errorf("for a ledger that went back: %v", err)
	}
	first, err := w.j.Cut(w.seq, w.mark)
	if err != nil || first != w.seq+1 {
		t.Fatalf("%d, %v", first, err)
	}
	if again, err := w.j.Cut(w.seq, w.mark); err != nil || again != first {
		t.Errorf("a second time: %d, %v, want %d", again, err, first)
	}
	if removed, err := w.j.Drop(); removed != 0 || err != nil {
		t.Errorf("without a base %d segments went, %v", removed, err)
	}
	w.commit(Record{Kind: Base, At: at, Base: first, Size: 1})
	if removed, err := w.j.Drop(); removed != 1 || err != nil {
		t.Errorf("%d segments went, %v", removed, err)
	}
	w.j.broken = true
	if _, err := w.j.Cut(w.seq, w.mark); !errors.Is(err, errBroken) {
		t.Errorf("a broken one: %v", err)
	}
}

// A journal that is not there any more, or damaged, is not written, compared or dropped from.
func TestAJournalThatWentAwayWhileInUse(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.commit(group(1))
	must.Do(t, os.WriteFile(filepath.Join(w.dir, segmentName(2)), []byte("x\n"), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(w.dir, segmentName(3)), []byte("x\n"), 0o600))
	uses := map[string]func() error{
		"append":  func() error { _, _, err := w.j.Append(group(1), w.seq, w.mark); return err },
		"keep":    func() error { return w.j.WriteAnswers(group(1)) },
		"cut":     func() error { _, err := w.j.Cut(w.seq, w.mark); return err },
		"drop":    func() error { _, err := w.j.Drop(); return err },
		"compare": func() error { _, err := Compare(w.dir, w.seq); return err },
	}
	for name, use := range uses {
		var damage *DamageError
		if err := use(); !errors.As(err, &damage) {
			t.Errorf("a damaged one, %s: %v", name, err)
		}
	}
	must.Do(t, os.RemoveAll(w.dir))
	uses["size"] = func() error { _, _, _, _, err := w.j.Size(); return err }
	uses["size before"] = func() error { _, err := w.j.SizeBefore(1); return err }
	for name, use := range uses {
		if err := use(); err == nil {
			t.Errorf("one that is gone, %s: nothing was said", name)
		}
	}
}

// F056: a line that matches its checksum but does not begin as a record does is no record.
func TestALineThatIsNoRecord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `{}`, `{"seq":1}`, `{"seq":x,"prev":"00000000","kind":"group","at":1}`,
		`{"seq":-1,"prev":"00000000","kind":"group","at":1}`, `{"seq":1,"prov":"00000000","kind":"group"}`,
		`{"seq":1,"prev":"000`, `{"seq":1,"prev":"0000000000000","kind":"group"}`,
		`{"seq":1,"prev":"00000000","kand":"group"}`, `{"seq":1,"prev":"00000000","kind":"group`,
	} {
		if e, ok := parse([]byte(crcOf([]byte(text)) + " " + text)); ok {
			t.Errorf("%q is %+v", text, e)
		}
	}
}

// F056: a segment that is empty, and not the last, is damage: it held what was acknowledged.
func TestAnEmptySegmentBeforeTheEndIsDamage(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	for range 3 {
		w.commit(group(1))
		w.j.limit = 1
	}
	names, err := segments(w.dir)
	if err != nil || len(names) < 3 {
		t.Fatal(names, err)
	}
	must.Do(t, os.Truncate(filepath.Join(w.dir, names[1]), 0))
	var damage *DamageError
	if _, err := Read(w.dir, -1, func(Record, string) error { return nil }); !errors.As(err, &damage) ||
		damage.Reason.Error() != "the segment is empty" {
		t.Errorf("%v", err)
	}
}
