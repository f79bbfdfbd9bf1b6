package identity_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/trade"
)

// contract returns the content of a contract that differs from the others in what is set.
func contract(set ...func(*document)) identity.Content {
	d := document{producer: 1, product: 1, harvest: 1, kg: 600, date: 1, place: 1, issuer: 1, price: 100}
	for _, s := range set {
		s(&d)
	}
	return d.content(func(*trade.Prints) {})
}

func price(d *document)    { d.price = 101 }
func issuer(d *document)   { d.issuer = 2 }
func date(d *document)     { d.date = 2 }
func quantity(d *document) { d.kg = 900 }
func harvest(d *document)  { d.harvest = 2 }
func producer(d *document) { d.producer = 2 }

// another returns the content of another contract in everything.
func another() identity.Content { return contract(producer, quantity, date, issuer, price) }

// row returns a row without a record.
func row(id int64, key string, c identity.Content, set ...func(*identity.ERPRow)) identity.ERPRow {
	r := identity.ERPRow{ID: id, Job: "contracts", Key: key, Content: c}
	for _, s := range set {
		s(&r)
	}
	return r
}

func waits(r *identity.ERPRow)   { r.NotDue = true }
func ordered(r *identity.ERPRow) { r.SendOrdered = true }

func heldFor(id int64) func(*identity.ERPRow) {
	return func(r *identity.ERPRow) { r.HeldFor, r.NotDue = id, true }
}

func different(ids ...int64) func(*identity.ERPRow) {
	return func(r *identity.ERPRow) {
		r.DistinctRecords = map[int64]bool{}
		for _, id := range ids {
			r.DistinctRecords[id] = true
		}
	}
}

// record returns record id of row 100+id, which went under a key, and what this key holds now.
func record(id int64, key string, sent identity.Content, now ...identity.Content) identity.Candidate {
	return identity.Candidate{Record: trade.Record{
		ID: id, Kind: trade.OrderCommitments, Job: "contracts", Key: key, Certainty: trade.Made,
		Row:  trade.RowRef{ID: 100 + id, Job: "contracts", Key: key},
		Sent: sent.Prints, Newest: sent.Prints,
	}, Now: now}
}

func with(c identity.Candidate, set func(*trade.Record)) identity.Candidate {
	set(&c.Record)
	return c
}

func newest(of identity.Content) func(*trade.Record) {
	return func(r *trade.Record) { r.Newest = of.Prints }
}

func certain(c identity.Candidate, as trade.Certainty) identity.Candidate {
	return with(c, func(r *trade.Record) { r.Certainty = as })
}

// sighted is a record that a row may be that of, by what it holds.
func sighted(c identity.Candidate, row int64, has identity.Content) identity.Candidate {
	return with(c, func(r *trade.Record) {
		r.Sightings = append(r.Sightings, trade.Sighting{Row: row, Record: r.ID, Prints: has.Prints})
	})
}

func cancelled(c identity.Candidate) identity.Candidate {
	c.Cancelled = true
	return c
}

func own(r *trade.Record)      { r.Row.ID = 1 }
func orphan(r *trade.Record)   { r.Row = trade.RowRef{} }
func inC(r *trade.Record)      { r.Row = trade.RowRef{ID: 7, Job: "contracts", Key: "C"} }
func space(r *trade.Record)    { r.Space = "other" }
func ofBranch(r *trade.Record) { r.Job, r.Row.Job = "branch", "branch" }

// heldInBranch is the record as that of a row of another job, which is held for its key.
func heldInBranch(r *trade.Record) { r.Row = trade.RowRef{ID: 9, Job: "branch", Key: "A"} }

func mappedAnew(c identity.Content) identity.Content {
	return identity.Content{Prints: trade.Prints{Cells: c.Cells, Payload: "other", Fields: marks(5, 5, 5, 5, 5, 5)}}
}

func branch(r *identity.ERPRow) { r.Job = "branch" }

func apart(ids ...int64) func(*identity.ERPRow) {
	return func(r *identity.ERPRow) {
		r.DistinctRows = map[int64]bool{}
		for _, id := range ids {
			r.DistinctRows[id] = true
		}
	}
}

func modes(twin, near trade.Severity) identity.Rules { return identity.Rules{Twin: twin, Near: near} }

