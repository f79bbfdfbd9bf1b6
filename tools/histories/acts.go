package histories

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

var chosen = flag.String("acts", "", "acts beside those that are on, separated by commas: NAME, -NAME, only:NAME or all")

// act is something that people, the ERP, the platform or a server do, which needs several steps in
// their order. Every other history is about one act: it begins with one of the act's scenes, with
// steps of everyday between.
type act struct {
	name  string
	on    bool // without -acts
	rare  bool // it takes a second or two
	about string
	setup func(s *setup, random *rand.Rand) // what it needs; nil: nothing
	// the names of steps; with "?" behind: perhaps; "…": any step
	scenes []string
}

// attacks is the table of acts. An act that is off shows a fault that is not corrected yet; -acts
// switches it on.
var attacks = []act{
	{
		name: "amend", on: true, about: "a contract is amended, what hangs on it is typed again, or all of it is renumbered",
		setup: withChildren,
		scenes: []string{
			"sync, edit contract, sync?, new child?, sync, renumber with children, sweep, adopt rightly, sync",
			"sync, edit contract, sync?, type child again, sync, sweep",
			"sync, renumber with children, sweep, adopt rightly, edit contract, sync, renumber with children, sweep, adopt rightly, sync",
		},
	},
	{
		name: "mapping", on: true, about: "harvest, wallet or time zone are corrected, and rows are typed again",
		setup: perhapsChildren,
		scenes: []string{
			"sync, correct, sync?, type child again, sync, sweep",
			"sync, correct, sync?, type again, sync, sweep",
			"sync, correct, sync?, renumber with children, sweep, adopt rightly, sync",
			"sync, edit contract, sync?, correct, type again, sync",
		},
	},
	{
		name: "farm", on: true, about: "the farm or CAR of a share or delivery is filled in, and it is typed again in the same edit",
		setup:  func(s *setup, r *rand.Rand) { withChildren(s, r); s.Farms = true },
		scenes: []string{"sync, type child again, sync, sweep", "sync, type child again, sync, type child again, sweep"},
	},
	{
		name: "typed otherwise", on: true, about: "a contract is typed again, and its issuer, unit, date or amount is otherwise",
		scenes: []string{
			"sync, type otherwise, sync, sweep", "answer lost, sync, type otherwise, sync",
			"sync, type otherwise, sweep, adopt rightly, sync, type otherwise, sync",
		},
	},
	{
		name: "recycle", on: true, about: "a number is given to a contract of another producer or product, and has tickets",
		setup: func(s *setup, r *rand.Rand) { withChildren(s, r); s.Recycled = true },
		scenes: []string{
			"sync, recycle otherwise, new child, sync, sweep", "sync, recycle otherwise, sweep, new child, sync",
			"sync, recycle otherwise, new child, sync, acknowledge, sync",
		},
	},
	{
		name: "two jobs", on: true, about: "two jobs read one table, under other keys or in two key spaces",
		setup: func(s *setup, r *rand.Rand) {
			s.Rows, s.Child, s.Positional, s.Twice = 12, "", false, 1+r.IntN(2)
		},
		scenes: []string{"dry run?, sync, sync, sweep", "sync, new?, sync, sweep", "one job, sync, sweep"},
	},
	{
		name: "weak refusal", on: true, about: "a page of something on the way refuses a row that was made, or was not",
		setup: perhapsChildren,
		scenes: []string{
			"weak refusal, sync, type again, sync, sweep", "weak refusal, sync, person?, type again, sync",
			"split job, weak refusal, sync, other type, sync, sweep", "weak refusal, sync, in front, sync",
			"weak refusal, sync, rebuild, type again, sync",
		},
	},
	{
		name: "exists", on: true, about: "the platform says that a row exists, a person dismisses it, and it gets another key",
		setup: perhapsChildren,
		scenes: []string{
			"is made and said to exist, sync, dismiss, type again, sync, sweep",
			"split job, is made and said to exist, sync, dismiss, other type, sync, sweep",
			"is made and said to exist, sync, dismiss, rebuild?, in front, sync, sweep",
			"is made and said to exist, sync, dismiss, restart?, type again, sync, adopt rightly, sync",
		},
	},
	{
		name: "typed by hand", on: true, about: "a person types a contract on the platform, dismisses its row, and it gets another key",
		scenes: []string{
			"type by hand, type again, sync, sweep", "sync, new, type by hand, type again, sync, rebuild?, sweep",
			"new, type by hand, in front, sync, sweep",
		},
	},
	{
		name: "adopt", on: true, about: "the record of a row is given to it under its new key, once and again",
		setup: perhapsChildren,
		scenes: []string{
			"sync, type again, sync, adopt rightly, sync, type again, sync, adopt rightly, rebuild?, sync",
			"sync, in front, sweep, adopt rightly, sync, delete and renumber, sweep",
			"answer lost, sync, type again, sync, adopt rightly, restart?, sync",
		},
	},
	{
		name: "copies", on: true, about: "the ledger is moved, and an old copy of it is put back",
		setup: func(s *setup, r *rand.Rand) { perhapsChildren(s, r); s.Postgres = s.Postgres && r.IntN(2) == 0 },
		scenes: []string{
			"sync, back up, new, sync, put back, sync, sweep", "sync, move ledger, sync, old ledger, sync",
			"back up, sync, move ledger, sync, old ledger, sync", "sync, new, back up, move ledger, new, sync, old copy, sync",
		},
	},
	{
		name: "moved", on: true, about: "a ledger is moved, and an old copy of it is put back, with the old configuration",
		setup: func(s *setup, r *rand.Rand) { s.Postgres = false },
		scenes: []string{
			"back up, sync, move ledger, new, sync, old copy, sync", "sync, back up, new, move ledger, sync, old copy",
			"sync, new, back up, move ledger, sync, type again, sync, old copy, sync",
		},
	},
	{
		name: "put back", on: true, about: "a copy of the ledger's database in PostgreSQL is put back; one host uses it, or two",
		setup: func(s *setup, r *rand.Rand) { perhapsChildren(s, r); s.Postgres = true },
		scenes: []string{
			"sync, snapshot, new, sync, back to snapshot, sync, sweep", "snapshot, sync, back to snapshot, sync",
			"sync, snapshot, type again, sync, adopt rightly, back to snapshot, sync",
			"sync, snapshot, other host, new, sync, other host?, back to snapshot, sync, other host, sync",
		},
	},
	{
		name: "machine put back", rare: true,
		about: "the machine of PostgreSQL is put back, and nobody tells; one host uses it, or two",
		setup: func(s *setup, r *rand.Rand) { perhapsChildren(s, r); s.Postgres, s.Server = true, true },
		scenes: []string{
			"sync, snapshot, new, sync, back to snapshot, sync, sweep",
			"sync, snapshot, other host, new, sync, other host, sync, back to snapshot, sync, other host, sync",
			"sync, other host, snapshot, sync, new, sync, other host, sync, back to snapshot, sync, other host, sync",
		},
	},
	{
		name: "fails over", on: true, rare: true,
		about: "a replica takes over, which may lack something, and the old server comes back",
		setup: func(s *setup, r *rand.Rand) {
			perhapsChildren(s, r)
			s.Postgres, s.Server, s.Replica = true, true, true
		},
		scenes: []string{
			"sync, fail over, new, sync, sweep", "sync, replica stops, new, sync, fail over, sync, sweep",
			"sync, other host, sync, fail over, new, sync, other host, sync",
			"sync, fail over, new, sync, come back, sync, sweep",
			"sync, other host, fail over, new, sync, other host, come back, sync, other host, sync",
			"sync, replica stops, other host, new, sync, fail over, sync, other host, sync",
		},
	},
	{
		name: "double key", on: true, about: "two rows have one key, exactly as it is",
		setup: func(s *setup, r *rand.Rand) { perhapsChildren(s, r); s.ChangedAt, s.Bridge = false, true },
		scenes: []string{
			"sync, same number, sync, sweep", "same number, sweep, delete, sweep",
			"sync, same number, sweep, edit, sweep",
		},
	},
	{
		name: "blanks", on: true, about: "two rows have one key, which the ERP writes in two ways",
		setup: func(s *setup, r *rand.Rand) { perhapsChildren(s, r); s.ChangedAt, s.Bridge = false, true },
		scenes: []string{
			"sync, same number and a blank, sync, sweep", "same number and a blank, sweep, delete, sweep",
			"sync, same number and a blank, sweep, edit, sweep", "sync, a blank behind, sync, sweep",
		},
	},
	{
		name: "double key in a window", on: true, about: "two rows have one key, and only the newer one is in the window",
		setup: func(s *setup, r *rand.Rand) { perhapsChildren(s, r); s.ChangedAt, s.Bridge = true, true },
		scenes: []string{
			"sync, same number, sync, sync", "sync, sweep, same number, sync, sweep, sync", "sync, same number, sweep, sync",
		},
	},
	{
		name: "code corrected", on: true, about: "a code of the de-para is corrected while a pass sends, or between two",
		setup: func(s *setup, r *rand.Rand) { s.Coded, s.Corrected, s.Rows, s.InFlight = true, true, 3+s.Rows, 1 },
		scenes: []string{
			"correct code while sending, sweep", "sync, correct code, sync, sweep", "correct code while sending, type again, sync, sweep",
		},
	},
}

