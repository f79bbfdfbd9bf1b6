package pages

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// rowsRoutes are the list of rows and the saved searches.
type rowsRoutes struct {
	office *office.Office
	orders orders
}

func (p *rowsRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/rows", trade.Reader, p.showRows),
		web.Post("/filters", trade.Reader, p.saveFilter),
	}
}

// rowsPage is the list of rows.
type rowsPage struct {
	Filter  rowFilter
	Jobs    []string
	States  []trade.State
	Flags   []trade.Flag
	Rows    []rowLine
	Next    string // query of the next page; "" = this is the last one
	First   string // query of the first page; "" = this is it
	Counted *int   // rows of this filter, if the stored sums contain it
	Many    bool   // too many rows for this order
	Barred  bool   // a document is searched for, by which this person must not find rows
	Columns []rowColumn
	Saved   []trade.SavedFilter
	Query   string // the filter without the page
	Ran     ran
}

// ResyncPath returns the address of the plan to read the rows of the list again.
func (p rowsPage) ResyncPath() string { return ResyncPath("filter", p.Query) }

// SavedPath returns the address of the list with a saved filter. In a template the filter would be
// escaped as a single value.
func (rowsPage) SavedPath(f trade.SavedFilter) string { return "/rows?" + f.Query }

// rowLine is one row of the list.
type rowLine struct {
	trade.Entry
	Shown    string // the key, documents masked
	Reason   string
	Day      trade.Date // of the document; zero: unknown
	Currency string
	Value    *trade.Decimal // amount times price; nil: none
}

// rowColumn is the head of a column by which the list can be sorted.
type rowColumn struct {
	Name   string
	Path   string // address of the list sorted by it
	Sorted string // ascending, descending; "" = not sorted by it
	Number bool
}

// rowColumns returns the heads of the columns. The current sort column links to the reverse order;
// numbers and days begin with the largest.
func rowColumns(f rowFilter) []rowColumn {
	var out []rowColumn
	by, down := f.Sort.Column()
	for _, name := range []trade.RowSort{
		trade.ByTitle, trade.ByDay, trade.ByState, trade.ByVolume, trade.ByValue, trade.ByChanged,
	} {
		c := rowColumn{Name: string(name), Number: name == trade.ByVolume || name == trade.ByValue}
		to := f
		to.Sort = name
		if name != trade.ByTitle && name != trade.ByState {
			to.Sort = "-" + name
		}
		if by == name {
			c.Sorted = "ascending"
			if down {
				c.Sorted = "descending"
			}
			to.Sort = "-" + name
			if down {
				to.Sort = name
			}
		}
		c.Path = "/rows?" + to.values("").Encode()
		out = append(out, c)
	}
	return out
}

// lineOf returns one row of the list.
func (p *rowsRoutes) lineOf(q *web.Request, e trade.Entry) rowLine {
	line := rowLine{Entry: e, Shown: q.Voice().SpacedKey(e.Key), Reason: q.Voice().Key(p.office.Reason(e, q.Lang))}
	line.Quantity = asked(e)
	if currency, value, ok := e.Value(); ok {
		line.Currency, line.Value = currency, &value
	}
	var body struct {
		Ordered   string `json:"order_date"`
		Delivered string `json:"delivery_date"`
	}
	if json.Unmarshal(e.Payload, &body) == nil {
		line.Day, _ = trade.ParseDate(cmp.Or(body.Ordered, body.Delivered)) // zero if there is none
	}
	return line
}

// rowFilter is the filter in the address.
type rowFilter struct {
	trade.RowQuery
	Job       string
	State     string
	Cause     string
	Flag      string
	FromText  string // days as typed
	UntilText string
}

func (p *rowsRoutes) showRows(q *web.Request) error {
	f, err := readFilter(q.URL.Query(), q.Site.Zone)
	if err != nil {
		return err
	}
	page := rowsPage{Filter: f, States: trade.States, Flags: trade.AllFlags, Query: f.values("").Encode()}
	for _, job := range p.office.Jobs() {
		page.Jobs = append(page.Jobs, job.Name)
	}
	f.Limit, f.Masked = pageRows, !q.May(trade.Accountant)
	found, err := p.office.RowPage(q.Context(), f.RowQuery)
	if err != nil {
		return err
	}
	for _, e := range found.Rows {
		page.Rows = append(page.Rows, p.lineOf(q, e))
	}
	page.Many = found.Many
	if page.Many { // they are not in that order
		f.Sort, page.Filter.Sort = trade.NewestFirst, trade.NewestFirst
	}
	page.Columns = rowColumns(f)
	page.Barred = f.Masked && view.Masked(f.Text)
	if found.Next != "" {
		page.Next = "/rows?" + f.values(found.Next).Encode()
	}
	if f.After != "" {
		page.First = "/rows?" + f.values("").Encode()
	}
	page.Counted, err = p.counted(q, f)
	if err != nil {
		return err
	}
	page.Ran, err = p.orders.told(q, true)
	if err != nil {
		return err
	}
	page.Saved, err = p.office.SavedFilters(q.Context(), q.Login.User.ID)
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "rows", page)
}

