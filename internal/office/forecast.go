package office

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// JobForecast is what a dry run found for a job's rows.
type JobForecast struct {
	Troubles *pending.Causes
	judged   map[int64]bool // entries that were added
	job      *mapping.Job
	told     map[string]*counted // by key, the rows that would go or stay
}

// counted is how a row was counted. There may be a million of them.
type counted struct {
	in      *Share
	freight *trade.Freight  // the sum that includes it
	own     string          // its own freight: kilograms, value and currency
	fields  []ForecastField // of a row that would go; nil unless the rows are listed
}

// ForecastField is a field of a row that would go: what would be sent or, where that is an id that is
// not known yet, what the ERP has.
type ForecastField struct{ Field, Text string }

// Forecast is the result of a dry run for those who decide: for each kind of record, what would go,
// what would not, and why. Different kinds are never added up.
type Forecast struct {
	specs  []mapping.JobSpec
	runs   []string // the jobs of this run
	paused []string // those of them that are paused and send nothing
	plans  map[string]*JobForecast
	parts  map[trade.Pile]*Share
	Listed bool // the rows that would go are kept
}

// Share is what a run would do with the records of one kind.
type Share struct {
	trade.Pile
	Goes     trade.Freight `json:"goes"`
	Follows  trade.Freight `json:"follow"` // right after their contracts
	Stays    []Stay        `json:"stays"`
	troubles *pending.Causes
	stays    map[*pending.Group]*trade.Freight
}

// Stay is a group of rows that would not go.
type Stay struct {
	State   trade.State `json:"state"`
	Cause   *string     `json:"cause"`
	Who     string      `json:"who"` // who resolves it
	Text    string      `json:"text"`
	Samples []string    `json:"samples"` // keys
	trade.Freight
}

// Forecast returns an empty forecast for a dry run of the named jobs, or of all jobs if none is named.
func (o *Office) Forecast(named []string) *Forecast {
	specs := o.conf.JobSpecs()
	out := &Forecast{
		specs: specs, runs: named, plans: map[string]*JobForecast{}, parts: map[trade.Pile]*Share{},
	}
	for _, job := range o.jobs {
		if len(named) == 0 {
			out.runs = append(out.runs, job.Name())
		}
		out.plans[job.Name()] = &JobForecast{pending.NewCauses(specs), map[int64]bool{}, job, map[string]*counted{}}
	}
	return out
}

// Sync makes one pass over some jobs; over all if none is named.
func (o *Office) Sync(ctx context.Context, jobs []string, how engine.Options) ([]trade.RunReport, error) {
	return o.engine.Sync(ctx, jobs, how)
}

// Of returns what was found for a job; nil unless the run is a dry one.
func (w *Forecast) Of(job string) *JobForecast {
	if w == nil {
		return nil
	}
	return w.plans[job]
}

