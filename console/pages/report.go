package pages

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// reportTimeout is the time limit of a report; a ledger of millions needs minutes.
const reportTimeout = 30 * time.Minute

const reportRows = 200 // for each section on the page; files have all

// reportForms are the content types of a report's files, by format.
var reportForms = map[string]string{
	"csv": "text/csv; charset=utf-8", "html": "text/html; charset=utf-8", "json": "application/x-ndjson",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "zip": "application/zip",
}

// reportPage is the form, and the report if it was requested.
type reportPage struct {
	Form     url.Values
	Seasons  []string // by which it can be narrowed
	Report   *reportShown
	Making   *office.ReportProgress // how far it is; nil: it is there, or was not requested
	Counting bool                   // of the seasons: the present one is not known yet
	Closings []trade.Closing        // the latest month first
	Fault    string
	Last     string // the last complete month
	Month    string // the next one to close; "" = all are closed
}

// reportShown is the part of a report that the page shows: the accounts of a measure in a unit, or a section.
type reportShown struct {
	*paper.Report
	Tabs     []paper.Section
	Part     *paper.Table // nil: the accounts
	Groups   []reportGroup
	Settled  int                 // divergences that a person has dealt with
	Measures []reconcile.Measure // that there are
	Measure  reconcile.Measure
	Unit     string
	Table    []accountRow
	Outside  []accountStep // documents of the measure that are in no sum
	Beside   int           // rows of the ERP that are no documents, and of no season
	Opened   *accountRow   // nil: there is none
	Fall     accountFall   // of it
	Causes   []accountStep
	More     []accountStep // further causes, the smallest
}

// form returns the page with its form and the closed months.
func (p *Pages) form(q *web.Request, form url.Values) (page reportPage, err error) {
	now := q.Site.Now().In(q.Site.Zone)
	page = reportPage{Form: form, Last: now.AddDate(0, 0, -now.Day()).Format("2006-01")}
	page.Closings, err = p.office.Closings(q.Context(), trade.Date{})
	page.Month = page.Last
	if len(page.Closings) > 0 {
		page.Month = page.Closings[0].Day.In(time.UTC).AddDate(0, 0, 1).Format("2006-01")
	}
	if page.Month > page.Last {
		page.Month = ""
	}
	return page, err
}

// Get returns a field of the form as it was sent.
func (p reportPage) Get(name string) string { return p.Form.Get(name) }

// With returns the address of the page with other fields, of figures that may be some minutes old.
func (p reportPage) With(pairs ...string) string {
	form := maps.Clone(p.Form)
	form.Del("show")
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return "/report?" + form.Encode()
}

// reportQuery reads the form. An invalid day is a fault, so that a filter with a typing error does
// not look like an empty report.
func reportQuery(form url.Values) (q office.ReportQuery, fault string) {
	for name, day := range map[string]*trade.Date{"from": &q.From, "to": &q.To} {
		text := strings.TrimSpace(form.Get(name))
		if text == "" {
			continue
		}
		var err error
		*day, err = trade.ParseDate(text)
		if err != nil {
			return q, "This is not a date. Use the calendar, or YYYY-MM-DD."
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		return q, "The last day is before the first."
	}
	for name, list := range map[string]*[]string{
		"harvest": &q.Harvests, "product": &q.Products,
		"producer": &q.Producers, "place": &q.Places, "branch": &q.Branches,
	} {
		for part := range strings.SplitSeq(form.Get(name), ",") {
			part = strings.TrimSpace(part)
			if part != "" {
				*list = append(*list, part)
			}
		}
	}
	q.Closing = form.Get("closing")
	if form.Get("single") == "" {
		q.Sections = office.SectionsShown
	}
	return q, ""
}

// extendDeadline extends the deadline of this answer to the time that a large ledger needs. Only one such
// answer may run; another gets ErrReporting at once, because a waiting request would hold a place.
func (p *Pages) extendDeadline(q *web.Request) (done func(), err error) {
	select {
	case p.reporting <- struct{}{}:
	default:
		return nil, web.ErrReporting
	}
	until := time.Now().Add(reportTimeout)
	return func() { <-p.reporting }, http.NewResponseController(q.Writer).SetWriteDeadline(until)
}

func (p *Pages) showReport(q *web.Request) error {
	page, err := p.form(q, q.URL.Query())
	if err != nil {
		return err
	}
	asked := page.Get("show") != ""
	season, err := p.office.Season(q.Context())
	if err != nil { // the report can be made all the same
		q.Site.Log.Warn("the seasons of the report cannot be counted", zap.Error(err))
	}
	present := seasonOf(q, season)
	page.Seasons = present.Seasons
	switch {
	case page.Form.Has("harvest") || page.Get("closing") != "":
	case asked || present.Season == trade.NotKnown: // nor do the links of the page choose a season
		page.Form.Set("harvest", "")
	case season == nil && err == nil:
		page.Making, page.Counting = &office.ReportProgress{}, true
		return q.Page(http.StatusOK, "report", page)
	default:
		page.Form.Set("harvest", present.Season)
	}
	query, fault := reportQuery(page.Form)
	page.Fault = fault
	if fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "report", page)
	}
	report, making, err := p.office.RequestReport(q.Context(), query, q.Lang, reportRows, q.Login.User.Name, asked)
	if err != nil {
		return err
	}
	page.Making = making
	if report == nil {
		return q.Page(http.StatusOK, "report", page)
	}
	page.Report, err = p.shown(q, page.Form, report, p.office.ReportOptions(query, q.Lang))
	return q.Show("report", page, err)
}

