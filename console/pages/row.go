package pages

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// rowPage is one row with everything that is known of it.
type rowPage struct {
	rowContext
	Shown   string // the key, documents masked
	Key     string // the key as the ERP has it, to be copied; documents masked
	Blank   bool   // a part of it is empty
	Lead    string // columns that people see of it; the key if there are none
	Letter  letter
	There   bool // the platform showed some of its values
	Earlier []timelineStep
	Way     []timelineStep
	Other   trade.Entry // the same document under another key; zero: none is known

	WaitsFor   []waitView
	Dependents []rowLine
	More       bool // there are more dependents

	Glass   *picture.Glass // of a contract with deliveries; nil: none
	History []trade.AuditRecord
	Job     *office.Job    // nil: it is no longer configured
	Halted  trade.JobState // of its job, if that sends nothing now; "" = it does
	Ran     ran
}

// letter is the top of the page: what the row is, its state, who must do what next, and the button
// for that.
type letter struct {
	Now    string // what the row is in the ERP now; "" = the same
	Is     trade.Listing
	Was    trade.Listing // as it was sent
	Gap    trade.Listing // what it has more now, as far as both have it; zero: nothing
	Since  time.Time
	Advice trade.Advice
	Main   *button
	Others []button
}

// button is a link to the plan of an act, or to where something can be done.
type button struct {
	Key  string // of a phrase
	Path string
}

// waitView is one thing that a row waits for, with a link.
type waitView struct {
	Text string
	ID   int64 // id of the parent's row; 0 = there is none
}

// How many items of long lists are shown.
const (
	dependentsShown = 50
	historyShown    = 100
)

func (p *Pages) showRow(q *web.Request) error {
	entry, err := p.entryOf(q)
	if err != nil {
		return err
	}
	page, err := p.rowPage(q, entry, false)
	if err != nil {
		return err
	}
	page.Ran, err = p.orderRan(q, false)
	return q.Show("row", page, err)
}

// revealRow shows a row with its documents.
func (p *Pages) revealRow(q *web.Request) error {
	entry, err := p.revealed(q)
	if err != nil {
		return err
	}
	page, err := p.rowPage(q, entry, true)
	return q.Show("row", page, err)
}

// rowPage reads everything that is known of a row.
func (p *Pages) rowPage(q *web.Request, entry trade.Entry, revealed bool) (*rowPage, error) {
	page := &rowPage{Shown: q.Voice().SpacedKey(entry.Key), Job: p.jobNamed(entry.Job)}
	var err error
	page.rowContext, err = p.rowContextOf(q, entry, revealed)
	if err != nil {
		return nil, err
	}
	if page.Job != nil {
		status, err := p.office.JobStatus(q.Context(), entry.Job)
		if err != nil {
			return nil, err
		}
		if status.State != trade.Idle && status.State != trade.Running {
			page.Halted = status.State
		}
	}
	page.Key, page.Blank = page.Hide(entry.Key), trade.NameBlanks(entry.Key, q.Lang) != entry.Key
	page.Masked = page.Masked || page.Key != entry.Key
	shown := entry.Shown.Masked()
	if revealed {
		page.Shown, shown = entry.Key, entry.Shown
	}
	page.Lead = page.Hide(shown.Lead(page.Shown))
	page.Other, err = p.office.Renumbered(q.Context(), entry)
	if err != nil {
		return nil, err
	}
	page.History, err = p.office.AuditOf(q.Context(), entry.Job+" "+entry.Key, historyShown)
	if err != nil {
		return nil, err
	}
	page.There = slices.ContainsFunc(page.Sides.Fields, func(f office.Field) bool { return f.There != nil })
	for _, w := range entry.WaitingFor {
		v := waitView{Text: page.Hide(trade.NameBlanks(w.Sentence(q.Lang), q.Lang))}
		if w.Job != "" {
			if parent, err := p.office.Entry(q.Context(), w.Job, w.Key); err == nil {
				v.ID = parent.ID
			} else if !errors.Is(err, trade.ErrNotFound) {
				return nil, err
			}
		}
		page.WaitsFor = append(page.WaitsFor, v)
	}
	dependents, err := p.office.Dependents(q.Context(), entry, glassMost)
	if err != nil {
		return nil, err
	}
	if !entry.Flags.Has(trade.Replaced) && !entry.GoneFromERP() { // else they are not of what its key has
		page.Glass = glassOf(q.Voice(), entry, dependents)
	}
	page.More = len(dependents) > dependentsShown
	for _, d := range dependents[:min(len(dependents), dependentsShown)] {
		d.Quantity = office.AskedQuantity(d)
		page.Dependents = append(page.Dependents, rowLine{
			Entry: d, Listing: d.Listing(),
			Reason: page.Hide(trade.NameBlanks(p.office.Voice(q.Lang).Reason(d), q.Lang)),
		})
	}
	page.Way = p.timeline(q.Voice(), page)
	if n := len(page.Way) - maxTimeline; n > 1 {
		page.Earlier, page.Way = page.Way[:n], page.Way[n:]
	}
	page.Letter = p.summary(q, page)
	return page, nil
}

