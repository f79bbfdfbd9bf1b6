package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// fault is a violation that the judge has found.
type fault struct{ kind, text string }

// contents is the set of business contents that something had at some time.
type contents map[business]bool

// tenure is a thing that had a key.
type tenure struct {
	kind  trade.Kind
	space int
	key   string
	id    int
}

// standing is a tenure with one of its contents.
type standing struct {
	tenure
	business
}

// order is a person's order to send again: one more record may result from the row under a key,
// with a content that the row has had since then.
type order struct {
	kind  trade.Kind
	space int
	key   string
	contents
}

// judge records what was in the ERP, and what persons ordered.
type judge struct {
	r       *run
	most    map[business]map[int]int // maximum number of rows of a content at once, by the contract of the rows
	tenures map[tenure]contents
	same    map[standing]tenure // for a row that was typed again unchanged, the tenure under its old key
	seen    map[int]sighting    // how the last sweep saw a thing
	ever    map[int]contents    // all contents that a thing has had
	judged  map[string]bool     // ids of the records that were judged
	dealt   map[tenure]contents // what persons have dealt with, by kind and key
	spaces  map[int]int         // the earlier name of a space
	orders  []order
	uneven  *fault

	typed    []sandbox.Record // contracts that a person typed on the platform
	typedOf  map[string]bool  // keys of their rows
	released bool             // a person has let a second job of the same contracts go
	remade   bool             // the ledger was made anew from its journal, which has no tables of codes
	unread   bool             // and no pass has read all rows since
	amended  contents         // of things that were typed otherwise, whose number another one had then
	edited   bool             // people typed between the reading of the last pass and its sending
	standing map[keyOf]bool   // rows at the last sweep
	twice    map[string]bool  // jobs of which a number has stood twice since then
}

// manyTwins is how many rows two jobs may both return without the second one being paused, and one
// more.
const manyTwins = 10

// keyOf is a row under its key, in a job.
type keyOf struct {
	job, key string
	id       int
}

// sighting is a line as a sweep saw it.
type sighting struct {
	job, mapping string
	tenure
	line
}

func newJudge(r *run) *judge {
	return &judge{
		r: r, most: map[business]map[int]int{}, tenures: map[tenure]contents{}, same: map[standing]tenure{},
		seen: map[int]sighting{}, ever: map[int]contents{}, judged: map[string]bool{},
		dealt: map[tenure]contents{}, spaces: map[int]int{}, typedOf: map[string]bool{}, twice: map[string]bool{},
		amended: contents{},
	}
}

// space returns the space of a job's keys, under the first name that it had.
func (j *judge) space(of job) int {
	if first, ok := j.spaces[of.space]; ok {
		return first
	}
	return of.space
}

// named records that a space was renamed, with all rows in it.
func (j *judge) named(now, was int) { j.spaces[now] = j.space(job{space: was}) }

// apart records that a person released a job whose identity differs from that of the job whose rows
// it has. Its keys are then those of another ERP, and what was edited under them is no longer
// known.
func (j *judge) apart(released job) {
	for _, former := range j.r.gone {
		cursor, err := j.r.ledger.Cursor(j.r.t.Context(), former.name)
		if err != nil {
			j.r.t.Fatal(err)
		}
		if was := cursor.Brakes.Identity; former.kind == released.kind && was != nil &&
			was.Space != identity(released.space) {
			delete(j.spaces, released.space)
			j.look()
		}
	}
}

// spaceOf returns the space of a job that is or was configured.
func (j *judge) spaceOf(name string) int {
	for _, of := range slices.Concat(j.r.jobs, j.r.gone) {
		if of.name == name {
			return j.space(of)
		}
	}
	return 0
}

// moved records that the rows of a job now belong to another job, and to its space.
func (j *judge) moved(from, to job) {
	if j.space(from) == j.space(to) {
		return
	}
	for at, had := range maps.Clone(j.tenures) {
		if at.kind != from.kind || at.space != j.space(from) {
			continue
		}
		at.space = j.space(to)
		if j.tenures[at] == nil {
			j.tenures[at] = contents{}
		}
		maps.Copy(j.tenures[at], had)
	}
}

