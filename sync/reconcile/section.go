// Sections and columns, and the interface of their writers.

package reconcile

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// Writer receives the sections of a report in their order. Cells are nil, a string, an int, a
// trade.Decimal, a Day, a time.Time, a Label or a trade.Shown; there are as many as the section has
// columns.
type Writer interface {
	Begin(heading Heading) error
	Section(s Section) error
	Row(cells []any) error
	End() error
}

// Heading is the heading of a report.
type Heading struct {
	Title string
	Lines []string // moment, source, filter and who closed it, in words
	// of when the figures are: the one of the lines that comes before all figures
	Moment string
	Head   Head
	// from the ERP to the platform, by product and measure
	Cover []Account
	Lang  trade.Lang
	Zone  *time.Location
	// public address of the console; "" = nothing leads there
	Console string
}

// Find returns the address at which the console has a row; "" if the section does not lead there, the
// console has no public address, or the key was masked, so that no search finds it.
func (h Heading) Find(section SectionID, key string) string {
	leads := section == DivergencesSection || section == ExceptionsSection
	if h.Console == "" || key == "" || !leads || trade.HasMask(key) {
		return ""
	}
	return h.Console + "/search?" + url.Values{"q": {key}}.Encode()
}

// Foot returns the footer of each printed page: which report it is and, if it is closed, its hash.
func (h Heading) Foot() string {
	if c := h.Head.Closed; c != nil {
		return fmt.Sprintf(sentence("Closing of %s, kept %s · SHA-256 %s", h.Lang), dayText(h.Head.Day, h.Lang),
			trade.MomentText(c.At, h.Lang, h.Zone), c.Hash)
	}
	return fmt.Sprintf(sentence("Report %s · as of %s", h.Lang), h.Head.ID, trade.MomentText(h.Head.At, h.Lang, h.Zone))
}

// Section is one table of a report.
type Section struct {
	ID      SectionID
	Title   string
	Note    string // what its numbers mean, or do not show; "" = none
	Columns []Column
}

// Column is one column of a section.
type Column struct {
	ID    string // in the JSON
	Title string
	Type  Type
}

// Type is the type of the cells of a column.
type Type int

// The types of columns.
const (
	TextColumn   Type = iota // words
	CodeColumn               // text that may look like a number: leading zeros stay
	CountColumn              // int
	NumberColumn             // trade.Decimal
	MoneyColumn              // trade.Decimal, an amount of money or a price
	DayColumn                // Day
	TimeColumn               // time.Time
)

// Number reports whether the column holds numbers.
func (c Column) Number() bool {
	return c.Type == CountColumn || c.Type == NumberColumn || c.Type == MoneyColumn
}

// Day is a calendar day, YYYY-MM-DD; "" = none.
type Day string

// Label is a text for people, with an id for programs.
type Label struct{ ID, Text string }

// textOf returns a cell's text for people; "" for numbers, days and times.
func textOf(cell any) string {
	switch c := cell.(type) {
	case string:
		return trade.Visible(c)
	case Label:
		return trade.Visible(c.Text)
	case trade.Shown:
		return trade.Visible(c.Line())
	}
	return ""
}

// sentence returns a text of the report.
func sentence(key i18n.Key, lang trade.Lang) string { return i18n.Report.Text(lang, key) }

// column is a column whose title is not translated yet.
type column struct {
	id    string
	title i18n.Key
	typ   Type
}

// Text returns a cell of the column as text in a language.
func (c Column) Text(cell any, lang trade.Lang, zone *time.Location) string {
	if d, ok := cell.(trade.Decimal); ok && c.Type == MoneyColumn {
		return trade.MoneyText(d, lang)
	}
	return PlainText(cell, lang, zone)
}

// PlainText returns a cell as text in a language.
func PlainText(cell any, lang trade.Lang, zone *time.Location) string {
	switch c := cell.(type) {
	case int:
		return trade.NumberText(strconv.Itoa(c), lang)
	case trade.Decimal:
		return trade.NumberText(c.String(), lang)
	case Day:
		return dayText(string(c), lang)
	case time.Time:
		return trade.MomentText(c, lang, zone)
	}
	return textOf(cell)
}

// csvWriter writes numbers with a decimal comma, and days as DD/MM/AAAA.
type csvWriter struct {
	to     io.Writer
	rows   workbook.CSV
	zone   *time.Location
	single bool // one section: only the table, without heading and titles
}

// NewCSV returns a writer of a report as CSV. With one section it writes only the table; with
// several it writes the heading first, and a title above each.
func NewCSV(to io.Writer, sections int) Writer { return &csvWriter{to: to, single: sections == 1} }

func (w *csvWriter) Begin(h Heading) (err error) {
	w.zone = h.Zone
	w.rows, err = workbook.BeginCSV(w.to)
	if err != nil || w.single {
		return err
	}
	for _, line := range append([]string{h.Title}, h.Lines...) {
		err = errors.Join(err, w.rows.Row([]string{line}))
	}
	return err
}

func (w *csvWriter) Section(s Section) error {
	var errs []error
	if !w.single {
		errs = append(errs, w.rows.Row([]string{""}), w.rows.Row([]string{s.Title}))
		if s.Note != "" {
			errs = append(errs, w.rows.Row([]string{s.Note}))
		}
	}
	titles := trade.Map(s.Columns, func(c Column) string { return c.Title })
	return errors.Join(append(errs, w.rows.Row(titles))...)
}

