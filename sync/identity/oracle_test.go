package identity_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/trade"
)

// place is a key of a job of the ERP.
type place struct{ job, key int }

func (p place) name() string { return []string{"contracts", "branch"}[p.job] }

// world is an ERP whose documents keep their content, what two jobs made of it, and the people who
// decide, rightly or not. The jobs share an identity space.
type world struct {
	erp  map[place]document
	left []document // that were in the ERP
	keys int        // that were given out
	// whether the mapping or a de-para changes, so that all is sent otherwise; else prices differ. Who
	// does both at once has changed the document.
	mapped  bool
	mapping int

	ids     map[place]int64 // of the ledger's rows
	records []sentRecord
	held    map[place]identity.Verdict
	heldFor map[place]int64
	orders  map[place]document // what a person ordered to go although its key has a record

	different map[document]map[int64]bool
	// of each content, the price aside: the most rows that stood at once, and how many more records
	// people ordered
	stood, ordered map[document]int
}

// sentRecord is a record with the content that was sent.
type sentRecord struct {
	trade.Record
	of document
}

func (w *world) content(d document) identity.Content {
	c := d.content(func(*trade.Prints) {})
	if w.mapping > 0 { // what was another id before is none that was sent
		c.Payload += trade.Hash(fmt.Sprint(" mapping ", w.mapping))
		c.Whole += trade.Hash(fmt.Sprint(" mapping ", w.mapping))
		c.Fields = marks(d.producer+w.mapping*1000, d.product, d.harvest, d.date, d.kg+w.mapping*100_000, d.place)
	}
	return c
}

// priceless returns a document without its price: to send it twice with two prices is to double it.
func (d document) priceless() document {
	d.price = 0
	return d
}

func (w *world) id(p place) int64 {
	if w.ids[p] == 0 {
		w.ids[p] = int64(len(w.ids) + 1)
	}
	return w.ids[p]
}

func (w *world) ref(p place) trade.RowRef {
	return trade.RowRef{ID: w.id(p), Job: p.name(), Key: strconv.Itoa(p.key)}
}

func (w *world) key() int {
	w.keys++
	return w.keys
}

// places returns the keys of the ERP, of one job or of both (-1).
func (w *world) places(job int) []place {
	var out []place
	for p := range w.erp {
		if job < 0 || p.job == job {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b place) int { return (a.key-b.key)*2 + a.job - b.job })
	return out
}

// own returns the records of a row.
func (w *world) own(p place) []*sentRecord {
	var out []*sentRecord
	for i := range w.records {
		if r := &w.records[i]; r.Row.ID == w.ids[p] && w.ids[p] != 0 && r.Certainty.Counts() {
			out = append(out, r)
		}
	}
	return out
}

func (w *world) draw(t *rapid.T) document {
	few := rapid.IntRange(1, 2)
	price := 1
	if !w.mapped {
		price = few.Draw(t, "price")
	}
	return document{
		producer: few.Draw(t, "producer"), product: 1, harvest: 1, kg: few.Draw(t, "kg") * 60,
		date: few.Draw(t, "date"), place: 1, issuer: few.Draw(t, "issuer"), price: price,
	}
}

