package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// changedRoutes are the page of rows that changed after they were sent.
type changedRoutes struct {
	office *office.Office
}

func (p *changedRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/changed", trade.Reader, p.showChanged),
		web.Post("/changed/plan", trade.Accountant, p.planChanged),
		web.Post("/changed/do", trade.Accountant, p.doChanged),
	}
}

// changedFlags are the flags for changes after a row was sent, in the order in which they are
// shown.
var changedFlags = []trade.Flag{
	trade.Changed, trade.MissingInERP, trade.Cancelled, trade.DeletedRemote,
	trade.Contradicted, trade.DoubleAfterDecision, trade.Recoded,
}

// changedPage lists rows that changed in the ERP, or on the platform, after they were sent.
type changedPage struct {
	Rows   []changedShown
	Next   string
	Counts []flagCount
	Flag   trade.Flag
	Fault  string
	Fields []fieldCount             // of the rows of the page, the most frequent first
	Weight trade.Decimal            // difference of the rows of the page in kilograms
	Values map[string]trade.Decimal // the same in money, by currency
	Marked int                      // rows of the page that can be acknowledged
}

// fieldCount is a field, and how many rows of the page differ in it.
type fieldCount struct {
	Name string
	Rows int
}

// sum adds up by which fields the rows of the page differ, and by how much.
func (p *changedPage) sum() {
	p.Values = map[string]trade.Decimal{}
	for _, row := range p.Rows {
		if row.May {
			p.Marked++
		}
		p.Weight = p.Weight.Add(row.Effect.Weight)
		if row.Effect.Valued {
			p.Values[row.Effect.Currency] = p.Values[row.Effect.Currency].Add(row.Effect.Value)
		}
		for _, f := range row.Fields {
			if f.Name == "" {
				continue
			}
			i := slices.IndexFunc(p.Fields, func(c fieldCount) bool { return c.Name == f.Name })
			if i < 0 {
				i = len(p.Fields)
				p.Fields = append(p.Fields, fieldCount{Name: f.Name})
			}
			p.Fields[i].Rows++
		}
	}
	slices.SortStableFunc(p.Fields, func(a, b fieldCount) int { return b.Rows - a.Rows })
}

type flagCount struct {
	Flag trade.Flag
	Rows int
	Here bool
}

// changedShown is one row with its changes.
type changedShown struct {
	Entry  trade.Entry
	Flags  []trade.Flag
	Fields []office.Field
	Of     office.Sides // of when the three sides are
	Effect effect
	May    bool // it can be acknowledged here
}

// effect is a change in weight and in money.
type effect struct {
	Weighed  bool
	Sent     trade.Decimal // kilograms
	Now      trade.Decimal
	Weight   trade.Decimal // difference; negative: less now
	Valued   bool
	Currency string
	Value    trade.Decimal // difference
	Other    string        // the currency has changed to this one: values cannot be compared
}

func (p *changedRoutes) showChanged(q *web.Request) error {
	page := changedPage{Flag: trade.Flag(q.Form.Get("flag"))}
	flags := changedFlags
	if slices.Contains(changedFlags, page.Flag) {
		flags = []trade.Flag{page.Flag}
	} else {
		page.Flag = ""
	}
	if err := p.countFlags(q, &page); err != nil {
		return err
	}
	rows, err := p.office.RowPage(q.Context(),
		trade.RowQuery{Flags: flags, Sort: trade.OldestFirst, After: after(q), Limit: pageRows})
	if err != nil {
		return err
	}
	page.Next = rows.Next
	page.Rows, err = p.changed(q, rows.Rows)
	if err != nil {
		return err
	}
	page.sum()
	return q.Page(http.StatusOK, "changed", page)
}

func (p *changedRoutes) countFlags(q *web.Request, page *changedPage) error {
	sums := map[trade.Flag]int{}
	for _, job := range p.office.Jobs() {
		counts, err := p.office.FlagCounts(q.Context(), job.Name)
		if err != nil {
			return err
		}
		for flag, n := range counts {
			sums[flag] += n
		}
	}
	for _, flag := range changedFlags {
		if sums[flag] > 0 || flag == page.Flag {
			page.Counts = append(page.Counts, flagCount{flag, sums[flag], flag == page.Flag})
		}
	}
	return nil
}