func (w *csvWriter) Row(cells []any) error {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		switch c := cell.(type) {
		case int:
			texts[i] = strconv.Itoa(c)
		case trade.Decimal:
			texts[i] = decimalText(c, trade.Portuguese)
		case Day:
			texts[i] = dayText(string(c), trade.Portuguese)
		case time.Time:
			texts[i] = c.In(w.zone).Format("02/01/2006 15:04:05")
		default:
			texts[i] = textOf(cell)
		}
	}
	return w.rows.Row(texts)
}

func (w *csvWriter) End() error { return w.rows.Close() }

// typed is a list of column ids of one type.
type typed struct {
	typ Type
	ids []string
}

func (t Type) of(ids ...string) typed { return typed{t, ids} }

// columnsOf returns columns by their ids. The title of a column is the text with the key column + id; where a
// section calls it otherwise, its name stands before the id: exceptions.by.
func columnsOf(groups ...typed) []column {
	var out []column
	for _, group := range groups {
		for _, name := range group.ids {
			id := name[strings.LastIndex(name, ".")+1:]
			out = append(out, column{id, "column." + name, group.typ})
		}
	}
	return out
}

// The columns of the sections. Their ids are those of the JSON, to which ids are only ever added
// (docs/json.md).
var (
	showColumn  = columnsOf(CodeColumn.of("show"))
	jobColumn   = columnsOf(TextColumn.of("job"))
	leadColumns = columnsOf(TextColumn.of("job"), CodeColumn.of("branch", "key", "remote_id"))

	placeColumns  = columnsOf(TextColumn.of("product"), CodeColumn.of("harvest", "producer", "place", "wallet"))
	volumeColumns = columnsOf(TextColumn.of("unit"),
		NumberColumn.of("amount_erp", "amount_sent", "kg_erp", "kg_sent", "kg_difference", "sc_erp", "sc_sent"))
	standColumns = columnsOf(TextColumn.of("state", "flags", "reason", "who"), TimeColumn.of("sent_at"),
		TextColumn.of("by"))
	platformColumns = columnsOf(
		NumberColumn.of("kg_platform"), MoneyColumn.of("value_platform"), TextColumn.of("platform"))

	summaryColumns = slices.Concat(jobColumn,
		columnsOf(TextColumn.of("sends", "line"), CountColumn.of("rows"), TextColumn.of("role")))
	bridgeColumns = slices.Concat(jobColumn,
		columnsOf(TextColumn.of("line"), CountColumn.of("rows"), NumberColumn.of("kg"), TextColumn.of("currency"),
			MoneyColumn.of("value"), CountColumn.of("without_weight"), TextColumn.of("role"), CodeColumn.of("keys")))
	differenceColumns = columnsOf(
		TextColumn.of("product", "measure", "line", "state"), CodeColumn.of("cause"),
		CountColumn.of("difference.rows"), NumberColumn.of("kg"), TextColumn.of("currency"),
		MoneyColumn.of("value"), TextColumn.of("difference.role"))
	totalsColumns = columnsOf(TextColumn.of("by"), CodeColumn.of("name"), TextColumn.of("product"),
		NumberColumn.of("kg_contracted", "sc_contracted", "kg_delivered", "sc_delivered", "kg_to_deliver",
			"sc_to_deliver", "kg_fixed", "sc_fixed", "kg_from_deposit", "kg_to_fix", "sc_to_fix"),
		TextColumn.of("currency"), MoneyColumn.of("value_fixed", "totals.value_sent"),
		NumberColumn.of("kg_contracted_sent", "kg_delivered_sent", "kg_fixed_sent", "kg_dismissed"),
		CountColumn.of("totals.rows", "without_unit", "without_price"))
	contractsColumns = slices.Concat(leadColumns,
		columnsOf(TextColumn.of("order_type"), DayColumn.of("order_date")),
		placeColumns, volumeColumns,
		columnsOf(TextColumn.of("currency"),
			MoneyColumn.of("price_erp", "value_erp", "value_sent", "value_difference")),
		platformColumns, standColumns, statusColumns(trade.OrderCommitments))
	deliveriesColumns = slices.Concat(leadColumns,
		columnsOf(CodeColumn.of("contract"), DayColumn.of("delivery_date")),
		placeColumns, volumeColumns, columnsOf(CodeColumn.of("car")), standColumns)
	traceabilityColumns = slices.Concat(leadColumns,
		columnsOf(CodeColumn.of("contract")),
		placeColumns, volumeColumns, standColumns, statusColumns(trade.Traceability))
	divergencesColumns = slices.Concat(leadColumns, columnsOf(
		TextColumn.of("kind"), NumberColumn.of("here", "there", "difference"),
		TextColumn.of("divergences.unit", "note", "product"), CodeColumn.of("harvest", "producer"),
		TextColumn.of("acknowledged")))
	exceptionsColumns = columnsOf(TimeColumn.of("at"), TextColumn.of("exceptions.by", "act", "job"),
		CodeColumn.of("key"), TextColumn.of("reason", "before", "after"), CountColumn.of("audit"))
	messagesColumns = columnsOf(CodeColumn.of("message"), CountColumn.of("count"),
		TimeColumn.of("last_seen_at"), TextColumn.of("known", "what", "who"))
)