func withChildren(s *setup, random *rand.Rand) {
	s.Positional, s.ChildPositional, s.Cascade = false, false, true
	if s.Child == "" {
		s.Child = []trade.Kind{trade.Deliveries, trade.Traceability}[random.IntN(2)]
	}
}

func perhapsChildren(s *setup, random *rand.Rand) {
	if random.IntN(2) == 0 {
		withChildren(s, random)
	}
}

// selected returns the acts that histories may be about.
func selected() (out []act) {
	var names []string
	if *chosen != "" {
		names = strings.Split(*chosen, ",")
	}
	for _, n := range names {
		name := strings.TrimPrefix(strings.TrimPrefix(n, "only:"), "-")
		if n != "all" && !slices.ContainsFunc(attacks, func(a act) bool { return a.name == name }) {
			panic(fmt.Sprintf("there is no act %q", name))
		}
	}
	only := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "only:") })
	for _, a := range attacks {
		on := (a.on || slices.Contains(names, a.name) || slices.Contains(names, "all")) && !only
		on = on || slices.Contains(names, "only:"+a.name)
		if on && !slices.Contains(names, "-"+a.name) {
			out = append(out, a)
		}
	}
	return out
}

// play returns the steps of one of an act's scenes.
func (a act) play(random *rand.Rand, draw func() step) (out []step) {
	for name := range strings.SplitSeq(a.scenes[random.IntN(len(a.scenes))], ", ") {
		name, perhaps := strings.CutSuffix(name, "?")
		if perhaps && random.IntN(2) == 0 {
			continue
		}
		if random.IntN(6) == 0 {
			out = append(out, draw())
		}
		if name == "sync" && random.IntN(4) == 0 {
			name = "sweep"
		}
		out = append(out, step{name, random.IntN(60), random.IntN(60)})
	}
	return out
}

