package console

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

var reportRoutes = []route{
	{method: http.MethodGet, path: "/report", needs: trade.Reader, takes: reportTakes, handle: showReport},
	{
		method: http.MethodPost, path: "/report/export", needs: trade.Accountant, takes: reportTakes,
		handle: exportReport,
	},
	{
		method: http.MethodPost, path: "/report/close/plan", needs: trade.Accountant, takes: reportTakes,
		handle: planClosing,
	},
	{method: http.MethodPost, path: "/report/close/do", needs: trade.Accountant, takes: reportTakes, handle: doClosing},
}

const (
	reportRows  = 200              // of a section on the page; files have all
	reportTakes = 30 * time.Minute // at most, for a ledger of millions
)

// reportForms are the files of a report, and what they are.
var reportForms = map[string]string{
	"csv": "text/csv; charset=utf-8", "html": "text/html; charset=utf-8", "json": "application/x-ndjson",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

// reportPage is the form, and the report when somebody asked for it.
type reportPage struct {
	Form     url.Values
	Report   *Report
	Closings []trade.Closing
	Fault    string
}

// Get is a field of the form as it was sent.
func (p reportPage) Get(name string) string { return p.Form.Get(name) }

// reportQuery reads the form. A day that is none is a fault: a filter with a typing error must not
// look like an empty report.
func reportQuery(form url.Values) (q ReportQuery, fault string) {
	for name, day := range map[string]*trade.Date{"as_of": &q.AsOf, "from": &q.From, "to": &q.To} {
		text := strings.TrimSpace(form.Get(name))
		if text == "" {
			continue
		}
		var err error
		if *day, err = trade.ParseDate(text); err != nil {
			return q, "report.no_day"
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		return q, "report.backwards"
	}
	for name, list := range map[string]*[]string{
		"harvest": &q.Harvests, "product": &q.Products,
		"producer": &q.Producers, "place": &q.Places, "branch": &q.Branches,
	} {
		for part := range strings.SplitSeq(form.Get(name), ",") {
			if part = strings.TrimSpace(part); part != "" {
				*list = append(*list, part)
			}
		}
	}
	q.Single = form.Get("single") != ""
	return q, ""
}

// future tells whether a day has not begun yet where the cooperative is.
func (q *request) future(day trade.Date) bool {
	return trade.DateOf(q.c.Now().In(q.c.Zone)).Before(day)
}

// patient lets this answer take as long as a large ledger needs, one at a time: whoever waited
// would keep a page from somebody else.
func (q *request) patient() (done func(), err error) {
	select {
	case q.c.reporting <- struct{}{}:
	default:
		return nil, errBusy
	}
	return func() { <-q.c.reporting }, http.NewResponseController(q.w).SetWriteDeadline(time.Now().Add(reportTakes))
}

func showReport(q *request) error {
	page := reportPage{Form: q.URL.Query()}
	var err error
	if page.Closings, err = q.c.Ports.Reports.Closings(q.Context()); err != nil {
		return err
	}
	if page.Get("show") == "" {
		return q.page(http.StatusOK, "report", page)
	}
	query, fault := reportQuery(page.Form)
	if fault == "" && q.future(query.AsOf) {
		fault = "report.future"
	}
	if page.Fault = fault; fault != "" {
		return q.page(http.StatusUnprocessableEntity, "report", page)
	}
	done, err := q.patient()
	if err != nil {
		return err
	}
	defer done()
	report, err := q.c.Ports.Reports.ReadReport(q.Context(), query, q.lang, reportRows)
	if err != nil {
		return err
	}
	page.Report = &report
	return q.page(http.StatusOK, "report", page)
}

func exportReport(q *request) error {
	query, fault := reportQuery(q.PostForm)
	format := q.PostFormValue("format")
	kind, known := reportForms[format]
	if fault != "" || !known || q.future(query.AsOf) {
		return badRequest("form")
	}
	done, err := q.patient()
	if err != nil {
		return err
	}
	defer done()
	name := "conciliacao"
	if !query.AsOf.IsZero() {
		name += "-" + query.AsOf.String()
	}
	return q.c.Ports.Reports.WriteReport(q.Context(), query, q.lang, format,
		&late{q: q, name: name + "." + format, kind: kind}, q.person(""))
}

// late begins the file with its first byte: until then an error has a page of its own.
type late struct {
	q          *request
	name, kind string
}

func (l *late) Write(b []byte) (int, error) {
	if !l.q.wrote {
		l.q.attach(l.name, l.kind)
	}
	return l.q.w.Write(b)
}

// closingPage is what closing a month would keep.
type closingPage struct {
	Plan   ClosingPlan
	Reason string
	Fault  string
}

// closing plans what the form asks for; a fault is that of the form.
func (q *request) closing() (page closingPage, fault string, err error) {
	day, ok := q.c.Ports.Reports.MonthEnd(q.PostFormValue("month"))
	switch {
	case !ok:
		return page, "report.no_month", nil
	case q.future(day):
		return page, "report.month_future", nil
	}
	done, err := q.patient()
	if err != nil {
		return page, "", err
	}
	defer done()
	page.Plan, err = q.c.Ports.Reports.PlanClosing(q.Context(), day)
	if page.Plan.TooEarly {
		fault = "report.month_early"
	}
	page.Reason = q.PostFormValue("reason")
	return page, fault, err
}

// Month is the month of the plan as the form has it.
func (p closingPage) Month() string { return p.Plan.Day.String()[:7] }

// DivergencesPath leads to the divergences of the documents of the plan.
func (p closingPage) DivergencesPath() string {
	return "/report?show=1&to=" + p.Plan.Day.String() + "#divergences"
}

// noClosing shows the form again with what is wrong in it.
func (q *request) noClosing(fault string) error {
	closings, err := q.c.Ports.Reports.Closings(q.Context())
	if err != nil {
		return err
	}
	return q.page(http.StatusUnprocessableEntity, "report",
		reportPage{Form: url.Values{}, Closings: closings, Fault: fault})
}

func planClosing(q *request) error {
	page, fault, err := q.closing()
	switch {
	case err != nil:
		return err
	case fault != "":
		return q.noClosing(fault)
	}
	return q.page(http.StatusOK, "report_close", page)
}

// doClosing keeps what the plan showed. When something has moved since, the new plan is shown, and
// nothing was kept.
func doClosing(q *request) error {
	page, fault, err := q.closing()
	switch {
	case err != nil:
		return err
	case fault != "":
		return q.noClosing(fault)
	}
	if page.Reason, page.Fault = q.reason(); page.Fault != "" {
		return q.page(http.StatusUnprocessableEntity, "report_close", page)
	}
	if len(page.Plan.Before) > 0 && q.PostFormValue("again") == "" {
		page.Fault = "report.close.again"
		return q.page(http.StatusUnprocessableEntity, "report_close", page)
	}
	mark := q.PostFormValue("mark")
	closed := false
	if mark == page.Plan.Mark && len(page.Plan.Uneven) == 0 {
		if closed, err = q.c.Ports.Reports.CloseReport(q.Context(), page.Plan.Day, mark, q.person(page.Reason)); err != nil {
			return err
		}
	}
	if !closed {
		page.Fault = "desk.moved"
		return q.page(http.StatusConflict, "report_close", page)
	}
	q.tell("report.closed")
	return q.redirect("/report")
}

// Formats lists the files in their order.
func (reportPage) Formats() []string { return slices.Sorted(maps.Keys(reportForms)) }
