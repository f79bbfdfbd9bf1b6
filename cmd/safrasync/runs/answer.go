package runs

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// plan is what a dry run found for a job's rows.
type plan struct {
	job      *mapping.Job
	troubles *office.Troubles
	judged   map[int64]bool     // entries that the run would change; their ledger state is outdated
	told     map[string]counted // by key, the rows that would go or stay
}

// counted is how a row was counted.
type counted struct {
	of      part
	state   trade.State
	freight *trade.Freight // the sum that includes it
	own     trade.Freight
}

// answer is the result of a dry run for those who decide: for each kind of record, what would go,
// what would not, and why. Different kinds are never added up.
type answer struct {
	specs  []mapping.JobSpec
	runs   []string // the jobs of this run
	paused []string // those of them that are paused and send nothing
	plans  map[string]*plan
	parts  map[part]*share
}

// part is a kind of record. Fixations are apart from contracts, because they are the same grain.
type part struct {
	sends  trade.Kind
	fixing bool
}

// share is what would happen to the rows of a part.
type share struct {
	goes, follows trade.Freight
	troubles      *office.Troubles
	stays         map[*office.Trouble]*trade.Freight
}

// newAnswer returns the answer for a run of the named jobs, or of all jobs if none is named.
func newAnswer(specs []mapping.JobSpec, jobs []*mapping.Job, named []string) *answer {
	out := &answer{specs: specs, runs: named, plans: map[string]*plan{}, parts: map[part]*share{}}
	for _, job := range jobs {
		if len(named) == 0 {
			out.runs = append(out.runs, job.Name())
		}
		out.plans[job.Name()] = &plan{job, office.NewTroubles(specs), map[int64]bool{}, map[string]counted{}}
	}
	return out
}

// of returns the plan of a job; nil unless the run is a dry one.
func (w *answer) of(job string) *plan {
	if w == nil {
		return nil
	}
	return w.plans[job]
}

// add counts one row as the run would leave it.
func (w *answer) add(e trade.Entry) {
	p := w.plans[e.Job]
	if e.ID != 0 {
		p.judged[e.ID] = true
	}
	if slices.Contains(office.Kept, e.State) {
		p.troubles.Add(e)
	}
	w.count(p, e)
}

// count counts a row in the sum where it would belong. It first subtracts it from the sum where it
// was counted before.
func (w *answer) count(p *plan, e trade.Entry) {
	was, before := p.told[e.Key]
	if before {
		*was.freight = was.freight.Less(was.own)
		delete(p.told, e.Key)
	}
	follows := w.follows(e)
	stays := slices.Contains(office.Kept, e.State) && !follows
	if e.State != trade.Pending && !follows && !stays {
		return
	}
	of, own := was.of, was.own
	if !before || e.Values != nil {
		of, own = p.weigh(e)
	}
	s := w.parts[of]
	if s == nil {
		s = &share{troubles: office.NewTroubles(w.specs), stays: map[*office.Trouble]*trade.Freight{}}
		w.parts[of] = s
	}
	to := &s.goes
	switch {
	case stays:
		g := s.troubles.Add(e)
		if to = s.stays[g]; to == nil {
			to = &trade.Freight{}
			s.stays[g] = to
		}
	case follows:
		to = &s.follows
	}
	*to = to.Plus(own)
	p.told[strings.Clone(e.Key)] = counted{of, e.State, to, own}
}

// weigh returns the part of a row, and its freight.
func (p *plan) weigh(e trade.Entry) (part, trade.Freight) {
	of := part{sends: e.Sends}
	var own trade.Freight
	own.Load.Add(e.Quantity)
	if e.Sends != trade.OrderCommitments {
		return of, own
	}
	values := e.Values
	if e.Now != nil {
		values = e.Now
	}
	fields := p.job.RowFields(values, nil)
	switch trade.OrderType(fields["order_type"].Text) {
	case trade.FixacaoCompra, trade.FixacaoDeposito:
		of.fixing = true
	}
	price, err := trade.ParseDecimal(fields["price"].Text)
	if currency := fields["currency"].Text; err == nil && currency != "" && own.Unweighed == 0 {
		own.Value = map[string]trade.Decimal{currency: e.Quantity.Amount.Mul(price)}
	}
	return of, own
}

