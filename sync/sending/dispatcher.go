package sending

import (
	"sync"
	"time"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// quick is how long an answer takes at most where the next group is stored before it comes.
const quick = time.Second

// idsKept is how many of the platform's last ids the wire remembers.
const idsKept = 512

// dispatcher lets flights go whose intents are stored: as many at once as there are slots, the next
// one as soon as one has landed. Its methods may be called by several goroutines.
type dispatcher struct {
	mu       sync.Mutex
	released []*inFlight // stored, not begun
	inFlight int
	slots    int
	held     int // answers that must be judged before anything else leaves
	launch   func(*inFlight)
	ids      map[string]string // the platform's ids that came last, and whose they are
	order    []string
}

// claimID notes whose an id is that came back, and tells whether it came back to another row
// before: a cache or a fault answers then, and nothing more should leave. Of ids that came long ago
// the ledger knows.
func (w *dispatcher) claimID(id string, of trade.Entry) (other string, taken bool) {
	if scope, _ := trade.IDScope(of.Sends, id, of.Payload); scope != "" {
		id += " of " + scope
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	name := of.Job + " " + of.Key
	if other, taken = w.ids[id]; taken && other != name {
		return other, true
	}
	if w.ids == nil {
		w.ids = map[string]string{}
	}
	w.ids[id] = name
	if w.order = append(w.order, id); len(w.order) > idsKept {
		delete(w.ids, w.order[0])
		w.order = w.order[1:]
	}
	return "", false
}

// release lets flights go, now or when a slot is free.
func (w *dispatcher) release(flights []*inFlight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.released = append(w.released, flights...)
	w.startNext()
}

// Open sets how many may fly at once.
func (w *dispatcher) Open(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots = slots
	w.startNext()
}

// resume tells that an answer which was not as usual was judged, and how many may fly now.
func (w *dispatcher) resume(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots, w.held = slots, w.held-1
	w.startNext()
}

// finished makes room for the next flight. Where the answer was not as usual, nothing leaves until
// the sender has judged it.
func (w *dispatcher) finished(usual bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.inFlight--; !usual {
		w.held++
	}
	w.startNext()
}

// withdraw takes back those that have not begun.
func (w *dispatcher) withdraw() (back []*inFlight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	back, w.released = w.released, nil
	return back
}

// waiting is how many are stored and not begun.
func (w *dispatcher) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.released)
}

// startNext begins flights as long as there are free slots. The caller has the lock.
func (w *dispatcher) startNext() {
	for w.held == 0 && w.inFlight < w.slots && len(w.released) > 0 {
		f := w.released[0]
		w.released = w.released[1:]
		w.inFlight++
		go w.launch(f)
	}
}

// isRoutine tells whether an answer leaves the job as it is: the next row may go before anybody has
// looked at it.
func isRoutine(d outcome.Decision) bool {
	return d.Stop == nil && d.Wait == 0 && (d.State == trade.Accepted || len(d.Missing) > 0)
}

// settlesAfterCrash tells whether an answer may settle its row after a crash. A refusal that only a
// person may follow must not: the note does not say why, and the row would go again by itself.
func settlesAfterCrash(d outcome.Decision) bool {
	return d.Outcome != trade.OutcomeNotCreated || !d.Weak && d.State != trade.Held
}

// window is how many intents may be open at once: as many as may fly, and as many again, so that
// the wire does not wait for the disk. Those are ahead only where no rate holds them up, a crash
// shows which of them had left, and no other instance would have to know it (I11); and not after an
// answer that was not as usual, or slow: what would be gained is little then, and the intents would
// wait long.
func (s *Sender) window() int {
	if s.pace.slots < s.Run.Env.Limits.MaxInFlight || s.traffic.Careful || s.pace.limited ||
		s.pace.calm < s.pace.slots || s.pace.took > quick || s.Run.Env.Member.Place().Living > 1 ||
		!s.intents.Marked() {
		return s.pace.slots
	}
	return 2 * s.pace.slots
}
