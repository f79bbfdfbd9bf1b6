package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
	"github.com/safrasync/safrasync/trade"
)

// The clock has leapt ahead, and a group waits until the witness was read again. It has not begun its
// transaction: nobody waits for it, and the comparison with the witness has a connection.
func TestNobodyWaitsForAGroupThatWaitsForTheWitness(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		o := b.open(t)
		o.Journal, o.Witness = t.TempDir(), t.TempDir()
		s := mustOpen(t, o)
		lease := mustLease(t, s, "contracts")
		in := intentOf(mustRecord(t, s, lease, newEntry("a"))[0])
		must.Do(t, s.witness.flushed())
		file := must.Get(filepath.Glob(filepath.Join(o.Witness, "*.txt")))(t)[0]
		line := must.Get(os.ReadFile(file))(t)
		must.Do(t, os.Remove(file))
		must.Do(t, syscall.Mkfifo(file, 0o600)) // whoever reads it waits
		leaps(s.witness.writer)
		type answer struct {
			result trade.GroupResult
			err    error
		}
		stored := make(chan answer, 1)
		go func() {
			r, err := s.Commit(t.Context(), lease, trade.Group{At: at, Intents: []trade.Intent{in}})
			stored <- answer{r, err}
		}()
		pipe := must.Get(os.OpenFile(file, os.O_WRONLY, 0))(t) // once it is read
		if n := s.db.Write.Stats().InUse; n > 0 {
			t.Errorf("it waits with %d connection open", n)
		}
		must.Do(t, os.WriteFile(file+".new", line, 0o600))
		must.Do(t, os.Rename(file+".new", file))
		must.Get(pipe.Write(line))(t)
		must.Do(t, pipe.Close())
		if a := <-stored; a.err != nil || a.result.Refused != nil || !a.result.Claimed[in.Attempt.ID] {
			t.Errorf("the group ends with %+v, %v", a.result, a.err)
		}
	})
}

// The clock leaps while a group waits for the one writer: its requests do not leave before the witness
// was read again.
func TestALeapWhileAGroupWaitsForTheWriterIsSeen(t *testing.T) {
	t.Parallel()
	o := backends[0].open(t) // SQLite
	o.Journal, o.Witness = t.TempDir(), t.TempDir()
	s := mustOpen(t, o)
	lease := mustLease(t, s, "contracts")
	in := intentOf(mustRecord(t, s, lease, newEntry("a"))[0])
	must.Do(t, s.witness.flushed())
	file := must.Get(filepath.Glob(filepath.Join(o.Witness, "*.txt")))(t)[0]
	stored := make(chan trade.GroupResult, 1)
	must.Do(t, s.db.InTx(t.Context(), "holding the writer", func(*sqldb.Tx) error {
		before := s.db.Write.Stats().WaitCount
		go func() {
			r, _ := s.Commit(context.Background(), lease, trade.Group{At: at, Intents: []trade.Intent{in}})
			stored <- r
		}()
		for s.db.Write.Stats().WaitCount == before {
			runtime.Gosched()
		}
		leaps(s.witness.writer)
		return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)) // whoever reads it waits
	}))
	if r := <-stored; !errors.Is(r.Refused, trade.ErrUnwitnessed) || len(r.Claimed) > 0 {
		t.Errorf("the group ends with %+v", r)
	}
	must.Do(t, must.Get(os.OpenFile(file, os.O_WRONLY, 0))(t).Close())
}

// leaps sets the time of day as if the clock had leapt ahead by an hour.
func leaps(w *witness.Writer) {
	field := reflect.ValueOf(w).Elem().FieldByName("wall")
	wall := (*time.Time)(unsafe.Pointer(field.UnsafeAddr()))
	*wall = wall.Add(-time.Hour)
}