// follows reports whether a row waits only for rows that would go, so that it goes in the same run.
func (w *answer) follows(e trade.Entry) bool {
	for _, a := range e.WaitingFor {
		state := a.ParentState
		if parent := w.plans[a.Job]; parent != nil {
			if known, ok := parent.told[a.Key]; ok {
				state = known.state
			}
		}
		if !slices.Contains(w.runs, a.Job) || state != trade.Pending {
			return false
		}
	}
	return e.State == trade.Waiting && len(e.WaitingFor) > 0
}

// conclude counts the rows in the ledger that the run would leave unchanged.
func (w *answer) conclude(ctx context.Context, store *state.Store, reports []trade.RunReport) error {
	if w == nil {
		return nil
	}
	for i, r := range reports {
		p := w.plans[r.Job]
		status, err := store.JobStatus(ctx, r.Job)
		if err != nil {
			return err
		}
		if status.State == trade.Paused {
			w.paused = append(w.paused, r.Job)
		}
		states := append([]trade.State{trade.Pending}, office.Kept...)
		err = store.Rows(ctx, trade.RowFilter{Job: r.Job, States: states},
			func(e trade.Entry) error {
				if !p.judged[e.ID] {
					w.count(p, e)
				}
				return nil
			})
		if err != nil {
			return err
		}
		if r.WouldSend != nil {
			reports[i].WouldSend.Follow = 0
			for _, row := range p.told {
				if row.state == trade.Waiting && w.isFollow(row.freight) {
					reports[i].WouldSend.Follow++
				}
			}
		}
	}
	return nil
}

func (w *answer) isFollow(f *trade.Freight) bool {
	for _, s := range w.parts {
		if f == &s.follows {
			return true
		}
	}
	return false
}

// sorted returns the parts in the order of trade.Kinds.
func (w *answer) sorted() []part {
	if w == nil {
		return nil
	}
	var out []part
	for _, kind := range trade.Kinds {
		for _, fixing := range []bool{false, true} {
			if w.parts[part{kind, fixing}] != nil {
				out = append(out, part{kind, fixing})
			}
		}
	}
	return out
}

// causes returns the groups of rows that would not go: held rows, then the largest weight. It omits groups whose
// rows have all been counted elsewhere since.
func (s *share) causes() []*office.Trouble {
	out := slices.DeleteFunc(slices.Clone(s.troubles.Sorted()),
		func(g *office.Trouble) bool { return s.stays[g].Rows == 0 })
	slices.SortStableFunc(out, func(a, b *office.Trouble) int {
		return cmp.Or(heldFirst(a, b), s.stays[b].Kilograms.Cmp(s.stays[a].Kilograms), s.stays[b].Rows-s.stays[a].Rows)
	})
	return out
}

// stay returns the sum of everything that would not go.
func (s *share) stay() (sum trade.Freight) {
	for _, f := range s.stays {
		sum = sum.Plus(*f)
	}
	return sum
}

// partJSON is one kind of record in the answer of `sync --dry-run --json`.
type partJSON struct {
	Sends  trade.Kind    `json:"sends"`
	Fixing bool          `json:"fixing"`
	Goes   trade.Freight `json:"goes"`
	Follow trade.Freight `json:"follow"`
	Stays  []stayJSON    `json:"stays"`
}

// stayJSON is one cause that blocks rows.
type stayJSON struct {
	State   trade.State `json:"state"`
	Cause   *string     `json:"cause"`
	Who     string      `json:"who"`
	Text    string      `json:"text"`
	Samples []string    `json:"samples"`
	trade.Freight
}

