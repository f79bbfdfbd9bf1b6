package witness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m, func() error { return goleak.Find() }) }

func line(seq int64) Line {
	return Line{
		Key: "ledger", Ledger: "ledger", Host: "host", Folder: "/journal", Journal: "journal", Seq: seq, Mark: "mark",
	}
}

// everyPlace runs a test with a folder and with a database.
func everyPlace(t *testing.T, test func(t *testing.T, open func() Place)) {
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		test(t, func() Place { return OpenFolder(dir) })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := pgtest.Database(t)
		test(t, func() Place { return must.Get(OpenPostgres(dsn, "test"))(t) })
	})
}

// writes returns a writer that goes on from the line that it finds.
func writes(place Place, from Line) *Writer {
	own := func(_ context.Context, lines []Line) (v Judgement, err error) {
		if len(lines) > 0 {
			v.Own = lines[0]
		}
		return v, nil
	}
	return NewWriter(place, from, own, func(Line) (bool, error) { return true, nil }, free)
}

func free() (func() error, error) { return func() error { return nil }, nil }

func onlyLine(t *testing.T, place Place) Line {
	t.Helper()
	lines := must.Get(place.Lines(t.Context(), "ledger"))(t)
	if len(lines) != 1 {
		t.Fatalf("the witness has %v", lines)
	}
	return lines[0]
}

// A process that opened the ledger at a record, and reads its line when another one has written a later
// one, does not set it back.
func TestALineIsNotSetBack(t *testing.T) {
	everyPlace(t, func(t *testing.T, open func() Place) {
		place := open()
		must.Do(t, place.Swap(t.Context(), Line{}, line(101)))
		w := writes(open(), line(100))
		if state := w.Begun(time.Minute); state.Line.Seq != 101 || state.Err != nil {
			t.Errorf("the process takes the line to be %+v", state)
		}
		must.Do(t, w.Close())
		if found := onlyLine(t, place); found.Seq != 101 {
			t.Errorf("the line is at record %d", found.Seq)
		}
		must.Do(t, place.Close())
	})
}

// A line takes the place of the one that was there, and of no other.
func TestOnlyTheLineThatIsKnownIsReplaced(t *testing.T) {
	everyPlace(t, func(t *testing.T, open func() Place) {
		place := open()
		must.Do(t, place.Try(t.Context()))
		if lines := must.Get(place.Lines(t.Context(), "ledger"))(t); len(lines) > 0 {
			t.Fatalf("a new witness has %v", lines)
		}
		must.Do(t, place.Swap(t.Context(), Line{}, line(1)))
		must.Do(t, place.Try(t.Context()))
		for _, was := range []Line{{}, line(2)} {
			if err := place.Swap(t.Context(), was, line(3)); err == nil {
				t.Errorf("record 3 took the place of record 1, as if it were %d", was.Seq)
			}
		}
		must.Do(t, place.Swap(t.Context(), line(1), line(2)))
		must.Do(t, place.Remove(t.Context(), line(1)))
		if found := onlyLine(t, place); found.Seq != 2 {
			t.Errorf("the line is at record %d", found.Seq)
		}
		must.Do(t, place.Remove(t.Context(), line(2)))
		if err := place.Swap(t.Context(), line(2), line(3)); err == nil {
			t.Error("a line that is gone was replaced")
		}
		must.Do(t, place.Close())
	})
}

// A machine goes on from an image that was made as it ran: its clock leaps ahead. The lines are read
// again before its requests leave.
func TestTheLinesAreReadAgainWhenTheClockLeaps(t *testing.T) {
	everyPlace(t, func(t *testing.T, open func() Place) {
		place, judged := open(), make(chan int64, 10)
		judge := func(_ context.Context, lines []Line) (v Judgement, err error) {
			if len(lines) == 0 {
				return v, nil
			}
			v.Own = lines[0]
			judged <- v.Own.Seq
			if v.Own.Seq > 50 {
				v.Ahead = errors.New("an old copy")
			}
			return v, nil
		}
		w := NewWriter(open(), line(1), judge, nil, free)
		w.Begun(time.Minute)
		leap := func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.wall = w.wall.Add(-time.Hour)
		}
		w.Advance("journal", 2, "mark", true)
		must.Do(t, w.Flush(time.Minute))
		leap()
		w.MindClock()
		w.MindClock()
		if state := w.State(); !state.Seen || len(judged) != 1 || <-judged != 2 {
			t.Errorf("a clock that was set: %+v", state)
		}
		must.Do(t, place.Swap(t.Context(), line(2), line(99)))
		leap()
		w.MindClock()
		if w.Conflict() == nil || len(judged) != 1 {
			t.Errorf("an image of before record 99: %+v", w.State())
		}
		must.Do(t, w.Close())
		must.Do(t, place.Close())
	})
}