var (
	x, z = contract(), another()
	none identity.Content

	warn       = modes(trade.Warning, trade.Warning)
	hold       = modes(identity.Hold, identity.Hold)
	holdNobody = identity.Rules{
		Twin: identity.Hold, Near: identity.Hold,
		Within: func(int64, int64) bool { return false },
	}
	// only row 102 was first seen at about the same time as the others
	holdNear102 = identity.Rules{
		Twin: identity.Hold, Near: identity.Hold,
		Within: func(_, other int64) bool { return other == 102 },
	}
)

type (
	rows    []identity.ERPRow
	records []identity.Candidate
)

// example is a judgement. want has the verdict on each row.
type example struct {
	name  string
	rules identity.Rules
	want  string
	rows
	records
}

func check(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, v := range identity.Judge(e.rows, e.records, e.rules) {
				got = append(got, verdictOf(v))
			}
			if got := strings.Join(got, "; "); got != e.want {
				t.Errorf("%q, expected %q", got, e.want)
			}
		})
	}
}

// verdictOf writes a verdict as: cause, counterpart (a record; r and a row), all records that a
// person must say of if it is more than one, flags.
func verdictOf(v identity.Verdict) string {
	out := []string{cmp.Or(v.Cause, "goes")}
	if c := v.Because.Candidate; c != nil {
		out = append(out, fmt.Sprint(c.Record.ID))
	}
	if r := v.Because.Row; r != nil {
		out = append(out, fmt.Sprint("r", r.ID))
	}
	if len(v.All) > 1 {
		out = append(out, fmt.Sprint(v.All))
	}
	for _, f := range []struct {
		is   bool
		name string
	}{{v.Twin, "twin"}, {v.Near, "near"}, {v.NearOnly, "only"}, {v.TwoJobs != "", "two-jobs"}} {
		if f.is {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}

func TestKeys(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			"nothing is like it", warn, "goes",
			rows{row(1, "B", x)},
			records{record(1, "A", z)},
		},
		{
			"the key has a record", warn, "other_job 1",
			rows{row(1, "A", z)},
			records{record(1, "A", x, z)},
		},
		{
			"the key has a record of another job", warn, "other_job 1",
			rows{row(1, "A", z)},
			records{with(record(1, "A", x, x), ofBranch)},
		},
		{
			"the key has a record that may exist", warn, "other_job 1",
			rows{row(1, "A", z)},
			records{certain(record(1, "A", x, x), trade.Maybe)},
		},
		{
			"the key has a row that a person took out", warn, "other_job 1",
			rows{row(1, "A", z)},
			records{certain(record(1, "A", x, x), trade.LeftOut)},
		},
		{
			"the key has a record that is proved not to exist", warn, "goes",
			rows{row(1, "A", x)},
			records{certain(record(1, "A", x, x), trade.Void)},
		},
		{
			"the key has a record of another identity space", warn, "goes",
			rows{row(1, "A", z)},
			records{with(record(1, "A", x, x), space)},
		},
		{
			"the key has its own record", warn, "goes",
			rows{row(1, "A", x)},
			records{with(record(1, "A", x, x), own)},
		},
		{
			"a person ordered it", warn, "goes",
			rows{row(1, "A", z, ordered)},
			records{record(1, "A", x, x)},
		},
		{
			"the record of the key has no row any more", warn, "other_job 1",
			rows{row(1, "A", contract(quantity))},
			records{with(record(1, "A", x), orphan)},
		},
		{
			"the record of the key has another row now", warn, "other_job 1",
			rows{row(1, "A", x)},
			records{with(record(1, "A", x, x), inC)},
		},
		{
			"the record of the key has another row, and the key another document", warn, "goes",
			rows{row(1, "A", z)},
			records{with(record(1, "A", x, x), inC)},
		},
	})
}