// look records what is in the ERP, in the scope of any job. A row that two jobs return counts as
// one row, unless its keys are in two spaces, or two queries number it, each in its own way.
func (j *judge) look() {
	type family struct {
		business
		parent int
	}
	type reading struct {
		*line
		space int
		key   string // if the query numbers the row
	}
	seen, count := map[reading]bool{}, map[family]int{}
	for _, job := range j.r.jobs {
		for _, row := range j.r.rows(job) {
			if row.cancelled {
				continue
			}
			at := tenure{row.kind, j.space(job), row.key, row.id}
			if old, again := j.same[standing{at, row.business}]; again {
				at = old
			}
			if j.tenures[at] == nil {
				j.tenures[at] = contents{}
			}
			j.tenures[at][row.business] = true
			for _, o := range j.orders {
				if o.kind == row.kind && o.space == j.space(job) && o.key == row.key {
					o.contents[row.business] = true
				}
			}
			// The space as configured: a name that is used again means another space.
			now := reading{line: row.line, space: job.space}
			switch {
			// the second job waits for a person
			case j.r.Twice > 0 && j.r.Rows >= manyTwins && j.r.Brakes && !j.released:
				now.space = 0
			case job.other:
				now.key = row.key
			}
			if j.r.Positional && row.kind == trade.OrderCommitments {
				now.key = row.key
			}
			if seen[now] {
				continue
			}
			seen[now] = true
			of := family{row.business, row.parent}
			count[of]++
			if j.most[row.business] == nil {
				j.most[row.business] = map[int]int{}
			}
			j.most[row.business][row.parent] = max(j.most[row.business][row.parent], count[of])
		}
	}
	for _, l := range j.r.contracts {
		if j.ever[l.id] == nil {
			j.ever[l.id] = contents{}
		}
		j.ever[l.id][l.business] = true
	}
}

// swept records what a pass reads for a job. A row that is as the last sweep saw it, under a new
// key and in place of one that is gone, has only been typed again.
func (j *judge) swept(job job, complete bool) {
	mapping := fmt.Sprint(j.r.unmapped)
	rows, stands := j.r.rows(job), map[string]int{}
	for _, row := range rows {
		stands[row.key] = row.id
	}
	for id, was := range j.seen {
		// Another thing now has its key, and with it everything that is known about it.
		if now, taken := stands[was.key]; was.job == job.name && taken && now != id {
			delete(j.seen, id)
		}
	}
	for _, row := range rows {
		now := sighting{job.name, mapping, tenure{row.kind, j.space(job), row.key, row.id}, *row.line}
		now.num, now.style, now.tail, now.stamp = 0, 0, 0, ""
		was, ok := j.seen[row.id]
		at := was.tenure
		was.tenure = now.tenure
		if ok && was == now && at != now.tenure && at.space == now.space &&
			!j.recycled(at, row.business) {
			if old, again := j.same[standing{at, row.business}]; again {
				at = old
			}
			j.same[standing{now.tenure, row.business}] = at
			if j.tenures[at] == nil {
				j.tenures[at] = contents{}
			}
			delete(j.tenures[now.tenure], row.business)
			j.tenures[at][row.business] = true
		}
		delete(j.seen, row.id)
		if complete {
			j.seen[row.id] = now
		}
	}
}

// recycled reports whether a number had another producer or product before it had a content. This is
// another document by the rules, whoever edited it: it may go, and what was sent is shown as replaced.
func (j *judge) recycled(at tenure, now business) bool {
	for was := range j.tenures[at] {
		if was.producer != now.producer || was.product != now.product {
			return true
		}
	}
	return false
}

// ordered records that a person ordered a row to be sent although it may be on the platform.
func (j *judge) ordered(e trade.Entry) {
	j.orders = append(j.orders, order{e.Sends, j.spaceOf(e.Job), e.Key, contents{}})
	j.look()
}

// acknowledged records that a person has dealt with what a pass has seen under a key: one of the
// contents that it had until now. By this the person confirms that the record belongs to whatever
// was or is under the key.
func (j *judge) acknowledged(e trade.Entry) {
	at := tenure{kind: e.Sends, key: e.Key}
	if j.dealt[at] == nil {
		j.dealt[at] = contents{}
	}
	theirs := map[int]bool{} // rows
	for of, had := range j.tenures {
		if of.kind == e.Sends && of.key == e.Key {
			maps.Copy(j.dealt[at], had)
			theirs[of.id] = true
		}
	}
	for _, job := range j.r.jobs {
		for _, row := range j.r.rows(job) {
			if job.name == e.Job && row.key == e.Key {
				j.dealt[at][row.business], theirs[row.id] = true, true
			}
		}
	}
	for _, rec := range j.records() {
		if rec.kind != trade.OrderCommitments || rec.id != e.RemoteID && rec.id != e.MovedID {
			continue
		}
		for id := range theirs {
			if j.ever[id] != nil {
				j.ever[id][rec.business] = true
			}
		}
	}
}