func (w *answer) json() (out []partJSON) {
	for _, of := range w.sorted() {
		s := w.parts[of]
		one := partJSON{of.sends, of.fixing, s.goes, s.follows, []stayJSON{}}
		for _, g := range s.causes() {
			one.Stays = append(one.Stays, stayJSON{
				g.State, cli.OrNull(g.Cause), g.Advice(words.Machine).Who, office.CauseText(words.Machine, g),
				samplesOf(g),
				*s.stays[g],
			})
		}
		out = append(out, one)
	}
	return out
}

func samplesOf(g *office.Trouble) []string {
	out := make([]string, len(g.Samples))
	for i, e := range g.Samples {
		out[i] = e.Key
	}
	return out
}

// print prints the sentences for managers at the end of a dry run.
func (w *answer) print(a *cli.App) {
	for _, line := range w.sentences(a.Voice()) {
		a.Block("\n" + line)
	}
}

// sentences returns what would go and what would not.
func (w *answer) sentences(v words.Voice) []string {
	if w == nil {
		return nil
	}
	var goes, stays []string
	for _, of := range w.sorted() {
		s := w.parts[of]
		if all := s.goes.Plus(s.follows); all.Rows > 0 {
			text := of.freight(v, all)
			if s.follows.Rows > 0 {
				text += v.Text("answer.follow", s.follows.Rows)
			}
			goes = append(goes, text)
		}
		if all := s.stay(); all.Rows > 0 {
			text := of.freight(v, all)
			var causes []string
			for _, g := range s.causes() {
				causes = append(causes, v.Text("answer.cause", s.stays[g].Rows, office.CauseText(v, g)))
			}
			const most = 4
			if more := len(causes) - most; more > 0 {
				causes = append(causes[:most], v.Text("cause.more", more))
			}
			stays = append(stays, text+" ("+trade.MaskDocuments(strings.Join(causes, "; "))+")")
		}
	}
	nothing := v.Text("answer.nothing")
	out := []string{
		v.Text("answer.goes", cmp.Or(strings.Join(goes, "; "), nothing)),
		v.Text("answer.stays", cmp.Or(strings.Join(stays, "; "), nothing)),
	}
	for _, job := range w.paused {
		out = append(out, v.Text("answer.paused", v.Job(job), job))
	}
	return out
}

// name returns the name of the records of a part, in the singular for one row.
func (of part) name(v words.Voice, rows int) string {
	kind := string(of.sends)
	if of.fixing {
		kind = "fixations"
	}
	if rows == 1 {
		return v.Text(i18n.Key("answer.one." + kind))
	}
	return v.Text(i18n.Key("answer.many." + kind))
}

// freight returns a sum in words: 45 contratos, 1.461 t, R$ 1,5 mi.
func (of part) freight(v words.Voice, f trade.Freight) string {
	parts := []string{v.Number(trade.NewDecimal(int64(f.Rows), 0)) + " " + of.name(v, f.Rows)}
	if f.Kilograms.Sign() != 0 {
		parts = append(parts, v.Tonnes(f.Kilograms))
	}
	for _, currency := range config.SortedKeys(f.Value) {
		parts = append(parts, shortMoney(v, currency, f.Value[currency]))
	}
	return strings.Join(parts, ", ")
}

// shortMoney formats a sum as people say it: R$ 1,5 mi.
func shortMoney(v words.Voice, currency string, sum trade.Decimal) string {
	symbol := cmp.Or(map[string]string{"BRL": "R$", "USD": "US$", "EUR": "€"}[currency], currency)
	if sum.Cmp(trade.NewDecimal(1, -6)) < 0 {
		return symbol + " " + trade.MoneyText(sum.Round(2), v.Lang)
	}
	return symbol + " " + v.Text("answer.millions", v.Number(sum.Mul(trade.NewDecimal(1, 6)).Round(1)))
}