func TestRetyped(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			"renumbered", warn, "retyped 1",
			rows{row(1, "B", x)},
			records{record(1, "A", x)},
		},
		{
			"typed again with another price", warn, "retyped 1",
			rows{row(1, "B", contract(price))},
			records{record(1, "A", x)},
		},
		{
			"typed again by somebody else and with another date", warn, "retyped 1",
			rows{row(1, "B", contract(date, issuer, price))},
			records{record(1, "A", x)},
		},
		{
			"typed again with another quantity", warn, "retyped 1",
			rows{row(1, "B", contract(quantity, issuer, price))},
			records{record(1, "A", x)},
		},
		{
			"typed again for another harvest", warn, "retyped 1",
			rows{row(1, "B", contract(harvest, issuer))},
			records{record(1, "A", x)},
		},
		{
			"a number of another document, and its content with one other field elsewhere", warn, "retyped 1",
			rows{row(1, "B", contract(harvest))},
			records{record(1, "A", x, z)},
		},
		{
			"typed again with another quantity and date", warn, "goes",
			rows{row(1, "B", contract(quantity, date))},
			records{record(1, "A", x)},
		},
		{
			"typed again as it was amended", warn, "retyped 1",
			rows{row(1, "B", contract(quantity, date))},
			records{with(record(1, "A", x), newest(contract(quantity, date, issuer)))},
		},
		{
			"renumbered, and the number given again", warn, "retyped 1",
			rows{row(1, "B", contract(date))},
			records{record(1, "A", x, z)},
		},
		{
			"renumbered, and the number given to what cannot be compared", warn, "retyped 1",
			rows{row(1, "B", contract(date))},
			records{record(1, "A", x, none)},
		},
		{
			"the number given to the same producer, the same content elsewhere", warn, "retyped 1",
			rows{row(1, "B", contract(price))},
			records{record(1, "A", x, contract(quantity))},
		},
		{
			"amended, and a later one of the same size", warn, "goes",
			rows{row(1, "B", contract(date))},
			records{record(1, "A", x, contract(quantity))},
		},
		{
			"amended beyond recognition, and what was sent elsewhere with another issuer", warn, "retyped 1",
			rows{row(1, "B", contract(issuer))},
			records{record(1, "A", x, contract(quantity, date))},
		},
		{
			"amended beyond recognition, and held since", warn, "retyped 1",
			rows{row(1, "B", contract(issuer), heldFor(1))},
			records{with(record(1, "A", x, contract(quantity, date)), newest(contract(quantity, date)))},
		},
		{
			"amended long ago, and what was sent under another key", warn, "retyped 1",
			rows{row(1, "B", x)},
			records{with(record(1, "A", x, contract(quantity)), newest(contract(quantity)))},
		},
		{
			"amended long ago, and as it is now under another key", warn, "goes 1 twin",
			rows{row(1, "B", contract(quantity))},
			records{with(record(1, "A", x, contract(quantity)), newest(contract(quantity)))},
		},
		{
			"its price was amended, and as it is now under another key", warn, "goes 1 twin",
			rows{row(1, "B", contract(price))},
			records{record(1, "A", x, contract(price))},
		},
		{
			"of two rows under the key one is its own", warn, "goes 1 twin",
			rows{row(1, "B", x)},
			records{record(1, "A", x, z, x)},
		},
		{
			"the mapping was corrected, the cells are equal", warn, "retyped 1",
			rows{row(1, "B", mappedAnew(x))},
			records{record(1, "A", x)},
		},
		{
			"no prints equal nothing", warn, "goes",
			rows{row(1, "B", none)},
			records{record(1, "A", none)},
		},
		{
			"each record explains one row", warn, "retyped 1; goes",
			rows{row(1, "B", x), row(2, "C", x)},
			records{record(1, "A", x)},
		},
		{
			"two records explain two rows", warn, "retyped 1 [1 2]; retyped 2 [2 1]",
			rows{row(1, "B", x), row(2, "C", x)},
			records{record(1, "A", x), record(2, "D", x)},
		},
		{
			"exactly equal cells explain a record", warn, "goes; retyped 1",
			rows{row(1, "B", contract(date)), row(2, "C", x)},
			records{record(1, "A", x)},
		},
		{
			"all that are alike are held", warn, "retyped 1; retyped 1",
			rows{row(1, "B", contract(date)), row(2, "C", contract(issuer))},
			records{record(1, "A", x)},
		},
		{
			"a row of two jobs explains one record", warn, "retyped 2 [2 1] twin",
			rows{row(1, "D", x)},
			records{record(1, "A", x), record(2, "B", x), record(3, "C", z, x, x)},
		},
		{
			"a row that waits explains a record", warn, "goes; retyped 1 twin",
			rows{row(1, "B", x), row(2, "C", x, waits)},
			records{record(1, "A", x)},
		},
		{
			"two numbers exchanged, and one more row", warn, "goes 2 twin",
			rows{row(1, "C", x)},
			records{record(1, "A", x, z), record(2, "B", z, x)},
		},
		{
			"all rows moved up by one", warn, "retyped 2",
			rows{row(1, "C", x)},
			records{record(1, "A", z, contract(producer, date)), record(2, "B", x, z)},
		},
		{
			"a row that was sent twice, by order", warn, "retyped 1 [1 2]; retyped 2 [2 1]",
			rows{row(1, "B", x), row(2, "C", x)},
			records{record(1, "A", x), with(record(2, "A", x), func(r *trade.Record) { r.Row.ID = 101 })},
		},
		{
			"what was sent and what it became are two contents", warn, "retyped 1; retyped 1",
			rows{row(1, "B", contract(date)), row(2, "C", x)},
			records{with(record(1, "A", x), newest(contract(date)))},
		},
		{
			"what it became is there, and what was sent with another price", warn, "retyped 1; retyped 1",
			rows{row(1, "B", contract(date)), row(2, "C", contract(price))},
			records{with(record(1, "A", x), newest(contract(date)))},
		},
		{
			"the row of a key that was sent twice stands for one record only", warn, "retyped 3 twin",
			rows{row(1, "C", x)},
			records{
				record(1, "A", x, x),
				with(record(2, "A", z, x), func(r *trade.Record) { r.Row.ID = 101 }),
				record(3, "D", x),
			},
		},
		{
			"a person said that it is another one", warn, "goes",
			rows{row(1, "B", x, different(1))},
			records{record(1, "A", x)},
		},
		{
			"a person said so of one of two", warn, "retyped 2",
			rows{row(1, "B", contract(date), different(1))},
			records{record(1, "A", x), record(2, "D", x)},
		},
		{
			"the strongest likeness is named", warn, "retyped 2 [2 1]",
			rows{row(1, "B", contract(price))},
			records{record(1, "A", contract(date)), record(2, "D", x)},
		},
	})
}