// record is a record on the platform.
type record struct {
	id, parent, wallet string
	business
}

func (j *judge) records() (out []record) {
	made := j.r.api.CreatedOf(sandbox.ResourceOrderCommitments, sandbox.ResourceDeliveries,
		sandbox.ResourceTraceability)
	for _, rec := range append(made, j.typed...) {
		number := func(field string) int {
			n, _ := strconv.Atoi(string(rec.Fields[field].(json.Number)))
			return n
		}
		r := record{id: rec.ID}
		switch rec.Resource {
		case sandbox.ResourceOrderCommitments:
			r.wallet = rec.Fields["wallet_id"].(string)
			r.business = business{
				kind: trade.OrderCommitments, amount: number("amount"), product: rec.Fields["product"].(string),
				typ:      rec.Fields["order_type"].(string),
				producer: slices.Index(producers, rec.Fields["producer_id"].(string)),
			}
			for _, u := range units {
				if u.name == rec.Fields["unit_of_measurement"] {
					r.amount /= u.per
				}
			}
		case sandbox.ResourceDeliveries:
			r.parent, r.business = rec.Fields["contract_id"].(string),
				business{kind: trade.Deliveries, amount: number("delivered_volume")}
		default:
			r.parent, r.business = rec.Params["order_commitment_id"],
				business{kind: trade.Traceability, amount: number("allocated_volume")}
		}
		r.amount %= slip
		out = append(out, r)
	}
	return out
}

// judgePlatform compares the records on the platform with what was in the ERP.
func (j *judge) judgePlatform() *fault {
	if j.uneven != nil {
		return j.uneven
	}
	if f := j.generations(); f != nil {
		return f
	}
	records := j.records()
	contracts, count := map[string]business{}, map[[2]business]int{}
	for _, rec := range records {
		contract, there := contracts[rec.parent] // the zero value for a contract
		contracts[rec.id] = rec.business
		if !j.judged[rec.id] {
			j.judged[rec.id] = true
			if rec.parent != "" && (!there || j.misplaced(rec.business, contract, records)) {
				return &fault{
					"misplaced",
					fmt.Sprintf("%s %v hangs on the contract %v, which never was its own", rec.kind,
						rec.business, contract),
				}
			}
		}
		count[[2]business{rec.business, contract}]++
		if n, allowed := count[[2]business{rec.business, contract}], j.allowed(rec.business, contract); n > allowed {
			return &fault{"doubled", fmt.Sprintf("%s %v is on the platform %d times, and at most %d may be", rec.kind,
				rec.business, n, allowed)}
		}
	}
	if rec := j.unexplained(records); rec != nil {
		return &fault{
			"resent",
			fmt.Sprintf(
				"%s %v is on the platform, and whatever row it comes from went under another content and the same key",
				rec.kind, rec.business),
		}
	}
	return nil
}

// allowed returns how many records of a content the platform may have; for a child, below one
// contract.
func (j *judge) allowed(of, contract business) (n int) {
	own, others := 0, 0
	for parent, most := range j.most[of] {
		if parent == 0 || j.ever[parent][contract] {
			own += most
		}
		others += most
	}
	n = own
	if own == 0 { // nobody can know that its contract was not its own: see misplaced
		n = others
	}
	// Another document of its producer and product has its number: by the rules that is an amendment,
	// against which only what is equal counts.
	lines := *j.r.lines(of.kind)
	for _, l := range lines {
		took := func(o line) bool {
			return o.id != l.id && o.producer == l.producer && o.product == l.product && j.had(l, text(o.spelled()))
		}
		j.amended[of] = j.amended[of] || l.business == of && l.otherwise && slices.ContainsFunc(lines, took)
	}
	if j.amended[of] {
		n++
	}
	for _, o := range j.orders {
		if o.contents[of] || o.contents[contract] { // a second record of the contract may have its own children
			n++
		}
	}
	return n
}