// scenery are the steps of which scenes consist, beside those of everyday.
func scenery() []op {
	contracts := func(change func(r *run, l *line, a, b int) string) func(r *run, a, b int) string {
		return func(r *run, a, b int) string {
			l := at(&r.contracts, a)
			if l == nil {
				return ""
			}
			text := fmt.Sprintf("%v: %s", l.business, change(r, l, a, b))
			r.committed(false)
			return text
		}
	}
	children := func(change func(r *run, l *line, a, b int) string) func(r *run, a, b int) string {
		return func(r *run, a, b int) string {
			l := at(&r.children, a)
			if l == nil {
				return ""
			}
			text := fmt.Sprintf("%v: %s", l.business, change(r, l, a, b))
			r.committed(false)
			return text
		}
	}
	return []op{
		{"edit contract", 0, false, contracts(func(r *run, l *line, a, b int) string {
			r.before[l.id] = l.business
			l.amount += 3000
			return "another amount"
		})},
		{"renumber with children", 0, false, contracts(func(r *run, l *line, a, b int) string {
			l.num = free(r.contracts)
			for i := range r.children {
				if r.children[i].parent == l.id {
					r.children[i].num = free(r.children)
				}
			}
			return "is renumbered, and what hangs on it"
		})},
		{"new child", 0, true, func(r *run, a, b int) string {
			if r.Child == "" {
				return ""
			}
			r.children = append(r.children, r.thing(&r.children, a))
			r.committed(false)
			return "a new row"
		}},
		{"type child again", 0, false, children(func(r *run, l *line, a, b int) string {
			l.num, l.otherwise = free(r.children), true
			l.price += b % 3
			if b%5 == 0 {
				l.slip++
			}
			return "is deleted and typed again, perhaps with another place, or a corrected amount"
		})},
		{"type otherwise", 0, false, contracts(func(r *run, l *line, a, b int) string {
			l.num, l.otherwise = free(r.contracts), true
			switch b % 4 {
			case 0:
				l.issuer = 1 - l.issuer
				return "is typed again by somebody else"
			case 1:
				l.unit = 1 - l.unit
				return "is typed again in another unit"
			case 2:
				l.slip++
				return "is typed again with another amount"
			default:
				l.day = (l.day + 1) % len(days)
				return "is typed again with another date"
			}
		})},
		{"correct", 0, false, func(r *run, a, b int) string {
			switch a % 3 {
			case 0:
				r.harvest = 1 - r.harvest
				return "the harvest of the configuration is " + harvests[r.harvest]
			case 1:
				r.wallet = 1 - r.wallet
				return fmt.Sprintf("the wallet of the configuration is %d", r.wallet)
			default:
				r.otherZone()
				return "the time zone of the configuration is " + r.zone.String()
			}
		}},
		{"recycle otherwise", 0, false, contracts(func(r *run, l *line, a, b int) string {
			num := l.num
			*l = r.thing(&r.contracts, 1)
			l.num = num
			if b%2 == 0 {
				l.producer = 1
			} else {
				l.product = "MILHO"
			}
			if b%3 > 0 {
				r.children = slices.DeleteFunc(r.children,
					func(c line) bool { return text(c.ref) == text(l.spelled()) })
			}
			return fmt.Sprintf("another one gets its number: %v", l.business)
		})},
		{"weak refusal", 0, false, func(r *run, a, b int) string {
			page := fmt.Sprintf("status=%d,type=text/html", []int{400, 413, 422}[b%3])
			if b%4 > 0 {
				page += ",commit"
			}
			return r.faultWith(a, page, "<html><body>blocked</body></html>")
		}},
		{"is made and said to exist", 0, false, func(r *run, a, b int) string {
			return r.fault(a*2, "status=409,commit", "status=409,commit")
		}},
		{"dismiss", 0, false, func(r *run, a, b int) string {
			return r.dismisses(a,
				func(e trade.Entry) bool { return e.State == trade.Held && e.Cause == trade.CauseExists })
		}},
		{"type by hand", 0, false, (*run).typeByHand},
		{"adopt rightly", 0, true, (*run).adoptRightly},
		{"back up", 0, true, (*run).backUp},
		{"put back", 0, true, (*run).putBack},
		{"move ledger", 0, true, (*run).moveLedger},
		{"old ledger", 0, true, func(r *run, a, b int) string { return r.oldLedger(false) }},
		{"old copy", 0, true, func(r *run, a, b int) string { return r.oldLedger(true) }},
		{"snapshot", 0, true, (*run).snapshot},
		{"back to snapshot", 0, true, (*run).backToSnapshot},
		{"other host", 0, true, (*run).changeHost},
		{"replica stops", 0, true, (*run).replicaStops},
		{"fail over", 0, true, (*run).failOver},
		{"come back", 0, true, (*run).comeBack},
		{"same number", 0, false, sameNumber(0)},
		{"same number and a blank", 0, false, func(r *run, a, b int) string { return sameNumber(1+b%3)(r, a, b) }},
		{"a blank behind", 0, false, edit(func(r *run, lines *[]line, a, b int) string {
			return typed(at(lines, a), func(l *line) { l.tail = (l.tail + 1 + b%3) % len(tails) },
				"its number is written in another way")
		})},
		{"correct code", 0, false, func(r *run, a, b int) string {
			r.walletOf = 1 - r.walletOf
			return r.codes(anyCode)
		}},
		{"correct code while sending", 0, false, func(r *run, a, b int) string {
			for range 2 {
				r.sign(a)
			}
			if !r.Coded {
				return ""
			}
			at := int(r.posts.Load()) + 1 + b%3
			other, done := 1-r.walletOf, false
			correct := func(n int) {
				if n == at {
					done = true
					r.imported(wallets[other], anyCodes())
				}
			}
			r.atPost.Store(&correct)
			text := r.pass(engine.Options{})
			r.atPost.Store(nil)
			if done {
				r.walletOf = other
			}
			return fmt.Sprintf("(corrected %v) %s", done, text)
		}},
	}
}