// changed returns the changes of rows: the fields that differ, and the effect.
func (p *changedRoutes) changed(q *web.Request, entries []trade.Entry) ([]changedShown, error) {
	if len(entries) == 0 { // then the de-para need not be read
		return nil, nil
	}
	rows, err := p.office.FieldsOf(q.Context(), entries)
	if err != nil {
		return nil, err
	}
	out := make([]changedShown, len(entries))
	for i, entry := range entries {
		out[i] = changedOf(entry, rows[i])
	}
	return out, nil
}

func changedOf(entry trade.Entry, of office.Sides) changedShown {
	shown := changedShown{Entry: entry, Of: of, Effect: effectOf(entry, of.Fields)}
	for _, flag := range changedFlags {
		if entry.Flags.Has(flag) {
			shown.Flags = append(shown.Flags, flag)
			shown.May = shown.May || decided(entry) && slices.Contains(trade.AcknowledgedByAct, flag)
		}
	}
	for _, f := range of.Fields {
		if f.Differs || f.Apart {
			f.Hide(trade.MaskColumn)
			shown.Fields = append(shown.Fields, f)
		}
	}
	return shown
}

// amounts are the fields for amount and unit, by kind of record (chapter 2).
var amounts = map[trade.Kind][2]string{
	trade.OrderCommitments: {"amount", "unit_of_measurement"},
	trade.Deliveries:       {"delivered_volume", "delivered_volume_unit_of_measure"},
	trade.Traceability:     {"allocated_volume", "unit_of_measurement"},
}

// effectOf compares exactly what was sent with the ERP's present values. The present amount of a
// row that is missing or cancelled in the ERP is zero.
func effectOf(entry trade.Entry, fields []office.Field) effect {
	sent, now := map[string]*string{}, map[string]*string{}
	for _, f := range fields {
		if f.Name == "" {
			continue
		}
		sent[f.Name], now[f.Name] = f.Sent, f.Sent
		if f.Differs {
			now[f.Name] = f.Now
		}
	}
	var e effect
	a, okA := weightIn(entry.Sends, sent)
	b, okB := weightIn(entry.Sends, now)
	gone := entry.Flags.Has(trade.MissingInERP) || entry.Flags.Has(trade.Cancelled)
	if gone {
		b, okB = trade.Decimal{}, true
	}
	if okA && okB {
		e.Weighed, e.Sent, e.Now, e.Weight = true, a, b, b.Sub(a)
	}
	from, currency, okFrom := valueIn(entry.Sends, sent)
	to, other, okTo := valueIn(entry.Sends, now)
	switch {
	case gone && okFrom:
		e.Valued, e.Currency, e.Value = true, currency, trade.Decimal{}.Sub(from)
	case okFrom && okTo && currency != other:
		e.Currency, e.Other = currency, other
	case okFrom && okTo:
		e.Valued, e.Currency, e.Value = true, currency, to.Sub(from)
	}
	return e
}

// asked is the quantity of a row as the platform was asked for it: the ERP may have another one now.
func asked(e trade.Entry) trade.Quantity {
	var body map[string]any
	d := json.NewDecoder(bytes.NewReader(e.Payload))
	d.UseNumber()
	if !e.State.Created() || d.Decode(&body) != nil {
		return e.Quantity
	}
	number, _ := body[amounts[e.Sends][0]].(json.Number)
	amount, err := trade.ParseDecimal(number.String())
	if err != nil {
		return e.Quantity
	}
	out := trade.Quantity{Amount: amount, Unit: e.Quantity.Unit}
	if unit, ok := body[amounts[e.Sends][1]].(string); ok {
		out.Unit = trade.Unit(strings.ToUpper(unit))
	}
	return out
}

