package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/internal/phrase"
)

// The times of a writer.
const (
	patience = 250 * time.Millisecond // the longest that requests wait for one write
	late     = 5 * time.Second        // how long a line may lack what is wanted before that is told
	leap     = 5 * time.Second        // by how much the clock of the day may run ahead of the other one
	reading  = 2 * time.Second        // the longest that requests wait until the lines were read again
	apart    = time.Second            // between two writes for which nobody waits
	limit    = 10 * time.Second       // of one write, where it can be ended
	farewell = 3 * time.Second        // the longest that an end waits for the last write
)

// Judgement is what the lines of a ledger tell.
type Judgement struct {
	Own   Line   // the line in whose place this process writes; the zero Line if there is none
	Gone  []Line // lines that nobody needs any more
	Ahead error  // the ledger is an old copy, and why; nil if it is not
}

// ErrSilent is returned if a place does not answer.
var ErrSilent = errors.New("it does not answer")

// Judge compares the lines of a ledger with the ledger. An error means that it cannot tell.
type Judge func(ctx context.Context, lines []Line) (Judgement, error)

// State is how a writer fares.
type State struct {
	Seen  bool      // the lines were read, and the ledger is no older than they are
	Line  Line      // as last written
	Met   time.Time // when it was last read or written
	Slow  bool      // nobody waits for a write: the last one took long
	Since time.Time // from when on the line has lacked what it should have; zero: it does not
	Err   error     // why writes fail
	Taken error     // another copy of the ledger has written, or is ahead
}

// Writer writes the line of a process. Its methods may be called by several goroutines.
type Writer struct {
	place Place
	judge Judge
	// whether this host's journal has the record of a line, so that another process of it wrote the line
	knows func(Line) (bool, error)
	lock  func() (unlock func() error, err error) // held while a line is written, among the processes of this host

	mu      sync.Mutex
	want    Line
	behind  time.Time     // from when on the line has lacked something; zero: it has everything
	anew    bool          // the lines are to be read again: this may be a machine that was put back as it ran
	wall    time.Time     // the clock of the day, and
	mono    time.Duration // the time since begun by the other clock, when they were last compared
	urgent  bool          // somebody waits
	state   State         // but not Since
	tried   int           // attempts that have ended
	changed chan struct{} // closed at each change
	wake    chan struct{}
	ending  bool
	done    chan struct{} // closed when run has ended
	begun   time.Time
}

// NewWriter returns a writer that begins to write first, once it has read the lines and they were
// judged. It must be closed.
func NewWriter(place Place, first Line, judge Judge, knows func(Line) (bool, error),
	lock func() (unlock func() error, err error),
) *Writer {
	w := &Writer{
		place: place, judge: judge, knows: knows, lock: lock, want: first, urgent: true, behind: time.Now(),
		changed: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{}), begun: time.Now(),
	}
	w.leapt()
	go w.run()
	return w
}

// State returns how the writer fares. It does not wait, but a leap of the clock that [Writer.MindClock]
// would wait for makes the lines unread.
func (w *Writer) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mind()
	state := w.state
	state.Seen = state.Seen && !w.anew
	if !w.behind.IsZero() && (state.Err != nil || time.Since(w.behind) > late) {
		state.Since = w.behind
	}
	return state
}

// mind makes the writer read the lines again if the clock of the day has leapt ahead. The caller holds
// the lock.
func (w *Writer) mind() {
	if w.leapt() && w.state.Seen {
		w.anew, w.urgent = true, true
		w.awake()
	}
}

// Conflict returns an error if another copy of the ledger was found.
func (w *Writer) Conflict() error { return w.State().Taken }

// Advance takes note of a record of the journal. If requests are about to leave (posts), it waits
// until the line is written, but not for long.
func (w *Writer) Advance(journal string, seq int64, mark string, posts bool) {
	w.mu.Lock()
	if journal != w.want.Journal || seq > w.want.Seq {
		w.want.Journal, w.want.Seq, w.want.Mark = journal, seq, mark
		if w.behind.IsZero() {
			w.behind = time.Now()
		}
	}
	waits := posts && !w.state.Slow && w.state.Err == nil && w.state.Seen && w.state.Taken == nil
	w.urgent = w.urgent || waits
	w.mu.Unlock()
	w.awake()
	if !waits {
		return
	}
	written := w.await(patience, func() bool {
		return w.state.Line.has(journal, seq) || w.state.Taken != nil || w.state.Err != nil
	})
	if !written {
		w.mu.Lock()
		w.state.Slow = true
		w.mu.Unlock()
	}
}