// counted returns how many rows a filter selects; nil if the stored sums do not contain it.
func (p *rowsRoutes) counted(q *web.Request, f rowFilter) (*int, error) {
	if len(f.Causes)+len(f.Flags) > 0 || f.Text != "" || !f.From.IsZero() || !f.Until.IsZero() {
		return nil, nil //nolint:nilnil // it is not known, which is no error
	}
	n := 0
	for _, job := range p.office.Jobs() {
		if f.Job != "" && f.Job != job.Name {
			continue
		}
		tallies, err := p.office.Counts(q.Context(), job.Name)
		if err != nil {
			return nil, err
		}
		for _, t := range tallies {
			if len(f.States) == 0 || slices.Contains(f.States, t.State) {
				n += t.Count
			}
		}
	}
	return &n, nil
}

// needsPerson is a filter for all states that need a person.
const needsPerson = "needs_person"

// readFilter reads the address strictly, so that an invalid word does not look like an empty list.
func readFilter(v url.Values, zone *time.Location) (rowFilter, error) {
	f := rowFilter{
		Job: v.Get("job"), State: v.Get("state"), Cause: v.Get("cause"), Flag: v.Get("flag"),
		FromText: v.Get("from"), UntilText: v.Get("until"),
	}
	f.Text = trade.UnsayBlanks(strings.TrimSpace(v.Get("q")))
	f.After, f.Sort = v.Get("after"), trade.RowSort(v.Get("sort"))
	for _, text := range []string{f.Job, f.Cause, f.Text} { // PostgreSQL accepts no other text
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return f, web.BadRequest("filter")
		}
	}
	if err := searchFits(f.Text); err != nil {
		return f, err
	}
	if f.Job != "" {
		f.Jobs = []string{f.Job}
	}
	switch {
	case f.State == "":
	case f.State == needsPerson:
		f.States = statesFirst
	case slices.Contains(trade.States, trade.State(f.State)):
		f.States = []trade.State{trade.State(f.State)}
	default:
		return f, web.BadRequest("filter")
	}
	if f.Cause != "" {
		f.Causes = []string{f.Cause}
	}
	if f.Flag != "" {
		if !slices.Contains(trade.AllFlags, trade.Flag(f.Flag)) {
			return f, web.BadRequest("filter")
		}
		f.Flags = []trade.Flag{trade.Flag(f.Flag)}
	}
	if f.Sort == "" {
		f.Sort = trade.NewestFirst
	}
	column, _ := f.Sort.Column()
	if column == "" && !slices.Contains([]trade.RowSort{trade.NewestFirst, trade.OldestFirst, trade.ByKey}, f.Sort) ||
		strings.Trim(f.After, "0123456789") != "" || len(f.After) > 18 {
		return f, web.BadRequest("filter")
	}
	var err error
	f.From, err = readDay(f.FromText, zone, 0)
	if err != nil {
		return f, err
	}
	f.Until, err = readDay(f.UntilText, zone, 1)
	return f, err
}

// What a search may have. Each different word costs the database a search of its own.
const (
	searchLetters = 200
	searchWords   = 10
)

// searchFits returns a fault for a text that is too long to search for.
func searchFits(text string) error {
	words := strings.Fields(strings.ToLower(text))
	slices.Sort(words)
	if utf8.RuneCountInString(text) > searchLetters || len(slices.Compact(words)) > searchWords {
		return web.BadRequest("search")
	}
	return nil
}

// readDay parses a day and returns its beginning, later days after it.
func readDay(text string, zone *time.Location, later int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02", "02/01/2006"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at.AddDate(0, 0, later), nil
		}
	}
	return time.Time{}, web.BadRequest("day")
}

// values returns the filter as query parameters.
func (f rowFilter) values(after string) url.Values {
	v := url.Values{}
	for name, text := range map[string]string{
		"job": f.Job, "state": f.State, "cause": f.Cause, "flag": f.Flag, "q": f.Text, "from": f.FromText,
		"until": f.UntilText, "after": after,
	} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if f.Sort != trade.NewestFirst && f.Sort != "" {
		v.Set("sort", string(f.Sort))
	}
	return v
}

// filterBytes is the largest size of a saved filter.
const filterBytes = 2000

// saveFilter stores the page's filter under a name, or removes one.
func (p *rowsRoutes) saveFilter(q *web.Request) error {
	name := strings.TrimSpace(q.PostForm.Get("name"))
	values, err := url.ParseQuery(q.PostForm.Get("query"))
	if err != nil || name == "" || utf8.RuneCountInString(name) > 60 {
		return web.BadRequest("filter")
	}
	f, err := readFilter(values, q.Site.Zone)
	if err != nil {
		return err
	}
	kept := trade.SavedFilter{User: q.Login.User.ID, Name: name, Query: f.values("").Encode()}
	if kept.Query == "" {
		kept.Query = "sort=newest"
	}
	if len(kept.Query) > filterBytes {
		return web.BadRequest("filter_large")
	}
	record := q.Record("filter save", name, "")
	if q.PostForm.Get("forget") != "" {
		kept.Query, record.Act = "", "filter forget"
	}
	if err := p.office.SaveFilter(q.Context(), kept, record); errors.Is(err, trade.ErrTooMany) {
		return web.BadRequest("filter_many")
	} else if err != nil {
		return err
	}
	return q.Redirect("/rows?" + f.values("").Encode())
}