// edit changes the ERP once.
func (w *world) edit(t *rapid.T) {
	job := rapid.IntRange(0, 1).Draw(t, "job")
	here := w.places(job)
	act := rapid.SampledFrom([]string{
		"new", "again", "both", "renumber", "recycle", "swap", "shift", "delete", "back", "move",
	}).Draw(t, "act")
	if len(here) == 0 && act != "back" {
		act = "new"
	}
	var p place
	if len(here) > 0 {
		p = rapid.SampledFrom(here).Draw(t, "place")
	}
	d := w.erp[p]
	switch act {
	case "new":
		w.erp[place{job, w.key()}] = w.draw(t)
	case "again": // an equal document, or one that was typed twice
		w.erp[place{job, w.key()}] = d
	case "both": // the other job returns the row, too
		w.erp[place{1 - job, rapid.SampledFrom([]int{p.key, w.key()}).Draw(t, "key")}] = d
	case "renumber":
		delete(w.erp, p)
		w.erp[place{job, w.key()}] = d
	case "recycle":
		w.left = append(w.left, d)
		w.erp[p] = w.draw(t)
	case "swap":
		other := rapid.SampledFrom(here).Draw(t, "other")
		w.erp[p], w.erp[other] = w.erp[other], d
	case "shift": // numbered by row: all move up by one, a new one in front
		before := w.draw(t)
		for _, p := range append(here, place{job, w.key()}) {
			w.erp[p], before = before, w.erp[p]
		}
	case "delete":
		w.left = append(w.left, d)
		delete(w.erp, p)
	case "back":
		if len(w.left) > 0 {
			at := rapid.IntRange(1, w.keys+1).Draw(t, "key")
			w.keys = max(w.keys, at)
			if _, taken := w.erp[place{job, at}]; !taken {
				w.erp[place{job, at}] = rapid.SampledFrom(w.left).Draw(t, "document")
			}
		}
	case "move": // into the other job
		delete(w.erp, p)
		w.erp[place{1 - job, rapid.SampledFrom([]int{p.key, w.key()}).Draw(t, "key")}] = d
	}
	count := map[document]int{}
	for _, d := range w.erp {
		d := d.priceless()
		count[d]++
		w.stood[d] = max(w.stood[d], count[d])
	}
}

// pass is a pass of one job or of both together.
func (w *world) pass(t *rapid.T) {
	candidates := make([]identity.Candidate, len(w.records))
	at := map[int64]place{}
	for p, id := range w.ids {
		at[id] = p
	}
	for i := range w.records {
		r := &w.records[i]
		candidates[i].Record = r.Record
		d, stands := w.erp[at[r.Row.ID]]
		if r.Row.ID == 0 || !stands {
			continue
		}
		candidates[i].Now = []identity.Content{w.content(d)}
		if identity.StandingOf(&r.Record, candidates[i].Now) <= identity.Amended {
			if rapid.Bool().Draw(t, "read before") {
				r.Newest = candidates[i].Now[0].Prints
				candidates[i].Record = r.Record
			}
		}
	}
	var rows []identity.ERPRow
	var places []place
	for _, p := range w.places(rapid.IntRange(-1, 1).Draw(t, "job")) {
		if len(w.own(p)) > 0 && w.orders[p] != w.erp[p] || rapid.IntRange(0, 9).Draw(t, "not read") == 0 {
			continue
		}
		_, held := w.held[p]
		rows = append(rows, identity.ERPRow{
			ID: w.id(p), Job: p.name(), Key: strconv.Itoa(p.key), Content: w.content(w.erp[p]),
			HeldFor: w.heldFor[p], DistinctRecords: w.different[w.erp[p]], SendOrdered: w.orders[p] == w.erp[p],
			NotDue: !held && rapid.IntRange(0, 3).Draw(t, "due later") == 0,
		})
		places = append(places, p)
	}
	verdicts := identity.Judge(rows, candidates, identity.Rules{Twin: trade.Warning, Near: trade.Warning})
	for i, v := range verdicts {
		p := places[i]
		w.judged(t, &rows[i], v)
		delete(w.held, p)
		delete(w.heldFor, p)
		switch {
		case v.Cause != "":
			w.held[p] = v
			if v.Cause == trade.CauseRetyped {
				w.heldFor[p] = v.Because.Candidate.Record.ID
			}
		case !rows[i].NotDue:
			answer := rapid.SampledFrom([]trade.Certainty{trade.Made, trade.Maybe, trade.Void}).Draw(t, "answer")
			w.record(p, answer)
			delete(w.orders, p)
		}
	}
}

// record stores a record of a row.
func (w *world) record(p place, certainty trade.Certainty) {
	c := w.content(w.erp[p])
	w.records = append(w.records, sentRecord{trade.Record{
		ID: int64(len(w.records) + 1), Row: w.ref(p), Job: p.name(), Key: strconv.Itoa(p.key),
		Certainty: certainty, Sent: c.Prints, Newest: c.Prints,
	}, w.erp[p].priceless()})
}