// summary returns the top of the page.
func (p *Pages) summary(q *web.Request, page *rowPage) letter {
	e, attempts := page.Entry, page.Doubt.Attempts
	out := letter{Is: e.Listing(), Since: e.UpdatedAt, Advice: p.office.Advice(e, q.Lang)}
	was := e
	was.Now = nil
	out.Was = was.Listing()
	pair := page.Other
	for _, f := range page.Off {
		if f.Renumbered.ID != 0 { // it is the contract that is one of a pair
			pair = f.Renumbered
		}
	}
	paired := pair.State == trade.Held && e.State == trade.Accepted // the pair is not decided yet
	if paired {
		first := pair.Shown.Masked().First(q.Voice().Key(pair.Key))
		out.Advice.Do = q.Voice().T("row.renumbered.do", first)
	}
	now := page.Hide(sentence(q.Voice(), e, e.Quantity, page.Sides.Fields, office.Field.Newest))
	if now != page.What && !e.GoneFromERP() {
		out.Now = now
		out.Gap.Worth, out.Gap.Kg = out.Is.Worth.Sub(out.Was.Worth), out.Is.Kg.Sub(out.Was.Kg)
		out.Gap.Weighed = out.Is.Weighed && out.Was.Weighed && out.Gap.Kg.Sign() != 0
		if out.Is.Currency == out.Was.Currency && out.Gap.Worth.Sign() != 0 {
			out.Gap.Currency = out.Is.Currency
		}
	}
	for _, a := range attempts {
		switch {
		case e.State == trade.InDoubt && a.Outcome == trade.OutcomeUnknown:
			out.Since = a.StartedAt
		case e.State == trade.Accepted && a.Outcome == trade.OutcomeCreated:
			out.Since = a.FinishedAt
		}
	}
	if page.Job == nil {
		return out
	}
	if q.May(trade.Accountant) {
		question, desk := askOf(e, attempts), "/doubts/"+strconv.FormatInt(e.ID, 10)
		if question != askNothing && question != askERP { // else there is nothing to decide there
			out.Main = &button{"row.desk." + string(question), desk}
			out.Advice.Do = q.Voice().T("row.desk.do", q.Voice().T(out.Main.Key))
		}
		if paired {
			out.Main = &button{"row.desk." + string(askSame), "/doubts/" + strconv.FormatInt(pair.ID, 10)}
		}
		// what may be useful; whether it can be done is in its plan
		offered := acts.OnRow(e.State)
		if e.State == trade.Pending && e.NextAttemptAt.IsZero() || question == askERP { // it goes without an act
			offered = []string{acts.ActDismiss}
		}
		noted := func(f trade.Flag) bool { return slices.Contains(trade.AcknowledgedByAct, f) }
		if !paired && slices.ContainsFunc(e.Flags, noted) && slices.Contains(trade.AcknowledgedIn, e.State) {
			offered = append(offered, acts.ActAcknowledge)
		}
		for _, act := range offered {
			b := button{"act." + act, "/act/" + act + "?row=" + strconv.FormatInt(e.ID, 10)}
			if act == acts.ActRetry && e.State == trade.Held {
				b.Key = "act.go." + doublesOf(question)
			}
			if out.Main == nil && act != acts.ActDismiss && e.State != trade.Waiting {
				out.Main = &b
			} else {
				out.Others = append(out.Others, b)
			}
		}
		if mayKnow(e) && !undecided(e) {
			out.Others = append(out.Others, button{"It is on the platform: give its id", desk})
		}
	}
	kind, code := strings.CutPrefix(e.Cause, "ref:")
	switch {
	case out.Main != nil || e.State != trade.Waiting:
	case code && slices.Contains(trade.ReferenceKinds, kind):
		fill := ""
		for _, w := range e.WaitingFor { // with the code for those who may propose it
			if w.Ref == kind && fill == "" && !view.Masked(w.Code) && q.May(trade.Accountant) {
				fill = w.Code
			}
		}
		out.Main = &button{"Open the references", refPath(kind, fill)}
	case len(page.WaitsFor) > 0 && page.WaitsFor[0].ID > 0:
		parent := "/rows/" + strconv.FormatInt(page.WaitsFor[0].ID, 10)
		out.Main = &button{"See the contract that it waits for", parent}
	}
	if q.May(trade.Accountant) {
		again := button{"Read again from the ERP", ResyncPath("row", strconv.FormatInt(e.ID, 10))}
		if out.Main == nil && e.State == trade.Invalid { // somebody has just corrected it
			out.Main = &again
		} else {
			out.Others = append(out.Others, again)
		}
	}
	return out
}

