// The filter of the list of documents, as the address has it and as people see it.

package pages

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// rowChip is a part of the filter, and the address of the list without it.
type rowChip struct {
	Text, Off string
	Faceted   bool // it stands where it is set
}

// facets are the parts of the filter that the row above the list sets.
var facets = []string{"q", "state", "harvest", "product", "producer", "branch"}

// rowCause is a cause that can be filtered by.
type rowCause struct{ Cause, Text string }

// rowFilter is the filter in the address.
type rowFilter struct {
	trade.RowQuery
	Job       string
	State     string
	Cause     string
	Flag      string
	FromText  string // days as typed
	UntilText string

	// days of documents and amounts of money as typed
	DayFrom, DayUntil, ValueFrom, ValueUntil string
}

// plainSort is the order of a filter that names none: who narrows by a day or by money wants to see it
// in that order.
func (f rowFilter) plainSort() trade.RowSort {
	switch {
	case f.DayFrom+f.DayUntil != "":
		return "-" + trade.ByDay
	case f.ValueFrom+f.ValueUntil != "":
		return "-" + trade.ByValue
	}
	return trade.NewestFirst
}

// Plain reports whether the filter is in the order that it has by itself.
func (f rowFilter) Plain() bool { return f.Sort == f.plainSort() }

// texts returns the parts of the filter by their names in addresses, which may be set through it.
func (f *rowFilter) texts() map[string]*string {
	out := map[string]*string{
		"job": &f.Job, "state": &f.State, "cause": &f.Cause, "flag": &f.Flag, "q": &f.Text,
		"product": &f.Facts.Product, "producer": &f.Facts.Producer, "branch": &f.Facts.Branch,
		"day_from": &f.DayFrom, "day_until": &f.DayUntil, "value_from": &f.ValueFrom, "value_until": &f.ValueUntil,
		"from": &f.FromText, "until": &f.UntilText,
	}
	for _, part := range f.Of.Parts() {
		out[part.Name] = part.Text
	}
	return out
}

// chips returns the parts of a filter by their names, each with the address of the list without it.
func (p *Pages) chips(q *web.Request, f rowFilter) map[string]rowChip {
	out := map[string]rowChip{}
	for name, text := range f.texts() {
		if name == "job" || *text == "" || *text == trade.AnyCause {
			continue
		}
		without := f
		*without.texts()[name] = ""
		off := "/rows?" + without.values("").Encode()
		out[name] = rowChip{p.partText(q, f, name, *text), off, slices.Contains(facets, name)}
	}
	return out
}

// partText says in words what a part of a filter means.
func (p *Pages) partText(q *web.Request, f rowFilter, name, text string) string {
	v := q.Voice()
	switch name {
	case "q":
		return "“" + v.Key(text) + "”"
	case "state":
		if text == needsPerson || text == onItsWay {
			return v.T("rows." + text)
		}
		return v.State(trade.State(text))
	case "cause":
		return view.Mask(p.office.CauseName(text, q.Lang))
	case "flag":
		return v.Flag(trade.Flag(text))
	case "product", "producer", "branch":
		return v.T("rows.column."+name) + ": " + view.Mask(text)
	case "day_from":
		return v.T("Date from %s", v.Date(f.Facts.DayFrom))
	case "day_until":
		return v.T("Date until %s", v.Date(f.Facts.DayUntil))
	case "value_from":
		return v.T("Value from %s", text)
	case "value_until":
		return v.T("Value until %s", text)
	case "from":
		return v.T("Changed from") + " " + v.Day(f.From)
	case "until":
		return v.T("Changed until %s", v.Day(f.Until.AddDate(0, 0, -1)))
	case "measure":
		return reconcile.AccountWord("measure."+text, q.Lang)
	case "line":
		word, outside := strings.CutPrefix(text, "outside:")
		if outside || slices.Contains(reconcile.Afters, text) {
			return reconcile.AccountWord(word, q.Lang)
		}
		return v.T("rows.of.line." + text)
	case "age":
		return v.T("season.age." + text)
	case "who":
		return v.T("home.who." + text)
	case "kind":
		return v.T("rows.of.kind." + strings.ReplaceAll(text, " ", "_"))
	case "of_run":
		id, result, _ := strings.Cut(text, ":")
		run, _ := p.office.Run(q.Context(), id) // the list itself fails
		return v.T("rows.of.of_run", p.office.Titles(q.Lang).Of(run.Job), v.Time(run.StartedAt), v.T("run.part."+result))
	case "group":
		kind, code := "", ""
		if of, missing := strings.CutPrefix(text, "code:"); missing {
			kind, code, _ = strings.Cut(of, ":")
			text = "ref:" + kind
		}
		return p.office.CauseText(q.Context(), text, q.Lang) + " " + view.Mask(code)
	}
	if text == trade.NotKnown {
		text = v.T("no product")
	}
	return v.T("rows.of."+name, view.Mask(text))
}

// onItsWay is a filter for all states of rows that wait for their turn or for another row.
const onItsWay = "waits"

