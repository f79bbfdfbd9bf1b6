package sync

import (
	"sync"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// quick is how long an answer takes at most where the next group is stored before it comes.
const quick = time.Second

// idsKept is how many of the platform's last ids the wire remembers.
const idsKept = 512

// wire lets flights go whose intents are stored: as many at once as there are slots, the next one as soon as one has landed. Its methods may be called by several goroutines.
type wire struct {
	mu      sync.Mutex
	cleared []*flight // stored, not begun
	flying  int
	slots   int
	held    int // answers that must be judged before anything else leaves
	launch  func(*flight)
	ids     map[string]string // the platform's ids that came last, and whose they are
	order   []string
}

// holder notes whose an id is that came back, and tells whether it came back to another row before: a cache or a fault answers then, and nothing more should leave. Of ids that came long
// ago the ledger knows.
func (w *wire) holder(id string, of trade.Entry) (other string, taken bool) {
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

// clear lets flights go, now or when a slot is free.
func (w *wire) clear(flights []*flight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cleared = append(w.cleared, flights...)
	w.next()
}

// open sets how many may fly at once.
func (w *wire) open(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots = slots
	w.next()
}

// judged tells that an answer which was not as usual was judged, and how many may fly now.
func (w *wire) judged(slots int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots, w.held = slots, w.held-1
	w.next()
}

// landed makes room for the next flight. Where the answer was not as usual, nothing leaves until the submission has judged it.
func (w *wire) landed(usual bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flying--; !usual {
		w.held++
	}
	w.next()
}

// recall takes back those that have not begun.
func (w *wire) recall() (back []*flight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	back, w.cleared = w.cleared, nil
	return back
}

// waiting is how many are stored and not begun.
func (w *wire) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.cleared)
}

// next begins flights as long as there are free slots. The caller has the lock.
func (w *wire) next() {
	for w.held == 0 && w.flying < w.slots && len(w.cleared) > 0 {
		f := w.cleared[0]
		w.cleared = w.cleared[1:]
		w.flying++
		go w.launch(f)
	}
}

// usual tells whether an answer leaves the job as it is: the next row may go before anybody has looked at it.
func (d decision) usual() bool {
	return d.stop == nil && d.wait == 0 && (d.state == trade.Accepted || len(d.missing) > 0)
}

// noted tells whether an answer may settle its row after a crash. A refusal that only a person may follow must not: the note does not say why, and the row would go again by itself.
func (d decision) noted() bool {
	return d.outcome != trade.OutcomeNotCreated || !d.weak && d.state != trade.Held
}

// window is how many intents may be open at once: as many as may fly, and as many again, so that the wire does not wait for the disk. Those are ahead only where no rate holds
// them up, a crash shows which of them had left, and no other instance would have to know it (I11); and not after an answer that was not as usual, or slow: what would be
// gained is little then, and the intents would wait long.
func (s *submission) window() int {
	if s.slots < s.Limits.MaxInFlight || s.careful || s.limited || s.calm < s.slots || s.took > quick || s.crew.place().Living > 1 || !s.ledger.Marked() {
		return s.slots
	}
	return 2 * s.slots
}