func TestHeld(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			"held, and edited meanwhile", warn, "retyped 1",
			rows{row(1, "B", z, heldFor(1))},
			records{record(1, "A", x)},
		},
		{
			"held, and the record has its row again", warn, "goes",
			rows{row(1, "B", z, heldFor(1))},
			records{record(1, "A", x, x)},
		},
		{
			"held, and a person said that it is another one", warn, "goes",
			rows{row(1, "B", z, heldFor(1), different(1))},
			records{record(1, "A", x)},
		},
		{
			"held first, and an equal one typed", warn, "goes; retyped 1 twin",
			rows{row(1, "B", x), row(2, "C", x, heldFor(1))},
			records{record(1, "A", x)},
		},
		{
			"held for one record, and its key has another", warn, "other_job 2; retyped 1 [1 2]",
			rows{row(1, "B", x, heldFor(1)), row(2, "C", x)},
			records{record(1, "A", x), record(2, "B", x)},
		},
		{
			"what a held row was corrected to, under another key", warn, "retyped 1",
			rows{row(2, "C", contract(quantity, date))},
			records{sighted(record(1, "A", x), 1, contract(harvest, quantity, date))},
		},
		{
			"and the record has its row again", warn, "goes",
			rows{row(2, "C", contract(quantity, date))},
			records{sighted(record(1, "A", x, x), 1, contract(harvest, quantity, date))},
		},
		{
			"and a person said that it is another one", warn, "goes",
			rows{row(2, "C", contract(quantity, date), different(1))},
			records{sighted(record(1, "A", x), 1, contract(harvest, quantity, date))},
		},
		{
			"a held row is not like what it holds itself", warn, "retyped 2",
			rows{row(1, "B", z, heldFor(2))},
			records{sighted(record(1, "A", x, x), 1, z), record(2, "D", x)},
		},
		{
			"held, and may be the row of two records: it explains one", warn, "retyped 1 [1 2]; retyped 2 [2 1]",
			rows{row(1, "B", x, heldFor(1)), row(2, "C", x)},
			records{sighted(record(1, "A", x), 1, x), sighted(record(2, "D", x), 1, x)},
		},
		{
			"held for what another row has exactly", warn, "retyped 1; retyped 1",
			rows{row(1, "B", x), row(2, "C", contract(date), heldFor(1))},
			records{record(1, "A", x)},
		},
	})
}