// MindClock reads the lines again if the clock of the day has leapt ahead since the last call, as it
// does if a machine goes on from an image that was made as it ran. It waits for that for a while.
func (w *Writer) MindClock() {
	w.mu.Lock()
	w.mind()
	waits := w.anew && w.state.Seen && w.state.Taken == nil
	w.mu.Unlock()
	if waits {
		w.awake()
		w.await(reading, func() bool { return !w.anew || !w.state.Seen || w.state.Taken != nil })
	}
}

// leapt reports whether the clock of the day has leapt ahead since the last call, and takes note of both
// clocks. The caller holds the lock.
func (w *Writer) leapt() bool {
	now := time.Now()
	wall, mono := now.Round(0), now.Sub(w.begun)
	ahead := wall.Sub(w.wall) - (mono - w.mono)
	first := w.wall.IsZero()
	w.wall, w.mono = wall, mono
	return !first && ahead > leap
}

// Retry makes the writer try at once, and waits for that for a while.
func (w *Writer) Retry(wait time.Duration) State {
	before := w.hurry()
	w.await(wait, func() bool { return w.tried > before })
	return w.State()
}

// hurry makes the writer try at once, and returns how many attempts have ended.
func (w *Writer) hurry() (tried int) {
	w.mu.Lock()
	w.urgent = true
	tried = w.tried
	w.mu.Unlock()
	w.awake()
	return tried
}

// Flush waits until everything is written. It returns an error if that is not so after a while.
func (w *Writer) Flush(wait time.Duration) error {
	before := w.hurry()
	w.await(wait, func() bool {
		return w.behind.IsZero() || w.state.Taken != nil || w.tried > before+1 && w.state.Err != nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.state.Taken != nil:
		return w.state.Taken
	case w.behind.IsZero():
		return nil
	}
	return cmp.Or(w.state.Err, ErrSilent)
}

// Begun waits for the first attempt.
func (w *Writer) Begun(wait time.Duration) State {
	w.await(wait, func() bool { return w.tried > 0 })
	return w.State()
}

// Close writes what is not written yet, unless that takes long, and ends the writer.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.ending, w.urgent = true, true
	w.mu.Unlock()
	w.awake()
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-w.done:
		return w.place.Close()
	case <-timer.C: // a write hangs; it ends with the process
		return nil
	}
}

func (w *Writer) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// await waits until a condition holds, which is asked under the lock, or time is up.
func (w *Writer) await(wait time.Duration, holds func() bool) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		w.mu.Lock()
		ok, changed := holds(), w.changed
		w.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-w.done:
			return false
		case <-timer.C:
			return false
		}
	}
}

// run writes when there is something to write, at most once a second unless somebody waits.
func (w *Writer) run() {
	defer close(w.done)
	for last := (time.Time{}); ; {
		w.mu.Lock()
		pending := w.state.Taken == nil && (!w.state.Seen || w.anew || !w.state.Line.has(w.want.Journal, w.want.Seq))
		urgent, ending := w.urgent, w.ending
		w.mu.Unlock()
		rest := apart - time.Since(last)
		switch {
		case ending && !pending:
			return
		case !pending && !urgent:
			<-w.wake
			continue
		case !urgent && rest > 0:
			timer := time.NewTimer(rest)
			select {
			case <-timer.C:
			case <-w.wake:
			}
			timer.Stop()
			continue
		}
		last = time.Now()
		w.try(pending)
		if ending {
			return
		}
	}
}