// shown returns the part of a report that the form asks for.
func (p *Pages) shown(q *web.Request, form url.Values, all *paper.Report, o reconcile.Options) (*reportShown, error) {
	out := &reportShown{Report: all, Unit: inTonnes, Measure: reconcile.Contracted}
	if unit := form.Get("unit"); unit == inSacas || unit == inMoney {
		out.Unit = unit
	}
	for i, t := range all.Sections {
		if t.ID == reconcile.DifferenceSection { // the accounts say it
			continue
		}
		out.Tabs = append(out.Tabs, t.Section)
		if string(t.ID) == form.Get("part") {
			out.Part = &all.Sections[i]
		}
	}
	past := all.Head.Kind != reconcile.NowKind
	if out.Part != nil {
		return out, p.link(q, out, past)
	}
	for _, m := range reconcile.Measures {
		if m != reconcile.Worth && slices.ContainsFunc(all.Accounts, func(a reconcile.Account) bool {
			return a.Measure == m
		}) {
			out.Measures = append(out.Measures, m)
		}
	}
	for i, m := range out.Measures {
		if i == 0 || string(m) == form.Get("measure") {
			out.Measure = m
		}
	}
	of := out.Measure
	if out.Unit == inMoney { // what is fixed has a value
		out.Measure, of = reconcile.Fixed, reconcile.Worth
	}
	by := accountingOf(q.Voice(), o, past, all.Accounts)
	var rows []accountRow
	for _, a := range all.Accounts {
		if a.Measure != of {
			continue
		}
		if !a.Empty() {
			rows = append(rows, by.row(a, out.Unit))
		}
		for _, l := range a.Outside {
			figure, leads := a.Figure(o.Filter, l)
			if !leads {
				continue
			}
			_, name, _ := strings.Cut(l.Why(o), ": ")
			if a.Currency != "" {
				name += " (" + trade.Symbol(a.Currency) + ")"
			}
			step := accountStep{Step: picture.Step{Mark: picture.Mark{Name: name}}}
			figure.Of.Of.Product = ""
			if !past {
				step.Path = figurePath(figure.Of)
			}
			i := slices.IndexFunc(out.Outside, func(s accountStep) bool { return s.Mark == step.Mark })
			if i < 0 {
				i, out.Outside = len(out.Outside), append(out.Outside, step)
			}
			out.Outside[i].Rows += l.Rows
		}
	}
	for _, s := range all.Summaries {
		if (of == reconcile.Delivered) == (s.Sends == trade.Deliveries) && s.Sends != trade.Traceability {
			for _, b := range s.Beside {
				out.Beside += b.Rows
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b accountRow) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), b.ERP().Cmp(a.ERP()))
	})
	out.Table = tableOf(rows, false)
	for i := range rows {
		if i == 0 || rows[i].Product+" "+rows[i].Currency == form.Get("open") {
			out.Opened, out.Fall, out.Causes = &rows[i], by.fall(rows[i], out.Unit), rows[i].Causes
		}
	}
	if n := len(out.Fall.Steps); len(out.Causes) > n+1 {
		out.Causes, out.More = out.Causes[:n], out.Causes[n:]
	}
	return out, nil
}

func (p *Pages) exportReport(q *web.Request) error {
	query, fault := reportQuery(q.PostForm)
	format := q.PostForm.Get("format")
	kind, known := reportForms[format]
	if fault != "" || !known {
		return web.BadRequest("form")
	}
	done, err := p.extendDeadline(q)
	if err != nil {
		return err
	}
	defer done()
	name := "conciliacao"
	day, err := trade.ParseDate(q.PostForm.Get("day")) // of a closing
	if err == nil {
		name += "-" + day.String()
	}
	_, err = p.office.WriteReport(q.Context(), query, q.Lang, office.ReportFile{Format: format, Name: "-"},
		&Late{q, name + "." + format, kind}, q.Person(""))
	return err
}