// had reports whether a thing was under a key.
func (j *judge) had(l line, key string) bool {
	for t := range j.tenures {
		if t.kind == l.kind && t.id == l.id && t.key == key {
			return true
		}
	}
	return false
}

// tookNumber reports whether the contract of a child, which no query returns, has the number that
// another contract had when the pass was reading: what reads it again by its key sees nothing.
func (j *judge) tookNumber(child, contract business) bool {
	return j.edited && slices.ContainsFunc(j.r.contracts, func(own line) bool {
		if !own.hidden || !slices.ContainsFunc(j.r.children, func(l line) bool {
			return l.business == child && l.parent == own.id
		}) {
			return false
		}
		for t, had := range j.tenures {
			if t.kind == trade.OrderCommitments && t.id != own.id && t.key == text(own.spelled()) && had[contract] {
				return true
			}
		}
		return false
	})
}

// misplaced reports whether a child was sent below a contract that was never its own although this
// could be known: the row of that contract is elsewhere, or the child's own contract has a record.
func (j *judge) misplaced(child, contract business, records []record) bool {
	for parent := range j.most[child] {
		if j.ever[parent][contract] {
			return false
		}
	}
	surplus := map[business]int{} // records without a row
	for _, rec := range records {
		surplus[rec.business]++
	}
	rows, fewest := map[int]business{}, map[int]int{} // fewest: records without a row that prove that one is its own
	for _, l := range j.r.contracts {
		if l.hidden { // no query returns it, so nobody can see what has its number now
			continue
		}
		rows[l.id] = l.business
		if l.cancelled {
			fewest[l.id] = 1
		} else {
			surplus[l.business]--
		}
	}
	if j.r.Recycled && slices.ContainsFunc(j.r.children, func(l line) bool {
		own, known := rows[l.parent]
		return l.business == child && known && (own.producer != contract.producer || own.product != contract.product)
	}) {
		return true // a person looks at a number that was given to another producer or product
	}
	// one that was amended to this content has a record of its own
	amended := func(l line) bool {
		for was := range j.ever[l.id] {
			if was != contract && surplus[was] > 0 {
				return true
			}
		}
		return false
	}
	if j.tookNumber(child, contract) {
		return false
	}
	stands := slices.ContainsFunc(j.r.contracts, func(l line) bool {
		return l.business == contract && !l.hidden && !l.cancelled && !amended(l)
	})
	if stands && surplus[contract] <= 0 {
		return true
	}
	for _, l := range j.r.children {
		own, known := rows[l.parent]
		there := slices.ContainsFunc(records, func(r record) bool { return r.business == own })
		if l.business == child && known && there && surplus[own] >= fewest[l.parent] {
			return true
		}
	}
	return false
}

// unexplained returns a record for which there is no row, or nil. Each row, and each order,
// explains one record only.
func (j *judge) unexplained(records []record) *record {
	slots := slices.Collect(maps.Values(j.tenures))
	for _, o := range j.orders {
		slots = append(slots, o.contents)
	}
	taken := map[int]int{} // slot → record
	var place func(i int, tried map[int]bool) bool
	place = func(i int, tried map[int]bool) bool {
		for n, had := range slots {
			if tried[n] || !had[records[i].business] {
				continue
			}
			tried[n] = true
			if other, ok := taken[n]; !ok || place(other, tried) {
				taken[n] = i
				return true
			}
		}
		return false
	}
	for i := range records {
		if !place(i, map[int]bool{}) {
			return &records[i]
		}
	}
	return nil
}

// unowned returns the id of a record on the platform with the content of a row that no row in the
// ERP owns, or "". A person who looks would find it.
func (j *judge) unowned(e trade.Entry) string {
	var want []business
	for _, job := range j.r.jobs {
		for _, row := range j.r.rows(job) {
			if job.name == e.Job && row.key == e.Key {
				want = append(want, row.business)
			}
		}
	}
	owned := map[string]bool{}
	for _, o := range j.r.entries("") {
		if !o.Flags.Has(trade.MissingInERP) {
			owned[o.RemoteID] = true
		}
	}
	for _, rec := range j.records() {
		if len(want) == 1 && rec.business == want[0] && !owned[rec.id] {
			return rec.id
		}
	}
	return ""
}

