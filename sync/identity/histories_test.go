package identity_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/trade"
)

// Random histories of an ERP, judged by documents that the program cannot see. A document is a real
// contract. The ERP shows it under a key; people amend, renumber, re-type, recycle and swap. The
// program sees keys and contents only. A person who is asked decides rightly.

// document is a contract, ticket or share as it is now; an edit keeps the document. A ticket's contract
// is its producer, a share's order commitment its harvest and its user its place.
type document struct {
	producer, product, harvest, kg, date, place, issuer, price int
}

// weaker takes something from what is compared.
type weaker func(*trade.Prints)

// marks returns a mark for each field, as trade.Prints has them.
func marks(fields ...int) trade.Hash {
	var out strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&out, "%08x", f)
	}
	return trade.Hash(out.String())
}

func (d document) content(weaken weaker) identity.Content {
	return d.contentOf(trade.OrderCommitments, weaken)
}

func (d document) contentOf(kind trade.Kind, weaken weaker) identity.Content {
	text := fmt.Sprint(d.producer, d.product, d.harvest, d.kg, d.date, d.place, d.issuer)
	cells := trade.Hash(text + " " + strconv.Itoa(d.price))
	prints := trade.Prints{Cells: cells, Payload: trade.Hash(text)}
	switch kind {
	case trade.Deliveries:
		prints.Fields = marks(d.producer, d.date, d.kg)
	case trade.Traceability:
		prints.Fields = marks(d.harvest, d.producer, d.place, d.kg)
	default:
		prints.Fields = marks(d.producer, d.product, d.harvest, d.date, d.kg, d.place)
	}
	weaken(&prints)
	return identity.Content{Prints: prints, Whole: cells}
}

// played is a record with the document for which it went.
type played struct {
	trade.Record
	document int
}

// history is one history.
type history struct {
	*rand.Rand
	kind    trade.Kind
	weaken  weaker
	forgets bool // what a held row holds is forgotten
	today   int
	docs    map[int]document
	erp     map[int]int // key -> document
	gone    int         // the document that left last
	keys    int         // that were given out
	records []*played
	flagged map[int]bool  // keys that were shown as changed
	ordered map[int]bool  // keys of which a person said that they hold another document
	waits   map[int]int   // by key: passes until a person decides
	heldFor map[int]int64 // by key

	different map[trade.Hash]map[int64]bool
	askedNew  int // how often a person was asked about a new document
	doubled   int
}

func (h *history) key() int {
	h.keys++
	return h.keys
}

func (h *history) newDocument(like *document) int {
	var d document
	switch h.kind {
	case trade.Deliveries: // few contracts, steps of 10 kg
		d = document{
			producer: h.IntN(6), date: h.today, kg: 10_000 + 10*h.IntN(3000), issuer: h.IntN(2), price: h.IntN(5),
		}
		if h.IntN(20) == 0 {
			d.date-- // typed a day late
		}
	case trade.Traceability:
		d = document{
			harvest: h.IntN(12), producer: h.IntN(6), place: h.IntN(3), kg: 60 * (1 + h.IntN(400)),
			issuer: h.IntN(2), price: h.IntN(5),
		}
	default:
		d = document{
			h.IntN(4), h.IntN(2), h.IntN(2),
			[]int{60, 120, 600}[h.IntN(3)],
			h.IntN(20), h.IntN(2), h.IntN(2), h.IntN(5),
		}
	}
	if like != nil {
		d.producer, d.product, d.harvest, d.kg = like.producer, like.product, like.harvest, like.kg
		if h.IntN(2) == 0 {
			d.date = like.date
		}
	}
	id := len(h.docs) + 1
	h.docs[id] = d
	return id
}

// touch changes one thing of a document.
func (h *history) touch(id int, field func(*document) *int) {
	d := h.docs[id]
	at := field(&d)
	switch {
	case at == &d.kg:
		*at = 1000 + h.IntN(8999)
	case at == &d.date && h.kind == trade.Deliveries:
		*at -= 1 + h.IntN(3)
	default:
		*at = h.IntN(20)
	}
	h.docs[id] = d
}

var fields = map[string]func(*document) *int{
	"price": func(d *document) *int { return &d.price }, "issuer": func(d *document) *int { return &d.issuer },
	"date": func(d *document) *int { return &d.date }, "place": func(d *document) *int { return &d.place },
	"kg": func(d *document) *int { return &d.kg }, "harvest": func(d *document) *int { return &d.harvest },
	"producer": func(d *document) *int { return &d.producer },
}

// corrected are the fields that are corrected beside the quantity, and those that are while a document
// is typed again, any one of those that its kind has.
var corrected = map[trade.Kind][2][]string{
	trade.OrderCommitments: {
		{"price", "issuer", "date", "place"}, {"price", "issuer", "date", "place", "kg", "harvest", "producer"},
	},
	trade.Deliveries:   {{"issuer", "date", "producer"}, {"issuer", "date", "kg", "producer"}},
	trade.Traceability: {{"issuer", "producer", "place"}, {"issuer", "kg", "producer", "place", "harvest"}},
}