// If nobody can tell whether another process of this host has written a line, that is a fault which may
// pass, and not another copy.
func TestAFaultWhileComparingIsNotAnotherCopy(t *testing.T) {
	everyPlace(t, func(t *testing.T, open func() Place) {
		place, broken := open(), make(chan error, 1)
		broken <- errors.New("the journal cannot be read")
		knows := func(Line) (bool, error) {
			select {
			case err := <-broken:
				return false, err
			default:
				return true, nil
			}
		}
		first := func(context.Context, []Line) (v Judgement, err error) { return v, nil }
		w := NewWriter(open(), line(1), first, knows, free)
		w.Begun(time.Minute)
		must.Do(t, place.Swap(t.Context(), line(1), line(2)))
		w.Advance("journal", 3, "mark", false)
		must.Do(t, w.Flush(time.Minute))
		if found := onlyLine(t, place); found.Seq != 3 || len(broken) > 0 {
			t.Errorf("the line is at record %d", found.Seq)
		}
		must.Do(t, w.Close())
		must.Do(t, place.Close())
	})
}

// What a process left that ended while it wrote is removed after a day, and by nobody before.
func TestHalfAFileIsRemoved(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, "witness-1.part"), filepath.Join(dir, "witness-2.part")
	for _, file := range []string{old, young} {
		must.Do(t, os.WriteFile(file, nil, 0o600))
	}
	must.Do(t, os.Chtimes(old, time.Time{}, time.Now().Add(-25*time.Hour)))
	must.Get(OpenFolder(dir).Lines(t.Context(), "ledger"))(t)
	if left := must.Get(filepath.Glob(filepath.Join(dir, "*")))(t); len(left) != 1 || left[0] != young {
		t.Errorf("left are %v", left)
	}
}

// What cannot be removed, as the file of another user in a shared folder, does not keep from reading.
func TestHalfAFileThatStaysIsInNobodysWay(t *testing.T) {
	dir := t.TempDir()
	place := OpenFolder(dir)
	must.Do(t, place.Swap(t.Context(), Line{}, line(1)))
	half := filepath.Join(dir, "witness-1.part") // a folder with something in it is not removed
	must.Do(t, os.MkdirAll(filepath.Join(half, "full"), 0o700))
	must.Do(t, os.Chtimes(half, time.Time{}, time.Now().Add(-25*time.Hour)))
	if found := onlyLine(t, place); found.Seq != 1 {
		t.Errorf("the line is at record %d", found.Seq)
	}
}

// A witness that is always slow is told to be slow, and no more: the requests do not wait, and its line
// is written all the same.
func TestASlowWitnessIsNotALateOne(t *testing.T) {
	dsn := pgtest.Database(t)
	w := writes(must.Get(OpenPostgres(dsn, "test"))(t), line(1))
	w.Begun(time.Minute)
	db := must.Get(sqlx.Open("postgres", dsn))(t)
	must.Get(db.Exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END $$;
		CREATE TRIGGER slow BEFORE UPDATE ON safrasync_witness FOR EACH ROW EXECUTE FUNCTION slow()`))(t)
	for seq := range int64(3) {
		w.Advance("journal", seq+2, "mark", true)
		must.Do(t, w.Flush(time.Minute))
		if state := w.State(); !state.Slow || !state.Since.IsZero() || state.Err != nil || state.Line.Seq != seq+2 {
			t.Errorf("a slow witness: %+v", state)
		}
	}
	must.Get(db.Exec(`DROP TRIGGER slow ON safrasync_witness`))(t)
	w.Advance("journal", 9, "mark", true)
	must.Do(t, w.Flush(time.Minute))
	if state := w.State(); state.Slow || state.Line.Seq != 9 {
		t.Errorf("a witness that is quick again: %+v", state)
	}
	must.Get(db.Exec(`DROP TABLE safrasync_witness`))(t)
	w.Advance("journal", 10, "mark", true)
	if err := w.Flush(10 * time.Second); err == nil || w.State().Since.IsZero() {
		t.Errorf("a witness that is gone: %v, %+v", err, w.State())
	}
	must.Do(t, w.Close())
	must.Do(t, db.Close())
}