// reported checks that the counts in a run's report add up (I9).
func (j *judge) reported(report trade.RunReport) {
	total := 0
	for _, n := range report.States {
		total += n
	}
	switch {
	case report.InScope != nil && *report.InScope != total-*report.Gone:
		j.uneven = &fault{"uneven", fmt.Sprintf("%s has %d in scope, %d entries and %d gone", report.Job,
			*report.InScope, total, *report.Gone)}
	case report.Stopped != nil && (report.Stopped.Code == "uneven" || report.Stopped.Code == "ledger" ||
		report.Stopped.Code == "erp" || report.Stopped.Code == "lease") && j.r.wrap == nil:
		j.uneven = &fault{"uneven", report.Stopped.Text()}
	case report.InScope != nil:
		j.recounted(report.Job)
	}
}

// recounted compares the sums of a job with its entries (I9).
func (j *judge) recounted(job string) {
	counted, entries := map[trade.State]trade.Tally{}, map[trade.State]trade.Tally{}
	add := func(sums map[trade.State]trade.Tally, state trade.State, n int, amount trade.Decimal) {
		sum := sums[state]
		sum.Count += n
		sum.Quantity.Amount = sum.Quantity.Amount.Add(amount)
		sums[state] = sum
	}
	tallies, err := j.r.ledger.Counts(j.r.t.Context(), job)
	if err != nil {
		j.r.t.Fatal(err)
	}
	for _, t := range tallies {
		add(counted, t.State, t.Count, t.Quantity.Amount)
	}
	for _, e := range j.r.entries(job) {
		add(entries, e.State, 1, e.Quantity.Amount)
	}
	for _, state := range trade.States {
		sum, is := counted[state], entries[state]
		if sum.Count != is.Count || !sum.Quantity.Amount.Equal(is.Quantity.Amount) {
			j.uneven = &fault{"uneven", fmt.Sprintf("the sums of %s are %v, the entries %v", job, counted, entries)}
		}
	}
}

// orphans reports, after a pass that nothing stopped, children that wait although their contract
// was sent, or that could have been sent.
func (j *judge) orphans() {
	for _, e := range j.r.entries("") {
		if e.GoneSweeps > 0 || !slices.ContainsFunc(j.r.jobs, func(of job) bool { return of.name == e.Job }) {
			continue
		}
		if e.State == trade.Sending || e.State == trade.Pending && e.NextAttemptAt.IsZero() &&
			e.Sends != trade.OrderCommitments {
			j.uneven = &fault{"orphan", fmt.Sprintf("%s %s stayed %s", e.Job, e.Key, e.State)}
		}
		for _, w := range e.WaitingFor {
			if e.State == trade.Waiting && e.Cause == trade.CauseParent && w.ParentState == trade.Accepted &&
				w.ParentCause != trade.CauseReplaced {
				j.uneven = &fault{"orphan", fmt.Sprintf("%s %s waits for %+v", e.Job, e.Key, w)}
			}
		}
	}
}

// generations checks I3 from inside: at most one attempt of each generation may have created a
// record, and each generation after the first names its act.
func (j *judge) generations() *fault {
	for _, e := range j.r.entries("") {
		attempts, err := j.r.ledger.Attempts(j.r.t.Context(), e.ID)
		if err != nil {
			j.r.t.Fatal(err)
		}
		may := map[int]int{}
		for _, a := range attempts {
			if a.Outcome == trade.OutcomeOpen || a.Outcome == trade.OutcomeUnknown ||
				a.Outcome == trade.OutcomeCreated {
				may[a.Generation]++
			}
		}
		for generation, n := range may {
			if n > 1 || generation > e.Generation {
				return &fault{"again", fmt.Sprintf("%s: %d attempts of generation %d may have created a record", e.Key,
					n, generation)}
			}
		}
		if e.Generation > 1 && e.ResentBy == 0 {
			return &fault{"again", fmt.Sprintf("%s is of generation %d without an act", e.Key, e.Generation)}
		}
	}
	return nil
}

// shares counts the rows at the end of histories by how the ledger shows them.
type shares map[string]int

func (s shares) rows() (n int) {
	for _, of := range s {
		n += of
	}
	return n
}