func TestTakenOut(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			"taken out, renumbered", warn, "retyped 1",
			rows{row(1, "B", x)},
			records{certain(record(1, "A", x), trade.LeftOut)},
		},
		{
			"taken out, renumbered and spelled otherwise", warn, "retyped 1",
			rows{row(1, "B", contract(issuer, price))},
			records{certain(record(1, "A", x, z), trade.LeftOut)},
		},
		{
			"taken out, typed again with the right quantity", warn, "goes",
			rows{row(1, "B", contract(quantity))},
			records{certain(record(1, "A", x), trade.LeftOut)},
		},
		{
			"taken out, and its row stands", hold, "goes",
			rows{row(1, "B", x)},
			records{certain(record(1, "A", x, x), trade.LeftOut)},
		},
		{
			"cancelled in the ERP, and typed again", warn, "retyped 1",
			rows{row(1, "B", x)},
			records{cancelled(record(1, "A", x))},
		},
		{
			"cancelled in the ERP, and typed again with another price and issuer", warn, "retyped 1",
			rows{row(1, "B", contract(issuer, price))},
			records{cancelled(record(1, "A", x))},
		},
		{
			"cancelled in the ERP, and another one of the next day", warn, "goes",
			rows{row(1, "B", contract(date))},
			records{cancelled(record(1, "A", x))},
		},
		{
			"cancelled in the ERP, and another one of the day", warn, "goes",
			rows{row(1, "B", contract(quantity))},
			records{cancelled(record(1, "A", x))},
		},
		{
			"taken out, amended, and its content under another key", warn, "retyped 1",
			rows{row(1, "B", x)},
			records{certain(record(1, "A", x, contract(quantity)), trade.LeftOut)},
		},
	})
}

func TestTwins(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			"a twin, warn", warn, "goes 1 twin",
			rows{row(1, "B", x)},
			records{record(1, "A", x, x)},
		},
		{
			"a twin, hold", hold, "twin 1 twin",
			rows{row(1, "B", x)},
			records{record(1, "A", x, x)},
		},
		{
			"a twin, off", modes(trade.Off, identity.Hold), "goes",
			rows{row(1, "B", x)},
			records{record(1, "A", x, x)},
		},
		{
			"a near twin, warn", modes(identity.Hold, trade.Warning), "goes 1 near only",
			rows{row(1, "B", contract(issuer))},
			records{record(1, "A", x, x)},
		},
		{
			"a near twin, hold", hold, "twin 1 near only",
			rows{row(1, "B", contract(price))},
			records{record(1, "A", x, x)},
		},
		{
			"a near twin, off", modes(identity.Hold, trade.Off), "goes",
			rows{row(1, "B", contract(price))},
			records{record(1, "A", x, x)},
		},
		{
			"another day is no twin", hold, "goes",
			rows{row(1, "B", contract(date))},
			records{record(1, "A", x, x)},
		},
		{
			"another quantity is no twin", hold, "goes",
			rows{row(1, "B", contract(quantity))},
			records{record(1, "A", x, x)},
		},
		{
			"a twin under a key that had another document", hold, "twin 1 twin",
			rows{row(1, "B", x)},
			records{record(1, "A", z, x)},
		},
		{
			"twins that go together", hold, "goes; twin r1 twin; twin r1 twin",
			rows{row(1, "B", x), row(2, "C", x), row(3, "D", x)},
			nil,
		},
		{
			"twins that go together, warn", warn, "goes; goes r1 twin; goes r1 twin",
			rows{row(1, "B", x), row(2, "C", x), row(3, "D", x)},
			nil,
		},
		{
			"a row that waits is no twin", hold, "goes; goes",
			rows{row(1, "B", x, waits), row(2, "C", x)},
			nil,
		},
		{
			"a twin that was declared another one", hold, "goes 1 twin",
			rows{row(1, "B", x, different(1))},
			records{record(1, "A", x, x)},
		},
		{
			"a twin whose row was declared another one", hold, "goes 1 twin",
			rows{row(3, "B", x, apart(101))},
			records{record(1, "A", x, x)},
		},
		{
			"a twin without a record that was declared another one", hold, "goes; goes r1 twin",
			rows{row(1, "B", x), row(2, "C", x, apart(1))},
			nil,
		},
		{
			"a twin from last year", holdNobody, "goes 1 twin",
			rows{row(1, "B", x)},
			records{record(1, "A", x, x)},
		},
		{
			"a twin from last year and a near one of today", holdNear102, "twin 2 twin near only",
			rows{row(1, "B", x)},
			records{record(1, "A", x, x), record(2, "C", contract(price), contract(price))},
		},
		{
			"of several twins the one that counts", holdNear102, "twin 2 twin",
			rows{row(1, "B", x)},
			records{record(1, "A", x, x), record(2, "C", x, x)},
		},
	})
}