// judged checks what is said of one row: each cause has its counterpart, which is like it.
func (w *world) judged(t *rapid.T, row *identity.ERPRow, v identity.Verdict) {
	c := v.Because.Candidate
	switch v.Cause {
	case "":
	case trade.CauseOtherJob:
		if c == nil || c.Record.Key != row.Key && c.Record.Row.Key != row.Key {
			t.Fatalf("row %d is held for its key, because of %+v", row.ID, c)
		}
	case trade.CauseRetyped:
		if c == nil || !slices.Contains(v.All, c.Record.ID) {
			t.Fatalf("row %d is held as re-typed because of %+v, and a person says of %v", row.ID, c, v.All)
		}
		alike := false
		for _, p := range []trade.Prints{c.Record.Sent, c.Record.Newest} {
			alike = alike || p.Cells == row.Cells || p.Payload == row.Payload || p.Differ(row.Prints) <= 1
		}
		if !alike && row.HeldFor != c.Record.ID {
			t.Fatalf("row %d is held because of record %d, and nothing is alike", row.ID, c.Record.ID)
		}
		if slices.ContainsFunc(c.Now, func(now identity.Content) bool { return now.Cells == c.Record.Sent.Cells }) {
			t.Fatalf("row %d is held because of record %d, which has its row", row.ID, c.Record.ID)
		}
	default:
		t.Fatalf("row %d is held, cause %q", row.ID, v.Cause)
	}
}

// person decides about one row.
func (w *world) person(t *rapid.T) {
	here := w.places(-1)
	if len(here) == 0 {
		return
	}
	p := rapid.SampledFrom(here).Draw(t, "row")
	d := w.erp[p]
	v, held := w.held[p]
	switch act := rapid.SampledFrom([]string{"mine", "another", "dismiss", "not there", "again"}).Draw(t, "decision"); {
	case act == "mine" && held && v.Cause == trade.CauseRetyped: // the record is this row's
		id := rapid.SampledFrom(v.All).Draw(t, "record")
		r := &w.records[id-1]
		r.Row, r.Newest = w.ref(p), w.content(d).Prints
	case act == "another" && held && v.Cause == trade.CauseRetyped:
		if w.different[d] == nil {
			w.different[d] = map[int64]bool{}
		}
		for _, id := range v.All {
			if !w.different[d][id] {
				w.different[d][id] = true
				w.ordered[d.priceless()]++
			}
		}
		return
	case act == "another" && held, act == "again" && len(w.own(p)) > 0: // although its key has a record
		if w.orders[p] != d {
			w.orders[p] = d
			w.ordered[d.priceless()]++
		}
		return
	case act == "dismiss" && len(w.own(p)) == 0:
		w.record(p, trade.LeftOut)
	case act == "not there":
		for _, r := range w.own(p) {
			if r.Certainty == trade.Maybe {
				r.Certainty = trade.Void
			}
		}
		return
	default:
		return
	}
	delete(w.held, p)
	delete(w.heldFor, p)
	delete(w.orders, p)
}

// check is the oracle: for each content never more records than rows that stood at once, unless a
// person ordered it.
func (w *world) check(t *rapid.T) {
	records := map[document]int{}
	for _, r := range w.records {
		if r.Certainty == trade.Made || r.Certainty == trade.Maybe {
			records[r.of]++
		}
	}
	for d, n := range records {
		if most := w.stood[d] + w.ordered[d]; n > most {
			t.Fatalf("%+v has %d records; %d rows stood at once, and people ordered %d more", d, n, w.stood[d], w.ordered[d])
		}
	}
}

func TestNeverMoreRecordsThanRowsThatStoodAtOnce(t *testing.T) {
	t.Parallel()
	for i := range 10 { // times the checks of one property
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, live)
		})
	}
}

// live is the life of one world.
func live(t *rapid.T) {
	w := &world{
		mapped: rapid.Bool().Draw(t, "mapped"),
		erp:    map[place]document{}, ids: map[place]int64{}, held: map[place]identity.Verdict{},
		heldFor: map[place]int64{}, orders: map[place]document{}, different: map[document]map[int64]bool{},
		stood: map[document]int{}, ordered: map[document]int{},
	}
	t.Repeat(map[string]func(*rapid.T){
		"":       w.check,
		"edit":   w.edit,
		"edit 2": w.edit,
		"pass":   w.pass,
		"pass 2": w.pass,
		"person": w.person,
		"mapping": func(t *rapid.T) {
			if w.mapped && rapid.IntRange(0, 3).Draw(t, "mapping") == 0 {
				w.mapping++
			}
		},
	})
}