// finish ends all faults, runs sweeps until nothing is sent any more, and judges each row in the
// ERP.
func (r *run) finish() (*fault, shares) {
	r.api.SetFaults()
	r.api.Know(sandbox.Wallets, walletID)
	r.codes(anyCode)
	for quiet, n := 0, 0; quiet < 2 && n < 8; n++ {
		r.clock.advance(25 * time.Hour)
		sent, text := r.sent(engine.Options{Sweep: true})
		quiet++
		if sent > 0 {
			quiet = 0
		}
		r.tell("   in the end: %s", text)
		if f := r.judgePlatform(); f != nil {
			return f, nil
		}
	}
	if p, err := r.ledger.VerifyAudit(r.t.Context()); p.Broken != 0 || err != nil {
		return &fault{"audit", fmt.Sprintf("record %d of the audit is broken, %v", p.Broken, err)}, nil
	}
	return r.judgeRows()
}

// parentsStop reports whether a job of contracts is stopped, as status and alerts show.
func (j *judge) parentsStop() bool {
	return slices.ContainsFunc(j.r.jobs, func(of job) bool {
		status, err := j.r.ledger.JobStatus(j.r.t.Context(), of.name)
		if err != nil {
			j.r.t.Fatal(err)
		}
		return of.kind == trade.OrderCommitments && (status.State == trade.Paused || status.State == trade.Stopped)
	})
}

func (j *judge) judgeRows() (*fault, shares) {
	end := shares{}
	onPlatform, owner, shown := map[string]business{}, map[string]string{}, map[trade.ParentKey]trade.State{}
	for _, rec := range j.records() {
		onPlatform[rec.id] = rec.business
	}
	entries := map[trade.ParentKey]trade.Entry{}
	for _, e := range j.r.entries("") {
		at := trade.ParentKey{Job: e.Job, Key: e.Key}
		entries[at], shown[at] = e, e.State
	}
	for _, job := range j.r.jobs {
		status, err := j.r.ledger.JobStatus(j.r.t.Context(), job.name)
		if err != nil {
			j.r.t.Fatal(err)
		}
		rows := j.r.rows(job)
		for _, row := range rows {
			if row.cancelled {
				continue
			}
			e, known := entries[trade.ParentKey{Job: job.name, Key: row.key}]
			name := fmt.Sprintf("%s %s (%v)", job.name, row.key, row.business)
			stopped := status.Stop != nil && (status.State == trade.Paused || status.State == trade.Stopped)
			// The next reading of the parents releases it.
			halted := stopped || e.State == trade.Pending && row.kind != trade.OrderCommitments && j.parentsStop()
			switch {
			case !known && stopped, known && halted &&
				(e.State == trade.Pending || e.State == trade.Waiting || e.State == trade.Withdrawn):
				end["stopped"]++
				continue
			case !known:
				return &fault{"lost", name + " stands, and the ledger does not have it"}, nil
			}
			end[string(e.State)]++
			if j.r.Calm && e.State != trade.Accepted {
				return &fault{"idle", fmt.Sprintf("%s is %s (%s), and nobody touched what is known", name, e.State,
					e.Cause)}, nil
			}
			switch e.State {
			case trade.Held:
				like := e.Cause == trade.CauseRetyped || e.Cause == trade.CauseOtherJob
				if like && (e.Error == nil || e.Error.Text() == "") {
					return &fault{"lost", fmt.Sprintf("%s is held (%s), and nothing says for which row", name, e.Cause)}, nil
				}
			case trade.InDoubt, trade.Invalid, trade.Rejected, trade.Dismissed:
			case trade.Accepted:
				there, ok := onPlatform[e.RemoteID]
				switch {
				case e.MovedID != "":
				case !ok:
					return &fault{
						"mistaken",
						fmt.Sprintf("%s is accepted with the id %q, which the platform does not have", name,
							e.RemoteID),
					}, nil
				case owner[e.RemoteID] != "" && owner[e.RemoteID] != job.name+" "+row.key:
					return &fault{"mistaken", fmt.Sprintf("%s has the same record as %s", name, owner[e.RemoteID])}, nil
				// The record belongs to one of the two.
				case slices.ContainsFunc(rows, func(o keyed) bool { return o.key == row.key && o.line != row.line }):
				case there != row.business && len(e.Flags) == 0 && !stopped &&
					!j.dealt[tenure{kind: row.kind, key: row.key}][row.business]:
					return &fault{
						"mistaken",
						fmt.Sprintf("%s is accepted without a flag, and its record is %v", name, there),
					}, nil
				}
				// while the job is stopped, nothing compares its rows with the de-para
				if f := j.corrected(name, e, row); f != nil && !stopped {
					return f, nil
				}
				owner[e.RemoteID] = job.name + " " + row.key
			case trade.Waiting:
				for _, w := range e.WaitingFor {
					if w.Job == "" || shown[trade.ParentKey{Job: w.Job, Key: w.Key}] == trade.Accepted &&
						w.ParentCause != trade.CauseReplaced {
						return &fault{"stuck", fmt.Sprintf("%s waits for %+v", name, w)}, nil
					}
				}
			default:
				return &fault{"stuck", fmt.Sprintf("%s is %s (%s) and will stay so", name, e.State, e.Cause)}, nil
			}
		}
	}
	return nil, end
}

