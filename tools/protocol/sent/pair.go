package sent

import "slices"

// The model of two rows that are one document, in two jobs of one kind or in one job. Each may be
// sent by itself, so the second one must notice the record of the first. One row's own protocol is
// that of the other model; here a claim is judged, begun and committed, since what is read in a
// transaction that is not the only one may be older than its commit.

// The rules of identity.
const (
	kindLock     rule = 1 << iota // a claim locks the kind if several jobs send it
	look                          // a claim looks among the records of other jobs
	actsRaise                     // acts that add, state or give a record raise the number of the kind
	numberShared                  // a claim locks the number until its commit
	groupsRaise                   // so do the groups of another sender
	jobShared                     // a claim locks its job against a pause
	leaseShared                   // a claim locks its lease against a take-over
	takenApart                    // an answer with the id of another record does not count as created
	statedLooked                  // ids that a person stated are looked up, too
	allOfPair    = 1<<iota - 1
)

var pairRuleNames = []string{
	"kind locked",
	"look among other jobs",
	"number raised by acts",
	"number locked",
	"number raised by other senders",
	"job locked",
	"lease locked",
	"an id that another has is no proof",
	"stated ids looked up",
}

// The positions of a row.
const (
	rowIdle   = iota // nobody works on it
	rowJudged        // its sender found no record that is like it
	rowBegun         // the transaction of its claim has read what it reads
	rowIntent        // the claim is committed
	rowAnswer        // the answer has come, and is not stored
)

// The states of a row.
const (
	rowPending = iota
	rowHeld    // a record is like it
	rowDoubt
	rowAccepted
)

// party is one row with its job.
type party struct {
	at, state int8
	id        int8 // the record that the ledger has for it; 0 = none
	heard     int8 // the id of the answer; 0 = refused
	stated    bool // a person gave the id
	fresh     bool // the number of the kind is the one that was read when it was judged
	made      bool // the platform has its record; the id is the number of the row
	paused    bool
	gone      bool // another host has the lease
}

// handID is the id of the record that somebody typed on the platform.
const handID = 3

// has reports whether the ledger has a record of the row, or of a sending that may make one.
func (r *party) has() bool { return r.at >= rowIntent || r.state >= rowDoubt }

// pair is one state of the model of two rows.
type pair struct {
	rows   [2]party
	lock   int8 // the row whose claim has locked the kind, plus 1
	oneJob bool
	wrong  int8
}

var wrongOfPair = []string{beside, afterPause, afterLease}

// The faults of a step.
const (
	beside     = "it is claimed beside a record of the same document, without a person's order"
	afterPause = "it is claimed after the job was paused"
	afterLease = "it is claimed after the lease was taken over"
	shared     = "two rows are accepted with one record"
)

func (w pair) fault() string {
	switch {
	case w.wrong > 0:
		return wrongOfPair[w.wrong-1]
	case w.rows[0].id > 0 && w.rows[0].id == w.rows[1].id:
		return shared
	}
	return ""
}

// pairModel generates the steps between the worlds of two rows.
type pairModel struct {
	rules rule
	push  push[pair]
}

func (p *pairModel) has(r rule) bool { return p.rules&r != 0 }

func (p *pairModel) steps(w pair, add push[pair]) {
	p.push = add
	for i := range w.rows {
		if !w.oneJob || i == 0 {
			p.send(w, i)
		}
		p.act(w, i)
	}
}

// send pushes what the sender of a row may do next.
func (p *pairModel) send(w pair, i int) {
	n := w
	me, other := &n.rows[i], &n.rows[1-i]
	switch me.at {
	case rowIdle:
		if me.state != rowPending || me.paused || me.gone {
			return
		}
		me.at, me.fresh = rowJudged, true
		if other.has() {
			me.at, me.state = rowIdle, rowHeld
		}
		p.push(n, "row %d is judged", i)
	case rowJudged:
		p.begin(w, i)
	case rowBegun:
		switch {
		case other.has():
			n.wrong = int8(slices.Index(wrongOfPair, beside) + 1)
		case me.paused:
			n.wrong = int8(slices.Index(wrongOfPair, afterPause) + 1)
		case me.gone:
			n.wrong = int8(slices.Index(wrongOfPair, afterLease) + 1)
		}
		me.at, n.lock = rowIntent, 0
		other.fresh = other.fresh && !p.has(groupsRaise)
		p.push(n, "the claim of row %d is committed", i)
	case rowIntent:
		me.at, me.heard = rowAnswer, 0
		p.push(n, "the platform refuses row %d", i)
		if other.made {
			me.heard = int8(2 - i)
			p.push(n, "row %d is lost, and gets the answer of row %d", i, 1-i)
		}
		me.made, me.heard = true, int8(i+1)
		p.push(n, "the platform CREATES row %d", i)
	case rowAnswer:
		me.at = rowIdle
		taken := other.id > 0 && other.id == me.heard && (!other.stated || p.has(statedLooked))
		switch {
		case me.heard == 0:
		case taken && p.has(takenApart):
			me.state = rowDoubt
		default:
			me.state, me.id = rowAccepted, me.heard
		}
		p.push(n, "the answer of row %d is stored", i)
	}
}

// begin reads in the transaction of a claim what may have changed since the row was judged.
func (p *pairModel) begin(w pair, i int) {
	n := w
	me, other := &n.rows[i], &n.rows[1-i]
	if p.has(kindLock) && !w.oneJob {
		if w.lock > 0 {
			return
		}
		n.lock = int8(i + 1)
	}
	if !me.fresh || p.has(look) && !w.oneJob && other.has() || me.paused || me.gone {
		me.at, n.lock = rowIdle, 0
		p.push(n, "the claim of row %d is refused, and it is judged again", i)
		return
	}
	me.at = rowBegun
	p.push(n, "the transaction of the claim of row %d finds nothing new", i)
}

// act pushes what people and other hosts may do.
func (p *pairModel) act(w pair, i int) {
	me, other := w.rows[i], w.rows[1-i]
	n := w
	if !me.paused && (me.at != rowBegun || !p.has(jobShared)) {
		n.rows[i].paused = true
		p.push(n, "a person pauses the job of row %d", i)
	}
	n = w
	if !me.gone && (me.at != rowBegun || !p.has(leaseShared)) {
		n.rows[i].gone = true
		p.push(n, "another host takes the job of row %d over", i)
	}
	if me.at > rowJudged || me.state >= rowDoubt || other.at == rowBegun && p.has(numberShared) {
		return
	}
	adopt := func(id int8, label string) {
		if id == other.id {
			return // the order is refused
		}
		n := w
		r := &n.rows[i]
		r.at, r.state, r.id, r.stated = rowIdle, rowAccepted, id, true
		n.rows[1-i].fresh = other.fresh && !p.has(actsRaise)
		p.push(n, label, i)
	}
	adopt(handID, "a person states that row %d is on the platform, typed by hand")
	if other.made {
		adopt(int8(2-i), "a person finds the record of the other row and states that it is row %d")
	}
}