var onTheWay = []trade.State{trade.Pending, trade.Sending, trade.Waiting}

// needsPerson is a filter for the rows that have a cause themselves which keeps them.
const needsPerson = "needs_person"

// readFilter reads the address strictly, so that an invalid word does not look like an empty list.
func readFilter(v url.Values, zone *time.Location) (rowFilter, error) {
	f := rowFilter{}
	for name, text := range f.texts() {
		*text = strings.TrimSpace(v.Get(name))
		if !utf8.ValidString(*text) || strings.Contains(*text, "\x00") { // PostgreSQL accepts no other text
			return f, web.BadRequest("filter")
		}
	}
	f.Text = trade.RemoveBlankNames(f.Text)
	f.After, f.Sort = v.Get("after"), trade.RowSort(v.Get("sort"))
	for _, text := range []string{f.Facts.Product, f.Facts.Producer, f.Facts.Branch} {
		if utf8.RuneCountInString(text) > searchLetters {
			return f, web.BadRequest("search")
		}
	}
	for day, text := range map[*trade.Date]string{&f.Facts.DayFrom: f.DayFrom, &f.Facts.DayUntil: f.DayUntil} {
		at, err := readDay(text, time.UTC, 0)
		if err != nil {
			return f, err
		}
		if !at.IsZero() {
			*day = trade.DateOf(at)
		}
	}
	for worth, text := range map[**trade.Decimal]string{
		&f.Facts.WorthFrom: f.ValueFrom, &f.Facts.WorthUntil: f.ValueUntil,
	} {
		at, err := readMoney(text)
		if err != nil {
			return f, err
		}
		*worth = at
	}
	if err := searchFits(f.Text); err != nil {
		return f, err
	}
	if f.Job != "" {
		f.Jobs = []string{f.Job}
	}
	switch {
	case f.State == "":
	case f.State == onItsWay:
		f.States = onTheWay
	case f.State == needsPerson:
		f.Of.Group = trade.AnyCause
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
		f.Sort = f.plainSort()
	}
	column, _ := f.Sort.Column()
	if column == "" && !slices.Contains([]trade.RowSort{trade.NewestFirst, trade.OldestFirst, trade.ByKey}, f.Sort) ||
		!placeForm.MatchString(f.After) || column == "" && strings.Contains(f.After, "_") ||
		strings.Count(f.Of.Harvest, ",") >= seasonsMost {
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

// placeForm is the form of what asks for a later page.
var placeForm = regexp.MustCompile(`^([0-9]{1,18}(_-?[0-9]{1,18})?)?$`)

// readMoney parses an amount of money as people type it: 1.753.980,00, R$ 1753980 or 1753980.00.
func readMoney(text string) (*trade.Decimal, error) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.ToUpper(text), "R$"))
	if text == "" {
		return nil, nil
	}
	n, err := trade.ParseTyped(text)
	if err != nil {
		return nil, web.BadRequest("money")
	}
	return &n, nil
}

// What a search, and a list, may have. Each different word costs the database a search of its own.
const (
	searchLetters = 200
	searchWords   = 10
	seasonsMost   = 100
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
	for name, text := range f.texts() {
		if *text != "" && *text != trade.AnyCause {
			v.Set(name, *text)
		}
	}
	if after != "" {
		v.Set("after", after)
	}
	if !f.Plain() && f.Sort != "" {
		v.Set("sort", string(f.Sort))
	}
	return v
}

// Kept returns the parts of the filter that no field of its form has.
func (f rowFilter) Kept() url.Values {
	kept := rowFilter{RowQuery: trade.RowQuery{Of: f.Of}}
	kept.Of.Harvest = ""
	return kept.values("")
}

// figurePath returns the address of the list of the rows that a number counts.
func figurePath(of trade.RowQuery) string {
	f := rowFilter{RowQuery: of}
	switch {
	case len(of.States) > 1:
		f.State = onItsWay
	case len(of.States) == 1:
		f.State = string(of.States[0])
	}
	if len(of.Causes) == 1 {
		f.Cause = of.Causes[0]
	}
	if len(of.Jobs) == 1 {
		f.Job = of.Jobs[0]
	}
	return "/rows?" + f.values("").Encode()
}

// find redirects to the row that matches, or to the list if several or none match.
func (p *Pages) find(q *web.Request) error {
	text := strings.TrimSpace(q.Form.Get("q"))
	if text == "" {
		return q.Redirect("/rows")
	}
	values := url.Values{"q": {text}}
	f, err := readFilter(values, q.Site.Zone)
	if err != nil {
		return err
	}
	f.Limit, f.Masked = 2, !q.May(trade.Accountant)
	found, err := p.office.RowPage(q.Context(), f.RowQuery)
	if err != nil {
		return err
	}
	if len(found.Rows) == 1 {
		return q.Redirect("/rows/" + strconv.FormatInt(found.Rows[0].ID, 10))
	}
	return q.Redirect("/rows?" + values.Encode())
}