func (h *history) edit() {
	acts := []struct {
		weight int
		name   string
	}{
		{6, "new"},
		{3, "similar"},
		{3, "amend"},
		{3, "small"},
		{3, "renumber"},
		{3, "retype"},
		{2, "recycle"},
		{1, "swap"},
		{2, "delete"},
		{1, "back"},
		{1, "shift"},
	}
	n, act := h.IntN(28), ""
	for _, a := range acts {
		if n < a.weight {
			act = a.name
			break
		}
		n -= a.weight
	}
	keys := slices.Sorted(maps.Keys(h.erp))
	if act == "new" || len(keys) == 0 {
		h.erp[h.key()] = h.newDocument(nil)
		return
	}
	k := keys[h.IntN(len(keys))]
	d := h.erp[k]
	doc := h.docs[d]
	anyOf := func(of []string) func(*document) *int { return fields[of[h.IntN(len(of))]] }
	switch act {
	case "similar":
		h.erp[h.key()] = h.newDocument(&doc)
	case "amend":
		h.touch(d, fields["kg"])
	case "small":
		h.touch(d, anyOf(corrected[h.kind][0]))
	case "renumber":
		delete(h.erp, k)
		h.erp[h.key()] = d
	case "retype": // typed again, one thing otherwise
		delete(h.erp, k)
		h.touch(d, anyOf(corrected[h.kind][1]))
		h.erp[h.key()] = d
	case "recycle":
		h.gone = d
		if h.IntN(10) < 3 {
			h.erp[k] = h.newDocument(&doc)
		} else {
			h.erp[k] = h.newDocument(nil)
		}
	case "swap":
		j := keys[h.IntN(len(keys))]
		h.erp[k], h.erp[j] = h.erp[j], h.erp[k]
	case "delete":
		h.gone = d
		delete(h.erp, k)
	case "back":
		if h.gone != 0 && !h.stands(h.gone) {
			h.erp[h.key()] = h.gone
		}
	case "shift": // numbered by row: all move up by one, a new one in front
		if h.kind != trade.OrderCommitments {
			return // nobody numbers hundreds of tickets by row
		}
		before := h.newDocument(nil)
		for _, k := range append(keys, h.key()) {
			h.erp[k], before = before, h.erp[k]
		}
	}
}

// stands reports whether a document is in the ERP.
func (h *history) stands(d int) bool {
	for _, at := range h.erp {
		if at == d {
			return true
		}
	}
	return false
}

func (h *history) content(key int) identity.Content {
	return h.docs[h.erp[key]].contentOf(h.kind, h.weaken)
}

// run is one pass of the program, and of the person who is asked.
func (h *history) run() {
	has := map[int]bool{}
	var rows []identity.ERPRow
	for _, r := range h.records {
		has[int(r.Row.ID)] = true
	}
	for _, key := range slices.Sorted(maps.Keys(h.erp)) {
		if !has[key] {
			c := h.content(key)
			rows = append(rows, identity.ERPRow{
				ID: int64(key), Key: strconv.Itoa(key), Content: c, HeldFor: h.heldFor[key],
				DistinctRecords: h.different[c.Whole], SendOrdered: h.ordered[key],
			})
		}
	}
	var candidates []identity.Candidate
	for _, r := range h.records {
		if h.kind != trade.OrderCommitments && !identity.Alike(&r.Record, rows) {
			continue // there are hundreds; the ledger does not find them either
		}
		c := identity.Candidate{Record: r.Record}
		if key := int(r.Row.ID); h.erp[key] != 0 {
			c.Now = []identity.Content{h.content(key)}
		}
		candidates = append(candidates, c)
	}
	for i, v := range identity.Judge(rows, candidates, identity.Rules{Twin: trade.Warning, Near: trade.Warning}) {
		h.settle(&rows[i], v)
	}
	for _, r := range h.records {
		key := int(r.Row.ID)
		if h.erp[key] == 0 {
			continue
		}
		now := h.content(key)
		if now.Cells != r.Newest.Cells {
			h.flagged[key] = true // shown to a person, who says whether it is the same document
		}
		if h.erp[key] == r.document {
			r.Newest = now.Prints
		} else if !h.stands(r.document) {
			r.Row = trade.RowRef{}
			h.ordered[key] = true
		}
	}
}

