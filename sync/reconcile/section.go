// Sections and columns, and the interface of their writers.

package reconcile

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
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