func TestTwoJobs(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{
			"a row of another job", warn, "goes 1 twin two-jobs",
			rows{row(1, "B", x)},
			records{with(record(1, "A", x, x), ofBranch)},
		},
		{
			"a row of another job with other cells", warn, "goes 1 near only two-jobs",
			rows{row(1, "B", contract(price))},
			records{with(record(1, "A", x, x), ofBranch)},
		},
		{
			"a row of another job that left", warn, "retyped 1",
			rows{row(1, "B", z)},
			records{with(record(1, "A", z), ofBranch)},
		},
		{
			"a row of another job in the same pass", warn, "goes two-jobs; goes r1 twin two-jobs",
			rows{row(1, "B", x), row(2, "C", x, branch)},
			nil,
		},
		{
			"a row of another job with the same identifying fields", warn, "goes; goes r1 near only",
			rows{row(1, "B", x), row(2, "C", contract(issuer), branch)},
			nil,
		},
		{
			"held by the key of another job, then renumbered", warn, "retyped 1",
			rows{row(1, "B", z)},
			records{record(1, "A", x, x), with(record(1, "A", z), heldInBranch)},
		},
	})
}

func TestChildrenWaitWhileTheirRecordIsMisplaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		record identity.Candidate
		under  []identity.Candidate // the other records under its key
		want   bool
	}{
		{"as it was sent", record(1, "A", x, x), nil, false},
		{"amended, and not read yet", record(1, "A", x, contract(quantity)), nil, true},
		{"amended", with(record(1, "A", x, contract(quantity)), newest(contract(quantity))), nil, false},
		{"left the ERP", record(1, "A", x), nil, false},
		{"another producer", record(1, "A", x, z), nil, true},
		{"another producer, acknowledged", with(record(1, "A", x, z), newest(z)), nil, false},
		{"what cannot be compared", record(1, "A", x, identity.Content{}), nil, true},
		{"a record of which nothing is known", record(1, "A", identity.Content{}, z), nil, false},
		{
			"amended to what another record is",
			with(record(1, "A", x, contract(quantity)), newest(contract(quantity))),
			[]identity.Candidate{record(2, "A", contract(quantity))},
			true,
		},
		{
			"amended to what another record was amended to",
			with(record(1, "A", x, contract(quantity)), newest(contract(quantity))),
			[]identity.Candidate{with(record(2, "A", x), newest(contract(quantity)))},
			false,
		},
		{
			"amended to what a record of another space is",
			with(record(1, "A", x, contract(quantity)), newest(contract(quantity))),
			[]identity.Candidate{with(record(2, "A", contract(quantity)), func(r *trade.Record) { r.Space = "branch" })},
			false,
		},
		{
			"as it was sent, beside another record", record(1, "A", x, x),
			[]identity.Candidate{record(2, "A", x)},
			false,
		},
		{
			"amended to what a person took out",
			with(record(1, "A", x, contract(quantity)), newest(contract(quantity))),
			[]identity.Candidate{certain(record(2, "A", contract(quantity)), trade.LeftOut)},
			false,
		},
		{
			"amended, beside a record of another document", with(record(1, "A", x, contract(quantity)), newest(contract(quantity))),
			[]identity.Candidate{record(2, "A", z)},
			false,
		},
		{"its own row stands twice", record(1, "A", x, x, x), nil, false},
		{"beside its own row stands another document", record(1, "A", x, z, x), nil, true},
		{"beside its own row stands another one of that producer", record(1, "A", x, x, contract(quantity)), nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var under []*trade.Record
			for i := range c.under {
				under = append(under, &c.under[i].Record)
			}
			if got := identity.Misplaced(&c.record.Record, c.record.Now, under); got != c.want {
				t.Errorf("misplaced: %v, expected %v", got, c.want)
			}
		})
	}
}

// What a record that lost its row was sent with, became since, or was seen as, is found under another key;
// no row that still has its record is, and nothing for a record whose row stands.
func TestFound(t *testing.T) {
	t.Parallel()
	became := contract(quantity)
	for _, e := range []struct {
		name  string
		of    identity.Candidate
		row   identity.ERPRow
		found bool
	}{
		{"as it was sent", record(1, "A", x), row(7, "B", x), true},
		{"as it became before it lost its row", with(record(1, "A", x), newest(became)), row(7, "B", became), true},
		{"as another row was seen", sighted(record(1, "A", x), 7, became), row(7, "B", became), true},
		{"another document", record(1, "A", x), row(7, "B", z), false},
		{"its own row", with(record(1, "A", x), own), row(1, "B", x), false},
		{"its row stands", record(1, "A", x, x), row(7, "B", x), false},
	} {
		got := identity.Found([]identity.Candidate{e.of}, []identity.ERPRow{e.row})
		if id, found := got[1]; found != e.found || found && id != e.row.ID {
			t.Errorf("%s: %v", e.name, got)
		}
	}
}