func sameNumber(tail int) func(r *run, a, b int) string {
	return edit(func(r *run, lines *[]line, a, b int) string {
		l := at(lines, a)
		if l == nil {
			return ""
		}
		other := r.thing(lines, b)
		other.num, other.style, other.tail = l.num, l.style, tail
		if text(other.spelled()) != text(l.spelled()) {
			other.tail = 0
		}
		*lines = append(*lines, other)
		return fmt.Sprintf("a new row, %v, has the number of %v", other.business, l.business)
	})
}

// dismisses makes a person dismiss one of some rows.
func (r *run) dismisses(a int, which func(trade.Entry) bool) string {
	r.t.Helper()
	var open []trade.Entry
	for _, e := range r.entries("") {
		if r.configured(e.Job) && which(e) {
			open = append(open, e)
		}
	}
	if len(open) == 0 {
		return ""
	}
	e := open[a%len(open)]
	step := r.does(func(people *acts.Acts) (acts.RowPlan, error) {
		return people.Dismiss(r.t.Context(), e.Job, []string{e.Key})
	})
	return fmt.Sprintf("%s %s, which was %s (%s): %v %s", e.Job, e.Key, e.State, e.Cause, step.Done, step.Refused)
}

func (r *run) configured(name string) bool {
	return slices.ContainsFunc(r.jobs, func(j job) bool { return j.name == name })
}

