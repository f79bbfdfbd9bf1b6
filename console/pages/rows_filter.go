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
type rowChip struct{ Text, Off string }

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

// chips returns the parts of a filter, each with the address of the list without it.
func (p *Pages) chips(q *web.Request, f rowFilter) []rowChip {
	v := q.Voice()
	var out []rowChip
	add := func(on bool, text string, off func(*rowFilter)) {
		if on {
			without := f
			off(&without)
			out = append(out, rowChip{text, "/rows?" + without.values("").Encode()})
		}
	}
	add(f.Text != "", "“"+view.Mask(trade.SayBlanks(f.Text, q.Lang))+"”", func(f *rowFilter) { f.Text = "" })
	state := v.State(trade.State(f.State))
	if f.State == needsPerson || f.State == onItsWay {
		state = v.T("rows." + f.State)
	}
	add(f.State != "", state, func(f *rowFilter) { f.State = "" })
	add(f.Cause != "", view.Mask(p.office.CauseName(f.Cause, q.Lang)), func(f *rowFilter) { f.Cause = "" })
	add(f.Flag != "", v.Flag(trade.Flag(f.Flag)), func(f *rowFilter) { f.Flag = "" })
	for i, part := range f.Of.Parts() {
		add(*part.Text != "" && *part.Text != trade.AnyCause, p.partText(q, part), func(f *rowFilter) { *f.Of.Parts()[i].Text = "" })
	}
	named := func(key, text string, off func(*rowFilter)) {
		add(text != "", v.T(key)+": "+view.Mask(text), off)
	}
	named("rows.column.product", f.Facts.Product, func(f *rowFilter) { f.Facts.Product = "" })
	named("rows.column.producer", f.Facts.Producer, func(f *rowFilter) { f.Facts.Producer = "" })
	named("rows.column.branch", f.Facts.Branch, func(f *rowFilter) { f.Facts.Branch = "" })
	add(f.DayFrom != "", v.T("Date from %s", v.Date(f.Facts.DayFrom)), func(f *rowFilter) { f.DayFrom = "" })
	add(f.DayUntil != "", v.T("Date until %s", v.Date(f.Facts.DayUntil)), func(f *rowFilter) { f.DayUntil = "" })
	add(f.ValueFrom != "", v.T("Value from %s", f.ValueFrom), func(f *rowFilter) { f.ValueFrom = "" })
	add(f.ValueUntil != "", v.T("Value until %s", f.ValueUntil), func(f *rowFilter) { f.ValueUntil = "" })
	add(f.FromText != "", v.T("Changed from")+" "+v.Day(f.From), func(f *rowFilter) { f.FromText = "" })
	add(f.UntilText != "", v.T("Changed until %s", v.Day(f.Until.AddDate(0, 0, -1))),
		func(f *rowFilter) { f.UntilText = "" })
	return out
}

// partText says in words what a part of a selection means.
func (p *Pages) partText(q *web.Request, part trade.SelectionPart) string {
	v, text := q.Voice(), *part.Text
	switch part.Name {
	case "measure":
		return reconcile.AccountWord("measure."+text, q.Lang)
	case "line":
		if reason, outside := strings.CutPrefix(text, "outside:"); outside {
			return reconcile.AccountWord(reason, q.Lang)
		}
		if slices.Contains(reconcile.Afters, text) {
			return reconcile.AccountWord(text, q.Lang)
		}
		return v.T("rows.of.line." + text)
	case "age":
		return v.T("season.age." + text)
	case "who":
		return v.T("home.who." + text)
	case "kind":
		return v.T("rows.of.kind." + strings.ReplaceAll(text, " ", "_"))
	case "group":
		return p.office.CauseText(q.Context(), text, q.Lang)
	}
	if text == trade.NotKnown {
		text = v.T("no product")
	}
	return v.T("rows.of."+part.Name, view.Mask(text))
}

// onItsWay is a filter for all states of rows that wait for their turn or for another row.
const onItsWay = "waits"

var onTheWay = []trade.State{trade.Pending, trade.Sending, trade.Waiting}

// needsPerson is a filter for the rows that have a cause themselves which keeps them.
const needsPerson = "needs_person"

// readFilter reads the address strictly, so that an invalid word does not look like an empty list.
func readFilter(v url.Values, zone *time.Location) (rowFilter, error) {
	f := rowFilter{
		Job: v.Get("job"), State: v.Get("state"), Cause: v.Get("cause"), Flag: v.Get("flag"),
		FromText: v.Get("from"), UntilText: v.Get("until"), DayFrom: v.Get("day_from"), DayUntil: v.Get("day_until"),
		ValueFrom: strings.TrimSpace(v.Get("value_from")), ValueUntil: strings.TrimSpace(v.Get("value_until")),
	}
	f.Text = trade.UnsayBlanks(strings.TrimSpace(v.Get("q")))
	f.After, f.Sort = v.Get("after"), trade.RowSort(v.Get("sort"))
	for name, text := range map[string]*string{
		"product": &f.Facts.Product, "producer": &f.Facts.Producer, "branch": &f.Facts.Branch,
	} {
		*text = strings.TrimSpace(v.Get(name))
		if utf8.RuneCountInString(*text) > searchLetters {
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
	var err error
	f.Facts.WorthFrom, err = readMoney(f.ValueFrom)
	if err != nil {
		return f, err
	}
	f.Facts.WorthUntil, err = readMoney(f.ValueUntil)
	if err != nil {
		return f, err
	}
	texts := []string{f.Job, f.Cause, f.Text, f.Facts.Product, f.Facts.Producer, f.Facts.Branch}
	for _, part := range f.Of.Parts() {
		*part.Text = v.Get(part.Name)
		texts = append(texts, *part.Text)
	}
	for _, text := range texts { // PostgreSQL accepts no other text
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
		!placeForm.MatchString(f.After) || column == "" && strings.Contains(f.After, "_") {
		return f, web.BadRequest("filter")
	}
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
		"until": f.UntilText, "after": after, "product": f.Facts.Product, "producer": f.Facts.Producer,
		"branch": f.Facts.Branch, "day_from": f.DayFrom, "day_until": f.DayUntil, "value_from": f.ValueFrom,
		"value_until": f.ValueUntil,
	} {
		if text != "" {
			v.Set(name, text)
		}
	}
	for _, part := range f.Of.Parts() {
		if *part.Text != "" && *part.Text != trade.AnyCause {
			v.Set(part.Name, *part.Text)
		}
	}
	if !f.Plain() && f.Sort != "" {
		v.Set("sort", string(f.Sort))
	}
	return v
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