// Late begins the file with its first byte; until then an error can be answered with a page.
type Late struct {
	Q          *web.Request
	Name, Kind string
}

func (l *Late) Write(b []byte) (int, error) {
	if !l.Q.Answered {
		attach(l.Q, l.Name, l.Kind)
	}
	return l.Q.Writer.Write(b)
}

// closingPage is what closing a month would store.
type closingPage struct {
	Plan   Closing
	Reason string
	Fault  string
}

// month returns the month in the form, and extends the deadline as patient does. done is nil if a
// response has been written, because something is wrong with the month.
func (p *Pages) month(q *web.Request) (day trade.Date, done func(), err error) {
	day, ok := reconcile.MonthEnd(q.PostForm.Get("month"))
	switch {
	case !ok:
		return day, nil, p.noClosing(q, "This is not a month. Use the calendar, or write YYYY-MM.")
	case trade.DateOf(q.Site.Now().In(q.Site.Zone)).Before(day):
		return day, nil, p.noClosing(q, "This month has not ended yet.")
	}
	done, err = p.extendDeadline(q)
	return day, done, err
}

// Month returns the month of the plan in the form's format.
func (p closingPage) Month() string { return p.Plan.Day.String()[:7] }

// noClosing shows the form again with its fault.
func (p *Pages) noClosing(q *web.Request, fault string) error {
	page, err := p.form(q, url.Values{})
	if err != nil {
		return err
	}
	page.Fault = fault
	return q.Page(http.StatusUnprocessableEntity, "report", page)
}

func (p *Pages) planClosing(q *web.Request) error {
	day, done, err := p.month(q)
	if err != nil || done == nil {
		return err
	}
	defer done()
	plan, err := p.office.PlanClosing(q.Context(), day, office.ReportSources{})
	switch {
	case err != nil:
		return err
	case plan.TooEarly():
		return p.noClosing(q, "There is no document up to this month: nothing to close.")
	}
	return q.Page(http.StatusOK, "report_close", closingPage{
		Plan: p.closingOf(q, plan, false), Reason: q.PostForm.Get("reason"),
	})
}

// doClosing stores what the plan showed. If something has changed since, it stores nothing and
// shows the new plan.
func (p *Pages) doClosing(q *web.Request) error {
	day, done, err := p.month(q)
	if err != nil || done == nil {
		return err
	}
	defer done()
	reason, fault := Reason(q)
	page := closingPage{Reason: reason}
	closing, others, err := p.office.CloseReport(q.Context(), day, office.ReportSources{}, q.Person(reason),
		func(plan reconcile.ClosingPlan) (bool, error) {
			page.Plan = p.closingOf(q, plan, false)
			switch {
			case fault != "":
				page.Fault = fault
			case len(plan.Before) > 0 && q.PostForm.Get("again") == "":
				page.Fault = "This month was already closed. Tick “Close again” to close it once more."
			case q.PostForm.Get("signed") == "":
				page.Fault = "The signature is missing: tick the box to confirm that you have checked the list."
			}
			return page.Fault == "" && plan.Mark == q.PostForm.Get("mark") && !page.Plan.Blocked(), nil
		})
	switch {
	case err != nil:
		return err
	case page.Plan.TooEarly():
		return p.noClosing(q, "There is no document up to this month: nothing to close.")
	case page.Fault != "":
		return q.Page(http.StatusUnprocessableEntity, "report_close", page)
	case others != nil:
		return Asked(q, others)
	case closing.ID == "":
		page.Fault = planMoved
		return q.Page(http.StatusConflict, "report_close", page)
	}
	return q.Done("report.closed", "/report/closings/"+closing.ID)
}

// closedPage is a closing with its content.
type closedPage struct {
	Closing          trade.Closing
	Plan             Closing
	Issuer           string // the cooperative with its CNPJ; "" = that is not configured
	Closer, Approver string // "" = no other person had to approve it
}

// showClosing shows a month as it was closed and signed, for printing.
func (p *Pages) showClosing(q *web.Request) error {
	done, err := p.extendDeadline(q)
	if err != nil {
		return err
	}
	defer done()
	closing, plan, err := p.office.ReadClosing(q.Context(), q.PathValue("id"))
	if err != nil {
		return err
	}
	closer, approver, _ := strings.Cut(closing.Who, trade.Together)
	return q.Page(http.StatusOK, "report_closed",
		closedPage{closing, p.closingOf(q, plan, true), p.office.Cooperative(), closer, approver})
}

// Formats returns the content types of files by their formats.
func (reportPage) Formats() map[string]string { return reportForms }