// does plans and does an act of a person on one row.
func (r *run) does(plan func(*acts.Acts) (acts.RowPlan, error)) acts.RowStep {
	r.t.Helper()
	people := r.acts()
	p, err := plan(people)
	if err == nil {
		p, err = people.Do(r.t.Context(), p, maria)
	}
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	return p.Steps[0]
}

// typeByHand lets rows be recorded without sending. A person types one of them on the platform, and
// dismisses its row.
func (r *run) typeByHand(a, _ int) string {
	r.t.Helper()
	r.sign(a)
	text := r.pass(engine.Options{RecordOnly: true})
	var open []trade.Entry
	for _, e := range r.entries("") {
		if r.configured(e.Job) && e.Sends == trade.OrderCommitments && e.State == trade.Pending && e.Attempts == 0 &&
			!r.there(e) { // whoever types a contract looks for it first
			open = append(open, e)
		}
	}
	if len(open) == 0 {
		return text
	}
	e := open[a%len(open)]
	step := r.does(func(people *acts.Acts) (acts.RowPlan, error) {
		return people.Dismiss(r.t.Context(), e.Job, []string{e.Key})
	})
	if !step.Done {
		return text + fmt.Sprintf("%s is not dismissed: %s", e.Key, step.Refused)
	}
	id, err := r.api.TypeCommitment(e.Payload, r.clock.Now())
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	fields := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(e.Payload))
	d.UseNumber()
	if d.Decode(&fields) != nil {
		r.t.Fatalf("%s is no object", e.Payload)
	}
	r.typed = append(r.typed, sandbox.Record{ID: id, Resource: sandbox.ResourceOrderCommitments, Fields: fields})
	r.typedOf[e.Key] = true
	return text + fmt.Sprintf("%s is typed on the platform, and dismissed", e.Key)
}

// there reports whether the platform has a record with the content of a row.
func (r *run) there(e trade.Entry) bool {
	records := r.records()
	for _, job := range r.jobs {
		for _, row := range r.rows(job) {
			if job.name == e.Job && row.key == e.Key &&
				slices.ContainsFunc(records, func(rec record) bool { return rec.business == row.business }) {
				return true
			}
		}
	}
	return false
}

// adoptRightly makes a person who knows better than the program give each held contract the record
// that it has, if it has one.
func (r *run) adoptRightly(_, _ int) (text string) {
	r.t.Helper()
	for _, j := range r.jobs {
		if j.kind != trade.OrderCommitments {
			continue
		}
		for _, row := range r.rows(j) {
			e, err := r.ledger.Entry(r.t.Context(), j.name, row.key)
			if err != nil || e.State != trade.Held {
				continue
			}
			id := r.recordOf(row)
			if id == "" {
				continue
			}
			step := r.does(func(people *acts.Acts) (acts.RowPlan, error) {
				return people.Adopt(r.t.Context(), j.name, row.key, acts.Adoption{ID: id, DespiteDifferences: true})
			})
			if step.Done { // the person has seen what differs
				r.acknowledged(e)
			}
			text += fmt.Sprintf("%s %s gets %s: %v %s; ", j.name, row.key, id, step.Done, step.Refused)
		}
	}
	return text
}

// recordOf returns the id of a record that was made of a row's thing and of no other one, and that
// no standing row has; or "".
func (r *run) recordOf(row keyed) string {
	owned := map[string]bool{}
	for _, e := range r.entries("") {
		if !e.Flags.Has(trade.MissingInERP) && !e.Flags.Has(trade.Replaced) {
			owned[e.RemoteID] = true
		}
	}
	for _, rec := range r.records() {
		theirs := 0
		for _, had := range r.ever {
			if had[rec.business] {
				theirs++
			}
		}
		if r.ever[row.id][rec.business] && theirs == 1 && !owned[rec.id] {
			return rec.id
		}
	}
	return ""
}

// otherZone corrects the time zone of the configuration.
func (r *run) otherZone() {
	if r.zone == time.UTC {
		r.zone = saoPaulo
	} else {
		r.zone = time.UTC
	}
	if err := r.source.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.openERP()
}

var saoPaulo = time.FixedZone("America/Sao_Paulo", -3*60*60)