func decimalIn(fields map[string]*string, name string) (trade.Decimal, bool) {
	if fields[name] == nil {
		return trade.Decimal{}, false
	}
	d, err := trade.ParseDecimal(*fields[name])
	return d, err == nil
}

func weightIn(sends trade.Kind, fields map[string]*string) (trade.Decimal, bool) {
	names := amounts[sends]
	amount, ok := decimalIn(fields, names[0])
	if !ok || fields[names[1]] == nil {
		return trade.Decimal{}, false
	}
	return trade.Quantity{Amount: amount, Unit: trade.Unit(*fields[names[1]])}.Kilograms()
}

func valueIn(sends trade.Kind, fields map[string]*string) (value trade.Decimal, currency string, ok bool) {
	amount, okAmount := decimalIn(fields, amounts[sends][0])
	price, okPrice := decimalIn(fields, "price")
	if !okAmount || !okPrice || fields["currency"] == nil {
		return trade.Decimal{}, "", false
	}
	return amount.Mul(price), *fields["currency"], true
}

// ackPage is the plan to acknowledge changes of rows.
type ackPage struct {
	Rows   []changedShown
	Plans  []acts.RowPlan
	Count  int // rows that can be acknowledged
	Typed  bool
	Reason string
	Fault  string
}

// ackMost is how many rows can be acknowledged at once: as many as a page has.
const ackMost = pageRows

// planAck plans to acknowledge the rows whose ids a form lists.
func (p *changedRoutes) planAck(q *web.Request) (ackPage, error) {
	var page ackPage
	keys := map[string][]string{}
	var jobs []string
	var entries []trade.Entry
	numbers := q.PostForm["row"]
	if q.PostForm.Get("all") != "" {
		numbers = q.PostForm["shown"]
	}
	if len(numbers) > ackMost {
		return page, web.BadRequest("form")
	}
	for _, text := range numbers {
		entry, err := p.office.EntryByID(q.Context(), Number(text))
		if errors.Is(err, trade.ErrNotFound) {
			continue
		}
		if err != nil {
			return page, err
		}
		entries = append(entries, entry)
		if keys[entry.Job] == nil {
			jobs = append(jobs, entry.Job)
		}
		keys[entry.Job] = append(keys[entry.Job], entry.Key)
	}
	var err error
	page.Rows, err = p.changed(q, entries)
	if err != nil {
		return page, err
	}
	for _, job := range jobs {
		plan, err := p.office.Plan(q.Context(), acts.Order{Act: acts.ActAcknowledge, Job: job, Keys: keys[job]})
		if err != nil {
			return page, err
		}
		page.Plans, page.Count = append(page.Plans, plan), page.Count+plan.Count()
	}
	return page, nil
}

func (p *changedRoutes) planChanged(q *web.Request) error {
	page, err := p.planAck(q)
	if err != nil {
		return err
	}
	if page.Count == 0 {
		q.Tell("changed.nothing")
		if len(q.PostForm["row"]) == 0 {
			q.Tell("changed.unmarked")
		}
		return q.Redirect("/changed")
	}
	return q.Page(http.StatusOK, "changed_plan", page)
}

func (p *changedRoutes) doChanged(q *web.Request) error {
	page, err := p.planAck(q)
	if err != nil {
		return err
	}
	page.Reason, page.Fault = Reason(q)
	switch {
	case page.Count == 0:
		q.Tell("changed.nothing")
		return q.Redirect("/changed")
	case page.Fault != "":
		return q.Page(http.StatusUnprocessableEntity, "changed_plan", page)
	}
	moved, others, err := doPlans(q, p.office, page.Plans, page.Reason)
	if err != nil {
		return err
	}
	if others != nil {
		return Asked(q, others)
	}
	if !moved {
		q.Tell("changed.done")
		return q.Redirect("/changed")
	}
	again, err := p.planAck(q)
	if err != nil {
		return err
	}
	again.Reason, again.Fault = page.Reason, "desk.moved"
	return q.Page(http.StatusConflict, "changed_plan", again)
}