// sentence returns what a row is: its kind, the quantity, the product and the price. value returns
// a field's value.
func sentence(v view.Voice, e trade.Entry, quantity trade.Quantity, fields []office.Field,
	value func(office.Field) string,
) string {
	text := func(name string) string {
		i := slices.IndexFunc(fields, func(f office.Field) bool { return f.Name == name && !f.Secret })
		if i < 0 {
			return ""
		}
		return value(fields[i])
	}
	is := v.T("row.is."+string(e.Sends), text("order_type"))
	if key := "row.is.order." + text("order_type"); v.Has(key) {
		is = v.T(key)
	}
	parts := []string{is}
	if quantity.Amount.Sign() != 0 {
		volume := v.Decimal(quantity.Amount) + " " + string(quantity.Unit)
		if kg, ok := quantity.Kilograms(); ok {
			volume += " (" + v.Tonnes(kg) + ")"
		}
		parts = append(parts, v.T("row.is.of", volume))
	}
	if product := text("product"); product != "" {
		parts = append(parts, v.T("row.is.of", product))
	}
	more := func(key string, args ...any) { parts[len(parts)-1] += ", " + v.T(key, args...) }
	if harvest := text("haverst"); harvest != "" {
		more("harvest %s", harvest)
	}
	if day := text("delivery_date"); day != "" {
		more("on %s", v.Said("delivery_date", day))
	}
	if price, err := trade.ParseDecimal(text("price")); err == nil {
		figures := trade.Figures{
			Amount: &quantity.Amount, Unit: quantity.Unit, Price: &price,
			Currency: text("currency"),
		}
		more("at %s per %s", strings.TrimSpace(trade.Symbol(figures.Currency)+" "+
			trade.MoneyText(price, v.Language())), string(figures.Unit))
		if value, ok := figures.Value(); ok {
			more("worth %s", v.Money(figures.Currency, value))
		}
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ") + "."
}