// corrected checks that a row which went with another wallet than the de-para has by now is shown.
func (j *judge) corrected(name string, e trade.Entry, row keyed) *fault {
	if j.r.remade || !j.r.Corrected || !j.r.Coded || row.kind != trade.OrderCommitments || len(e.Flags) > 0 ||
		e.MovedID != "" {
		return nil
	}
	if j.dealt[tenure{kind: row.kind, key: row.key}][row.business] {
		return nil
	}
	for _, rec := range j.records() {
		if rec.id == e.RemoteID && rec.wallet != wallets[j.r.walletOf] {
			return &fault{"unsaid", fmt.Sprintf("%s went with the wallet %s, which the de-para has no longer, and no flag says so", name, rec.wallet)}
		}
	}
	return nil
}

// bridges compares the bridge of the report with a plain SUM over the queries of the jobs: after a
// sweep, and after a window that could see everything that has changed since.
func (j *judge) bridges(sweep, typing bool) {
	r := j.r
	r.t.Helper()
	now, keys := map[keyOf]bool{}, map[keyOf]bool{}
	if sweep {
		j.standing, j.twice = now, map[string]bool{}
	}
	for _, job := range r.jobs {
		for _, row := range r.rows(job) {
			key := keyOf{job: job.name, key: strings.TrimSpace(row.key)}
			j.twice[job.name] = j.twice[job.name] || keys[key]
			now[keyOf{job.name, row.key, row.id}], keys[key] = true, true
		}
	}
	left := j.standing == nil
	for row := range j.standing {
		left = left || !now[row]
	}
	if typing { // the report has what was read before
		j.standing = nil
	}
	if !r.Bridge || left || typing || j.uneven != nil {
		return
	}
	at, err := r.ledger.Moment(r.t.Context())
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	var view reconcile.Overview
	snapshot, err := reconcile.TakeSnapshot(r.t.Context(), reconcile.Sources{
		Ledger: at, Jobs: r.engine().Jobs, Zone: r.zone, Now: r.clock.Now(),
	}, reconcile.Cut{})
	if err == nil {
		view, err = snapshot.Overview(reconcile.Options{})
	}
	if err = errors.Join(err, at.Close()); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	for _, s := range view.Summaries {
		i := slices.IndexFunc(r.jobs, func(of job) bool { return of.name == s.Job })
		// a window does not see what else has changed under a number that stands twice
		if i < 0 || !sweep && j.twice[s.Job] {
			continue
		}
		weight := map[trade.Kind]string{
			trade.OrderCommitments: "quantidade * CASE um WHEN 'SC' THEN 60 ELSE 1 END",
			trade.Deliveries:       "volume", trade.Traceability: "volume * 1000",
		}[r.jobs[i].kind]
		var plain struct {
			N  int
			Kg int64
		}
		if err := r.db.Get(&plain, `SELECT COUNT(*) AS n, COALESCE(SUM(`+weight+`), 0) AS kg FROM (`+r.query(r.jobs[i])+`)`); err != nil {
			r.t.Fatal(err)
		}
		if got := s.Bridge(); got.Rows != plain.N || got.Kilograms.String() != fmt.Sprint(plain.Kg) {
			j.uneven = &fault{"sum", fmt.Sprintf("the bridge of %s has %d rows and %s kg, and the ERP %d and %d", s.Job,
				got.Rows, got.Kilograms, plain.N, plain.Kg)}
		}
	}
}
