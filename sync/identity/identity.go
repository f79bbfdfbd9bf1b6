package identity

import (
	"cmp"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// Content is what a row of the ERP would send.
type Content struct {
	trade.Prints
	Whole trade.Hash // of all that it sends, the price too; "" = not known
}

// ERPRow is a row that may go, or that explains records because it is in the ERP.
type ERPRow struct {
	ID              int64 // of the ledger, never 0
	Job, Key, Space string
	Content
	HeldFor         int64          // the record for which it is held as retyped; 0 = none, -1 = not known
	DistinctRecords map[int64]bool // records of which a person said that this content is another document
	DistinctRows    map[int64]bool // rows of which a person said so
	SendOrdered     bool           // a person ordered that it goes although its key has a record
	NotDue          bool           // it is held, or due later: it explains records, and is nobody's twin
}

// Candidate is a record that is like one of the rows, has the key of one, or is the one for which a
// row is held. A row that is held because its key has the record of another job is a candidate, too:
// that record, with this row, its content and what stands under its key.
type Candidate struct {
	Record trade.Record
	Now    []Content // the living rows of the ERP under the key of Record.Row; none = the key is gone
	// the key is in the ERP, cancelled there: a person is told to cancel the record, too
	Cancelled bool
	// of what was sent, as it would be sent today; zero if that is the same, or not known
	Today trade.Prints
}

// Rules are what is configured: `checks.twin`, `checks.near_twin` and `checks.twin_days`.
type Rules struct {
	Twin, Near trade.Severity
	// Within reports whether two rows of the ledger were first seen close enough together to be one
	// that was typed twice; nil = always
	Within func(row, other int64) bool
}

// Hold is what happens to a twin that a person decides about. trade.Warning: it goes, with a flag.
// trade.Off: it goes.
const Hold trade.Severity = "hold"

// Verdict is what becomes of a row.
type Verdict struct {
	// trade.CauseOtherJob: its key has a record. trade.CauseRetyped: a record that lost its row is
	// like it. trade.CauseTwin: another living row is. "" = it may go.
	Cause string
	// the counterpart, never empty with a cause; of a row that may go the one that it is like
	Because Other
	// With CauseRetyped all records without a row that are like it, the strongest likeness first. A
	// person who says that it is a new document says so of each.
	All        []int64
	Twin, Near bool // the flags; not with trade.CauseOtherJob
	NearOnly   bool // Because is a near twin
	// another job that has a living row with the same cells or payload; "" = none
	TwoJobs string
}

// Other is the counterpart of a row: a record or a row without one.
type Other struct {
	Candidate *Candidate
	Row       *ERPRow
}

// Standing is what became of the row of a record.
type Standing int

// The standings.
const (
	Stands    Standing = iota // its key holds what was sent
	Corrected                 // its key holds the newest content that is known of its row
	Amended                   // its key holds another content of the same document
	Moved                     // and the ledger has seen that this is another row
	Replaced                  // its key holds another document, or one that is not known
	Gone                      // its key is not in the ERP
)

// StandingOf compares a record with the living rows under the key of its row. A row that the ledger
// has flagged stays another one until its key holds again what was sent.
func StandingOf(record *trade.Record, now []Content) Standing {
	out := Gone
	for i := range now {
		here := Replaced
		same := SameDocument(record, now[i].Prints)
		switch row := &now[i].Prints; {
		case likeness(row, &record.Sent) <= likePayload:
			here = Stands
		case record.Row.Replaced && same:
			here = Moved
		case record.Row.Replaced:
		case record.Newest.Known() && likeness(row, &record.Newest) <= likePayload:
			here = Corrected
		case same:
			here = Amended
		}
		out = min(out, here)
	}
	return out
}

// SameDocument reports whether a content is the document of a record at all, by its newest state.
func SameDocument(record *trade.Record, p trade.Prints) bool {
	return p.SameDocument(record.Kind, newestKnown(record))
}

// newestKnown returns the newest content of a record of which the identifying fields are known.
func newestKnown(record *trade.Record) trade.Prints {
	if record.Newest.Known() {
		return record.Newest
	}
	return record.Sent
}

// Misplaced reports whether the children of a record must wait: its key holds another document, content
// that was not judged yet, or what was sent as another record under that key in the same space. Its own
// row beside that changes nothing. A record whose document is not known takes its children.
func Misplaced(record *trade.Record, now []Content, under []*trade.Record) bool {
	known := record.Kind != trade.OrderCommitments || newestKnown(record).Known()
	for i := range now {
		row, standing := &now[i].Prints, StandingOf(record, now[i:i+1])
		if standing == Amended || standing == Moved || standing == Replaced && known {
			return true
		}
		sent := likeness(row, &record.Sent) <= likeIdentity
		for _, other := range under {
			if !sent && other.Row.ID != record.Row.ID && other.Space == record.Space &&
				other.Certainty != trade.LeftOut && likeness(row, &other.Sent) <= likeIdentity {
				return true
			}
		}
	}
	return false
}

// The likenesses of two contents, the strongest first.
const (
	likeHeld = iota // held already
	likeOwn         // cells, and the record is this row's
	likeCells
	likePayload
	likeIdentity // all identifying fields
	likeNear     // all but one
	unlike
)

// likeness compares two contents.
func likeness(a, b *trade.Prints) int {
	switch {
	case a.Cells != "" && a.Cells == b.Cells:
		return likeCells
	case a.Payload != "" && a.Payload == b.Payload:
		return likePayload
	}
	return min(likeIdentity+a.Differ(*b), unlike)
}

// Alike reports whether a content of a record is like one of some rows.
func Alike(record *trade.Record, rows []ERPRow) bool {
	return slices.ContainsFunc(rows, func(r ERPRow) bool {
		return likeness(&r.Prints, &record.Sent) != unlike || likeness(&r.Prints, &record.Newest) != unlike ||
			slices.ContainsFunc(record.Sightings, func(s trade.Sighting) bool {
				return likeness(&r.Prints, &s.Prints) != unlike
			})
	})
}

// Same reports whether a record has all identifying fields of a content.
func Same(record *trade.Record, p trade.Prints) bool {
	return min(likeness(&p, &record.Sent), likeness(&p, &record.Newest)) <= likeIdentity
}

// orphan is a record with what became of its row.
type orphan struct {
	record    *trade.Record
	of        *Candidate
	standing  Standing
	takenOut  bool // its key is cancelled in the ERP, or a person left it out
	unlikeNow bool // nothing under its key is like what was sent
}

// contents returns what of a record has no row: what was sent and what it was amended to, or, if
// that is what its key holds, only what was sent.
func (l *orphan) contents() []*trade.Prints {
	out := []*trade.Prints{&l.record.Sent}
	if l.standing != Corrected {
		out = append(out, &l.record.Newest)
	}
	if l.of != nil {
		out = append(out, &l.of.Today)
	}
	return out
}

// like returns how alike a row is to a record that lost its row, as far as it counts.
func (l *orphan) like(row *ERPRow) int {
	if row.owns(l.record) || row.DistinctRecords[l.record.ID] {
		return unlike
	}
	out, weakest := unlike, likeNear
	switch {
	case l.standing == Stands:
		return unlike
	case l.standing <= Amended && !l.unlikeNow:
		weakest = likePayload
	case l.standing <= Amended || l.takenOut:
		weakest = likeIdentity
	}
	for _, p := range l.contents() {
		out = min(out, likeness(&row.Prints, p))
	}
	for i := range l.record.Sightings { // a guess, however much they are alike
		s := &l.record.Sightings[i]
		own := s.Row == row.ID && row.HeldFor != 0 // it stays held
		if !own && weakest == likeNear && likeness(&row.Prints, &s.Prints) <= weakest {
			return min(out, likeNear)
		}
	}
	if out > weakest {
		return unlike
	}
	return out
}

// owns reports whether a record is the row's own.
func (r *ERPRow) owns(record *trade.Record) bool { return r.ID != 0 && record.Row.ID == r.ID }

// Followed returns the sightings of a row that stands under the key of another record, and whether they
// changed: the records whose content the row holds, or held before it was edited. of are the records
// that may be meant, found is what [Found] returns.
func Followed(row *ERPRow, of []Candidate, found map[int64]int64) (out []trade.Sighting, changed bool) {
	out = []trade.Sighting{}
	if !row.Known() {
		return nil, false
	}
	for i := range of {
		record := &of[i].Record
		at := slices.IndexFunc(record.Sightings, func(s trade.Sighting) bool { return s.Row == row.ID })
		exact := found[record.ID] == row.ID
		switch {
		case row.owns(record):
		case exact:
			out = append(out, trade.Sighting{Row: row.ID, Record: record.ID, Prints: row.Prints})
			changed = changed || at < 0 || record.Sightings[at].Prints != row.Prints
		case at < 0:
		case found[record.ID] != 0 || StandingOf(record, of[i].Now) < Amended:
			changed = true // its row is there now
		default:
			s := record.Sightings[at]
			edited := s.Differ(row.Prints) <= 1 ||
				record.Kind == trade.OrderCommitments && s.SameDocument(record.Kind, row.Prints)
			if edited && s.Prints != row.Prints {
				s.Prints, changed = row.Prints, true
			}
			out = append(out, s)
		}
	}
	return out, changed
}

// Found returns, by record, the row that holds exactly the content of a record which lost its row.
func Found(of []Candidate, rows []ERPRow) map[int64]int64 {
	out := map[int64]int64{}
	for i := range of {
		record := &of[i].Record
		if StandingOf(record, of[i].Now) < Amended {
			continue
		}
		for n := range rows {
			row := &rows[n].Prints
			like := min(likeness(row, &record.Sent), likeness(row, &record.Newest))
			for k := range record.Sightings {
				like = min(like, likeness(row, &record.Sightings[k].Prints))
			}
			if rows[n].Known() && !rows[n].owns(record) && like <= likePayload {
				out[record.ID] = rows[n].ID
			}
		}
	}
	return out
}

// Judge decides about rows, in the order in which they would go.
func Judge(rows []ERPRow, candidates []Candidate, rules Rules) []Verdict {
	j := judge{rows: rows, rules: rules, out: make([]Verdict, len(rows))}
	for i := range candidates {
		c := &candidates[i]
		if !c.Record.Certainty.Counts() {
			continue
		}
		j.records = append(j.records, orphan{
			record:   &c.Record,
			of:       c,
			standing: StandingOf(&c.Record, c.Now),
			takenOut: c.Cancelled || c.Record.Certainty == trade.LeftOut,
			unlikeNow: !slices.ContainsFunc(c.Now, func(now Content) bool {
				return likeness(&now.Prints, &c.Record.Sent) != unlike
			}),
		})
	}
	for i := range rows { // a row whose key has a record is held
		row := &rows[i]
		at := slices.IndexFunc(j.records, func(l orphan) bool {
			r := l.record
			if row.SendOrdered || r.Space != row.Space || row.owns(r) || row.DistinctRecords[r.ID] {
				return false
			}
			other := row.Known() && r.Sent.Known() && !row.SameDocument(r.Kind, r.Sent)
			return r.Row.ID != 0 && r.Row.Key == row.Key || r.Key == row.Key && !other
		})
		if at >= 0 {
			j.out[i].Cause, j.out[i].Because.Candidate = trade.CauseOtherJob, j.records[at].of
		}
	}
	// the rows that are like records which lost their rows
	explained := j.explain()
	for i := range j.rows {
		row, v := &j.rows[i], &j.out[i]
		if v.Cause == trade.CauseOtherJob {
			continue
		}
		var like []int
		best := unlike
		for k := range j.records {
			l := &j.records[k]
			strength := l.like(row)
			if strength != unlike || j.heldFor(i, k) {
				like = append(like, k)
			}
			// whether the row has the payload of a content that no row explains, and whether any is
			// explained
			open, some := false, false
			for _, p := range l.contents() {
				_, done := explained[explanation{l.record.ID, p.Cells}]
				open = open || !done && likeness(&row.Prints, p) <= likePayload
				some = some || done
			}
			by, ok := explained[explanation{l.record.ID, row.Cells}]
			switch {
			case j.heldFor(i, k):
				strength = likeHeld
			case strength == likeCells && ok && by == i:
				strength = likeOwn
			case strength <= likePayload && !open, strength > likePayload && some:
				strength = unlike
			}
			if strength < best {
				best, v.Cause, v.Because.Candidate = strength, trade.CauseRetyped, l.of
			}
		}
		if best == unlike {
			continue
		}
		slices.SortStableFunc(like, func(a, b int) int { return j.records[a].like(row) - j.records[b].like(row) })
		v.All = []int64{v.Because.Candidate.Record.ID}
		for _, k := range like {
			if id := j.records[k].record.ID; id != v.All[0] {
				v.All = append(v.All, id)
			}
		}
	}
	for i := range rows {
		j.twins(i)
		// another job that has a row with these cells or this payload, under a key that does not hold it
		row := &j.rows[i]
		see := func(job string, id int64, sameKey bool, now *Content) {
			like := likeness(&row.Prints, &now.Prints)
			if job != row.Job && id != row.ID && !sameKey && (like == likeCells || like == likePayload) {
				j.out[i].TwoJobs = cmp.Or(j.out[i].TwoJobs, job)
			}
		}
		for k := range j.records {
			l := &j.records[k]
			for n := range l.of.Now {
				r := l.record
				see(r.Row.Job, r.Row.ID, r.Row.Key == row.Key && r.Space == row.Space, &l.of.Now[n])
			}
		}
		for k := range j.rows {
			o := &j.rows[k]
			see(o.Job, o.ID, o.Key == row.Key && o.Space == row.Space, &o.Content)
		}
	}
	return j.out
}

// judge is one judgement.
type judge struct {
	rows    []ERPRow
	records []orphan
	rules   Rules
	out     []Verdict // of each row
}

// heldFor reports whether a row stays held for a record, edited or not, unless its key has another
// document by now.
func (j *judge) heldFor(i, k int) bool {
	row, l := &j.rows[i], &j.records[k]
	held := row.HeldFor == l.record.ID
	for _, s := range l.record.Sightings {
		if s.Row == row.ID && row.HeldFor != 0 {
			held = !row.Known() || s.SameDocument(l.record.Kind, row.Prints) || s.Differ(row.Prints) <= 1
		}
	}
	return held && l.standing > Amended && !row.DistinctRecords[l.record.ID] && !row.owns(l.record)
}

// explanation is something that a row explains: a content of a record. What was sent and what the
// row was amended to are explained each for itself.
type explanation struct {
	record int64
	cells  trade.Hash
}

// explain finds the row that explains each record that lost its own: the one that is held for it;
// else one that does not go in any case; else the first that would go. It returns its place among
// the rows, or -1 for a row under the key of another record.
func (j *judge) explain() map[explanation]int {
	out := map[explanation]int{}
	tied := map[int]bool{} // rows that can explain one record only, or none
	for i := range j.rows {
		row := &j.rows[i]
		tied[i] = row.NotDue && slices.ContainsFunc(j.rows, func(r ERPRow) bool { // in another job it is judged
			return !r.NotDue && r.Job != row.Job && r.Space == row.Space && r.Key == row.Key && r.Cells == row.Cells
		})
		if tied[i] {
			continue
		}
		for k := range j.records {
			l := &j.records[k]
			byKey := j.out[i].Because.Candidate
			exact := l.like(row) == likeCells
			// of all that it may be the row of, it explains the one for which it is held
			first := row.HeldFor == l.record.ID || row.HeldFor < 0 && !tied[i]
			if byKey == l.of || byKey == nil && exact && first && j.heldFor(i, k) {
				tied[i] = true
				if exact {
					out[explanation{l.record.ID, row.Cells}] = i
				}
			}
		}
	}
	take := func(row *ERPRow, i int) {
		for k := range j.records {
			l := &j.records[k]
			at := explanation{l.record.ID, row.Cells}
			if row.NotDue && row.Job != l.record.Row.Job {
				continue // two jobs may have one row
			}
			if _, taken := out[at]; !taken && l.like(row) == likeCells {
				out[at] = i
				return
			}
		}
	}
	seen := map[int64]bool{} // rows of records that are counted
	for k := range j.records {
		l := &j.records[k]
		seen[l.record.Row.ID] = seen[l.record.Row.ID] || l.standing < Amended
	}
	for k := range j.records {
		l := &j.records[k]
		if seen[l.record.Row.ID] {
			continue
		}
		seen[l.record.Row.ID] = true
		for n, now := range l.of.Now {
			// two jobs may have one row
			if !slices.ContainsFunc(l.of.Now[:n], func(c Content) bool { return c.Cells == now.Cells }) {
				take(&ERPRow{ID: l.record.Row.ID, Content: now}, -1)
			}
		}
	}
	for _, waits := range []bool{true, false} {
		for i := range j.rows {
			if j.rows[i].NotDue == waits && !tied[i] {
				take(&j.rows[i], i)
			}
		}
	}
	return out
}

// twins compares a row with the living rows that it would stand beside: those of records, and those
// that go before it.
func (j *judge) twins(i int) {
	row, v := &j.rows[i], &j.out[i]
	if v.Cause == trade.CauseOtherJob {
		return // it may be the very row of that record
	}
	var equal, almost twin
	// of returns which kind of twin a content is of the row; nil: none
	of := func(id int64, now *Content) *twin {
		equalAll := row.Whole != "" && row.Whole == now.Whole
		switch like := likeness(&row.Prints, &now.Prints); {
		case id == row.ID:
		case equalAll:
			return &equal
		case like <= likeIdentity:
			return &almost
		}
		return nil
	}
	for k := range j.records {
		l := &j.records[k]
		if l.record.Certainty == trade.LeftOut {
			continue
		}
		for n := range l.of.Now {
			id := l.record.Row.ID
			if kind := of(id, &l.of.Now[n]); kind != nil {
				apart := row.DistinctRecords[l.record.ID] || row.DistinctRows[id]
				*kind = kind.or(twin{Other{Candidate: l.of}, !apart, j.within(row.ID, id)})
			}
		}
	}
	for k := range j.rows[:i] {
		o := &j.rows[k]
		if kind := of(o.ID, &o.Content); kind != nil && !o.NotDue && j.out[k].Cause == "" {
			*kind = kind.or(twin{Other{Row: o}, !row.DistinctRows[o.ID], j.within(row.ID, o.ID)})
		}
	}
	v.Twin, v.Near = equal.found() && j.rules.Twin != trade.Off, almost.found() && j.rules.Near != trade.Off
	if v.Cause != "" {
		return
	}
	mode, by := j.rules.Twin, equal
	if !equal.found() || !equal.counts() && almost.counts() {
		mode, by, v.NearOnly = j.rules.Near, almost, almost.found()
	}
	if mode == trade.Off || !by.found() {
		v.NearOnly = false
		return
	}
	v.Because = by.other
	if mode == Hold && by.counts() {
		v.Cause = trade.CauseTwin
	}
}

// twin is a living row that is like one that would go.
type twin struct {
	other     Other
	undecided bool // nobody declared that they are two
	close     bool // in time
}

func (t twin) found() bool { return t.other != Other{} }

// counts reports whether a twin may be the same row, typed twice.
func (t twin) counts() bool { return t.found() && t.undecided && t.close }

// or returns the first of two twins that counts, or the first.
func (t twin) or(next twin) twin {
	if !t.found() || !t.counts() && next.counts() {
		return next
	}
	return t
}

func (j *judge) within(row, other int64) bool {
	return j.rules.Within == nil || j.rules.Within(row, other)
}