// settle sends a row, or asks a person, who sees the candidates side by side and decides rightly, after
// some passes.
func (h *history) settle(row *identity.ERPRow, v identity.Verdict) {
	key := int(row.ID)
	d := h.erp[key]
	var mine *played
	for _, r := range h.records {
		if r.document == d {
			mine = r
		}
	}
	forget := func() {
		for _, r := range h.records {
			r.Sightings = slices.DeleteFunc(r.Sightings, func(s trade.Sighting) bool { return s.Row == row.ID })
		}
	}
	if v.Cause != "" {
		if _, waits := h.waits[key]; !waits {
			h.waits[key] = h.IntN(4)
		}
		h.waits[key]--
		if h.waits[key] >= 0 {
			if v.Cause == trade.CauseRetyped && !h.forgets {
				h.heldFor[key] = v.Because.Candidate.Record.ID
				forget()
				for _, id := range v.All {
					of := h.records[id-1]
					of.Sightings = append(of.Sightings, trade.Sighting{Row: row.ID, Record: id, Prints: row.Prints})
				}
			}
			return
		}
	}
	delete(h.heldFor, key)
	at := trade.RowRef{ID: row.ID, Key: row.Key}
	switch {
	case v.Cause != "" && mine != nil:
		forget()
		mine.Row, mine.Newest = at, row.Prints
		return
	case v.Cause != "":
		forget()
		h.askedNew++
		if h.different[row.Whole] == nil {
			h.different[row.Whole] = map[int64]bool{}
		}
		for _, id := range v.All {
			h.different[row.Whole][id] = true
		}
	case mine != nil:
		h.doubled++
	}
	h.records = append(h.records, &played{trade.Record{
		ID: int64(len(h.records) + 1), Kind: h.kind, Row: at, Key: row.Key, Certainty: trade.Made,
		Sent: row.Prints, Newest: row.Prints,
	}, d})
}

// unshown returns how many documents of the ERP have no record, and were not shown to anybody.
func (h *history) unshown() int {
	n := 0
	for key, d := range h.erp {
		sent := slices.ContainsFunc(h.records, func(r *played) bool {
			return r.document == d || int(r.Row.ID) == key
		})
		if !sent && !h.flagged[key] {
			n++
		}
	}
	return n
}

// result is what became of many histories: those that doubled a document, and how many documents were
// neither sent nor shown, asked about although they were new, and there in all.
type result struct{ histories, doubled, unshown, asked, documents int }

func play(kind trade.Kind, histories int, forgets bool, weaken weaker) result {
	out := result{histories: histories}
	for i := range histories {
		h := &history{
			Rand: rand.New(rand.NewPCG(1, uint64(i))), weaken: weaken, kind: kind, forgets: forgets,
			docs: map[int]document{}, erp: map[int]int{}, flagged: map[int]bool{}, ordered: map[int]bool{},
			different: map[trade.Hash]map[int64]bool{}, waits: map[int]int{}, heldFor: map[int]int64{},
		}
		h.live()
		for range 6 {
			h.run()
		}
		if h.doubled > 0 {
			out.doubled++
		}
		out.unshown += h.unshown()
		out.asked += h.askedNew
		out.documents += len(h.docs)
	}
	return out
}

// live is a few passes of wild edits of contracts, or a few days of tickets or shares: four passes a day,
// 50 to 300 tickets, and about two edits.
func (h *history) live() {
	if h.kind == trade.OrderCommitments {
		for range 2 + h.IntN(12) {
			for range h.IntN(3) {
				h.edit()
			}
			h.run()
		}
		return
	}
	for range 3 {
		h.today++
		news := 50 + h.IntN(251)
		if h.kind == trade.Traceability {
			news = 5 + h.IntN(26)
		}
		for pass := range 4 {
			for range news*(pass+1)/4 - news*pass/4 {
				h.erp[h.key()] = h.newDocument(nil)
			}
			if h.IntN(4) == 0 {
				h.edit()
			}
			h.run()
		}
	}
}

// Of 4,000 wild histories some double a document whatever is compared: number and two identifying fields
// changed between two passes. What is left out makes it much worse. identity_model.py plays the same and
// says 161 doubled and 3.8 % asked, 278 where what held rows hold is forgotten.
func TestWildHistoriesDoubleFewDocuments(t *testing.T) {
	t.Parallel()
	same := func(*trade.Prints) {}
	for _, c := range []struct {
		name     string
		kind     trade.Kind
		forgets  bool
		weaken   weaker
		all      int // histories
		from, to int // of these double a document
		asked    int // of a hundred new documents
	}{
		{"contracts", trade.OrderCommitments, false, same, 4000, 136, 186, 4},
		{"contracts, what is held is forgotten", trade.OrderCommitments, true, same, 4000, 220, 4000, 4},
		{
			"contracts without the fields", trade.OrderCommitments, false, func(p *trade.Prints) { p.Fields = "" },
			4000, 1000, 4000, 100,
		},
		{"tickets", trade.Deliveries, false, same, 40, 0, 10, 8},
		{"shares", trade.Traceability, false, same, 400, 0, 10, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				c.all, c.from, c.to = c.all/10, c.from/20, c.to/5+3
			}
			got := play(c.kind, c.all, c.forgets, c.weaken)
			percent := 100 * float64(got.asked) / float64(got.documents)
			t.Logf("%d of %d histories doubled; asked about %d of %d new documents (%.2f %%); unsent and unshown %d",
				got.doubled, got.histories, got.asked, got.documents, percent, got.unshown)
			if got.doubled < c.from || got.doubled > c.to {
				t.Errorf("%d of %d histories doubled a document, expected %d to %d", got.doubled, c.all, c.from, c.to)
			}
			if got.unshown > 0 {
				t.Errorf("%d documents are neither sent nor shown", got.unshown)
			}
			if percent > float64(c.asked) {
				t.Errorf("a person was asked about %d of %d new documents", got.asked, got.documents)
			}
		})
	}
}