// Add counts one row as the run would leave it: in the sum where it would belong, and no longer in
// that where it was counted before.
func (w *Forecast) Add(e trade.Entry) {
	p := w.plans[e.Job]
	if e.ID != 0 {
		p.judged[e.ID] = true
	}
	stays := slices.Contains(trade.Stuck, e.State)
	if stays {
		p.Troubles.Add(e)
	}
	row := p.told[e.Key]
	if row != nil {
		*row.freight = row.freight.Less(freightOf(row.own))
		delete(p.told, e.Key)
	}
	// a row that waits only for rows that would go follows them in the same run
	follows := e.State == trade.Waiting && len(e.WaitingFor) > 0
	for _, a := range e.WaitingFor {
		goes := a.ParentState == trade.Pending
		if parent := w.plans[a.Job]; parent != nil && parent.told[a.Key] != nil {
			goes = parent.told[a.Key].freight == &parent.told[a.Key].in.Goes
		}
		follows = follows && goes && slices.Contains(w.runs, a.Job)
	}
	stays = stays && !follows
	if e.State != trade.Pending && !follows && !stays {
		return
	}
	if row == nil || e.Values != nil {
		row = &counted{}
		of := trade.Pile{Kind: e.Sends}
		var fields map[string]mapping.RowField
		if e.Sends == trade.OrderCommitments || w.Listed {
			fields = p.job.RowFields(e.NewestValues(), nil)
		}
		kg, weighed := e.Quantity.Kilograms()
		if weighed {
			row.own = kg.String()
		}
		if e.Sends == trade.OrderCommitments {
			of.Fixing = pending.Fixes(fields)
			price, err := trade.ParseDecimal(fields["price"].Text)
			if currency := fields["currency"].Text; err == nil && currency != "" && weighed {
				row.own += " " + e.Quantity.Amount.Mul(price).String() + " " + currency
			}
		}
		if w.parts[of] == nil {
			w.parts[of] = &Share{
				Pile: of, troubles: pending.NewCauses(w.specs), stays: map[*pending.Group]*trade.Freight{},
			}
		}
		row.in = w.parts[of]
		if w.Listed && !stays {
			sent := mapping.SentTexts(e)
			for _, rule := range trade.Rules(e.Sends) {
				text := cmp.Or(fields[rule.Field].Text, fields[rule.Field].ERP)
				if body := sent[rule.Field]; body != nil {
					text = *body
				}
				if text != "" {
					row.fields = append(row.fields, ForecastField{rule.Field, text})
				}
			}
		}
	}
	s := row.in
	row.freight = &s.Goes
	switch {
	case stays:
		g := s.troubles.Add(e)
		row.freight = s.stays[g]
		if row.freight == nil {
			row.freight = &trade.Freight{}
			s.stays[g] = row.freight
		}
	case follows:
		row.freight = &s.Follows
	}
	*row.freight = row.freight.Plus(freightOf(row.own))
	p.told[e.Key] = row
}

// Rows calls do for each row that would go, by job and key.
func (w *Forecast) Rows(do func(job, key string, own trade.Freight, fields []ForecastField)) {
	if w == nil {
		return
	}
	for _, job := range config.SortedKeys(w.plans) {
		told := w.plans[job].told
		for _, key := range config.SortedKeys(told) {
			if row := told[key]; row.fields != nil {
				do(job, key, freightOf(row.own), row.fields)
			}
		}
	}
}

// freightOf returns the freight of a row, as Add has written it.
func freightOf(own string) (out trade.Freight) {
	texts := strings.SplitN(own, " ", 3)
	kg, err := trade.ParseSum(texts[0])
	out.Load.Add(kg, err == nil)
	if len(texts) == 3 {
		value, _ := trade.ParseSum(texts[1])
		out.Value = map[string]trade.Decimal{texts[2]: value}
	}
	return out
}

// Conclude counts the rows in the ledger that the run would leave unchanged.
func (w *Forecast) Conclude(ctx context.Context, o *Office, reports []trade.RunReport) error {
	if w == nil {
		return nil
	}
	for i, r := range reports {
		p := w.plans[r.Job]
		status, err := o.JobStatus(ctx, r.Job)
		if err != nil {
			return err
		}
		if status.State == trade.Paused {
			w.paused = append(w.paused, r.Job)
		}
		states := append([]trade.State{trade.Pending}, trade.Stuck...)
		err = o.Rows(ctx, trade.RowQuery{Jobs: []string{r.Job}, States: states},
			func(e trade.Entry) error {
				if !p.judged[e.ID] {
					w.Add(e)
				}
				return nil
			})
		if err != nil {
			return err
		}
		if r.WouldSend != nil {
			reports[i].WouldSend.Follow = 0
			for _, row := range p.told {
				if row.freight == &row.in.Follows {
					reports[i].WouldSend.Follow++
				}
			}
		}
	}
	return nil
}