// try makes one attempt, and takes note of how it went.
func (w *Writer) try(pending bool) {
	w.mu.Lock()
	line, state, anew := w.want, w.state, w.anew
	state.Seen = state.Seen && !anew
	w.urgent = false
	w.mu.Unlock()
	begun := time.Now()
	if pending {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		w.attempt(ctx, line, &state)
		cancel()
	}
	took := time.Since(begun)
	w.mu.Lock()
	defer w.mu.Unlock()
	state.Slow = w.state.Slow
	if pending && state.Err == nil && state.Taken == nil {
		state.Met = time.Now()
		state.Slow = state.Slow && took >= patience
	}
	switch {
	case !state.Seen || state.Err != nil || state.Taken != nil:
	case state.Line.has(w.want.Journal, w.want.Seq):
		w.behind = time.Time{}
	default: // it lacks only what came meanwhile
		w.behind = begun
	}
	if anew && state.Seen {
		w.anew = false
	}
	w.state = state
	w.tried++
	close(w.changed)
	w.changed = make(chan struct{})
}

// attempt reads the lines, if that was not done, and writes the line.
func (w *Writer) attempt(ctx context.Context, line Line, state *State) {
	state.Err = nil
	if !state.Seen {
		lines, err := w.place.Lines(ctx, line.Ledger)
		var v Judgement
		if err == nil {
			v, err = w.judge(ctx, lines)
		}
		if err != nil || v.Ahead != nil {
			state.Err, state.Taken = err, v.Ahead
			return
		}
		state.Seen, state.Line = true, v.Own
		for _, old := range v.Gone {
			if err := w.place.Remove(ctx, old); err != nil {
				state.Err = err
				return
			}
		}
	}
	if state.Line.has(line.Journal, line.Seq) {
		return // another process of this host was further when the lines were read
	}
	state.Err = w.write(ctx, line, state)
}

// write writes the line in the place of the one that stands there, unless another copy of the ledger
// has written that.
func (w *Writer) write(ctx context.Context, line Line, state *State) (err error) {
	if err := failpoint.Hit("witness.write"); err != nil {
		return err
	}
	unlock, err := w.lock()
	if err != nil {
		return err
	}
	defer phrase.Join(&err, unlock)
	for range 3 {
		line.At = time.Now().UTC().Truncate(time.Millisecond)
		err := w.place.Swap(ctx, state.Line, line)
		var taken *ConflictError
		switch {
		case err == nil:
			state.Line = line
			return failpoint.Hit("witness.written")
		case !errors.As(err, &taken):
			return err
		case taken.Found == (Line{}): // its disk was exchanged, or is not mounted any more
			return errors.New("its line is gone")
		case !taken.Found.sameHistory(line):
			known, fault := w.knows(taken.Found)
			if fault != nil {
				return fault
			}
			if !known {
				state.Taken = err
				return err
			}
		}
		state.Line = taken.Found
		if taken.Found.has(line.Journal, line.Seq) {
			return nil // another process of this host is further
		}
	}
	return errors.New("other processes write to the witness all the time")
}

// Line is how far a journal had come.
type Line struct {
	Key     string    `json:"key" db:"key"` // there is one line of each; begins with the ledger
	Ledger  string    `json:"ledger" db:"ledger"`
	Host    string    `json:"host" db:"host"`     // name and machine id
	Folder  string    `json:"folder" db:"folder"` // of the journal, on that host
	Journal string    `json:"journal" db:"journal"`
	Seq     int64     `json:"seq" db:"seq"`   // its last record
	Mark    string    `json:"mark" db:"mark"` // the mark of that record
	At      time.Time `json:"at" db:"at"`     // when the line was written
}

// sameHistory reports whether two lines tell the same.
func (l Line) sameHistory(o Line) bool {
	return l.Journal == o.Journal && l.Seq == o.Seq && l.Mark == o.Mark
}

// has reports whether a line tells of a record of a journal.
func (l Line) has(journal string, seq int64) bool { return l.Journal == journal && l.Seq >= seq }

// Place is where lines are kept.
type Place interface {
	// Lines returns the lines of a ledger.
	Lines(ctx context.Context, ledger string) ([]Line, error)
	// Swap puts a line in the place of another one; the zero Line stands for none. If something else
	// stands there, it returns *ConflictError.
	Swap(ctx context.Context, was, line Line) error
	// Remove removes a line, if it still stands there.
	Remove(ctx context.Context, line Line) error
	// Try returns an error if nothing can be written.
	Try(ctx context.Context) error
	Close() error
}

// ConflictError is returned if another process has written a line.
type ConflictError struct{ Found Line }

// Error returns what was found.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the witness has record %d of another process", e.Found.Seq)
}