// Shares returns the parts of the forecast, with the groups of rows that would not go: held rows, then the
// largest weight. It omits groups whose rows have all been counted elsewhere since.
func (w *Forecast) Shares(v words.Voice) []*Share {
	if w == nil {
		return nil
	}
	var out []*Share
	for _, pile := range trade.Piles {
		s := w.parts[pile]
		if s == nil {
			continue
		}
		out = append(out, s)
		groups := slices.DeleteFunc(slices.Clone(s.troubles.Sorted()),
			func(g *pending.Group) bool { return s.stays[g].Rows == 0 })
		slices.SortStableFunc(groups, func(a, b *pending.Group) int {
			return cmp.Or(heldFirst(a, b), s.stays[b].Kilograms.Cmp(s.stays[a].Kilograms),
				s.stays[b].Rows-s.stays[a].Rows)
		})
		s.Stays = trade.Map(groups, func(g *pending.Group) Stay {
			return Stay{
				State: g.State, Cause: trade.OrNull(g.Cause), Who: g.Advice(v.Lang).Who, Text: CauseText(v, g),
				Samples: g.Keys, Freight: *s.stays[g],
			}
		})
	}
	return out
}

// Sentences returns what would go and what would not.
func (w *Forecast) Sentences(v words.Voice) []string {
	if w == nil {
		return nil
	}
	var goes, stays []string
	for _, s := range w.Shares(v) {
		if all := s.Goes.Plus(s.Follows); all.Rows > 0 {
			text := s.freight(v, all)
			if s.Follows.Rows > 0 {
				text += v.Text(" (%d right after {its contract|their contracts})", s.Follows.Rows)
			}
			goes = append(goes, text)
		}
		var all trade.Freight
		for _, f := range s.stays {
			all = all.Plus(*f)
		}
		if all.Rows > 0 {
			text := s.freight(v, all)
			causes := trade.Map(s.Stays, func(g Stay) string { return v.Text("%d × %s", g.Rows, g.Text) })
			const most = 4
			if more := len(causes) - most; more > 0 {
				causes = append(causes[:most], v.Text("… and %d more", more))
			}
			stays = append(stays, text+" ("+trade.MaskDocuments(strings.Join(causes, "; "))+")")
		}
	}
	nothing := v.Text("nothing")
	out := []string{
		v.Text("Would be sent: %s", cmp.Or(strings.Join(goes, "; "), nothing)),
		v.Text("Would not be sent: %s", cmp.Or(strings.Join(stays, "; "), nothing)),
	}
	for _, job := range w.paused {
		out = append(out, v.Text("%s is paused: none of its rows, and none that wait for them, are sent until `safrasync resume %s`.", v.Job(job), job))
	}
	return out
}

// Name returns the name of the records of a part, in the singular for one row.
func (s *Share) Name(v words.Voice, rows int) string {
	kind := string(s.Kind)
	if s.Fixing {
		kind = "fixations"
	}
	if rows == 1 {
		return v.Text("answer.one." + kind)
	}
	return v.Text("answer.many." + kind)
}

// freight returns a sum in words: 45 contratos, 1.461 t, R$ 1,5 mi.
func (s *Share) freight(v words.Voice, f trade.Freight) string {
	parts := []string{v.Number(trade.NewDecimal(int64(f.Rows), 0)) + " " + s.Name(v, f.Rows)}
	return strings.Join(append(parts, Amounts(v, f)...), ", ")
}

// Amounts returns the tonnes and the money of a sum in words.
func Amounts(v words.Voice, f trade.Freight) (parts []string) {
	if f.Kilograms.Sign() != 0 {
		parts = append(parts, v.Tonnes(f.Kilograms))
	}
	for _, currency := range config.SortedKeys(f.Value) {
		sum := f.Value[currency]
		text := trade.MoneyText(sum.Round(2), v.Lang)
		if sum.Cmp(trade.NewDecimal(1, -6)) >= 0 { // as people say it: R$ 1,5 mi
			text = v.Text("%s m", v.Number(sum.Mul(trade.NewDecimal(1, 6)).Round(1)))
		}
		parts = append(parts, trade.Symbol(currency)+" "+text)
	}
	return parts
}
