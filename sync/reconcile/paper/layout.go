// The layout of a report: which columns people see, and what is beneath them.

package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Column is the heading of a column.
type Column struct {
	ID    string // of the report's column
	Title string
	Type  reconcile.Type
	Lead  bool // identifies the row
}

// Class returns the CSS class of its cells: number, day, code, or "" for text.
func (c Column) Class() string {
	switch c.Type {
	case reconcile.CountColumn, reconcile.NumberColumn, reconcile.MoneyColumn:
		return "number"
	case reconcile.DayColumn, reconcile.TimeColumn:
		return "day"
	case reconcile.CodeColumn:
		return "code"
	}
	return ""
}

// Section is one table.
type Section struct {
	ID      reconcile.SectionID
	Title   string
	Note    string
	Columns []Column
}

// Cell is the content of a column in a row.
type Cell struct {
	Text    string
	Beneath []string // in smaller type
	Path    string   // link in a browser; "" = none
}

// Line is one row of a table.
type Line struct {
	// role of the row in an account: total, summand, part, of_which, proof or outside; "" = none
	Role  string
	Cells []Cell
	// Names are the ids behind the labels of its columns, such as those of the job and the line.
	Names map[string]string
	Key   string // of the row in the ERP; "" = it is about none
	// of a total: its season, producer or place, and its product; "" = unknown, or all
	Name, Product string
	Sums          trade.Sums // of a divergence: its difference
}

// Reader receives a report that is laid out.
type Reader interface {
	Begin(heading reconcile.Heading) error
	Section(s Section) error
	Row(r Line) error
	End() error
}

// A column of a layout, and what is beneath it, are ids of the report's columns. "a|b" takes the
// first that has a text; "a@b" is an amount with its unit or currency; "#a" is preceded by its
// title; "?a" is too, but is left out if zero; ">a" is what was sent; "~a" is sacas; "!here" and "!there" say
// what the numbers of a divergence are.
type layout struct {
	main    string
	beneath []string
}

func one(main string, beneath ...string) layout { return layout{main, beneath} }

var (
	lead    = one("show|key", "key", "remote_id")
	product = one("product", "harvest", "producer", "place")
	weights = []layout{one("kg_erp", "amount_erp@unit"), one("kg_sent", "amount_sent@unit"), one("kg_difference")}
)

// layouts have three to eight columns each.
var layouts = map[reconcile.SectionID][]layout{
	reconcile.SummarySection: {one("job"), one("line"), one("rows")},
	reconcile.BridgeSection: {
		one("job"), one("line", "#keys"), one("rows"), one("kg"), one("value@currency"), one("without_weight"),
	},
	reconcile.DifferenceSection: {
		one("product"), one("measure"), one("line"), one("rows"), one("kg"), one("value@currency"),
	},
	reconcile.TotalsSection: {
		one("name|by", "by"), one("product"), one("kg_contracted", "~sc_contracted", ">kg_contracted_sent"),
		one("kg_delivered", "~sc_delivered", ">kg_delivered_sent"), one("kg_to_deliver", "~sc_to_deliver"),
		one("kg_fixed", "~sc_fixed", ">kg_fixed_sent", "?kg_from_deposit"), one("kg_to_fix", "~sc_to_fix"),
		one("value_fixed@currency", ">value_sent"),
	},
	reconcile.ContractsSection: {
		lead, one("order_date", "order_type"), product, weights[0], weights[1], weights[2],
		one("value_erp@currency", "#price_erp", "?value_difference"),
		one("state", "flags", "reason", "#who", "#sent_at", "#by", "#kg_platform", "#value_platform",
			"#workflow", "#esg_producer"),
	},
	reconcile.DeliveriesSection: {
		lead, one("delivery_date"), one("contract"), product, weights[0], weights[1], weights[2],
		one("state", "flags", "reason", "#who", "#sent_at", "#by"),
	},
	reconcile.TraceabilitySection: {
		lead, one("contract"), product, weights[0], weights[1], weights[2],
		one("state", "flags", "reason", "#who", "#sent_at", "#by", "#esg_producer", "#esg_farm"),
	},
	reconcile.DivergencesSection: {
		one("show|key", "key", "job", "remote_id"), one("kind", "note", "acknowledged"), one("here@unit", "!here"),
		one("there@unit", "!there"), one("difference@unit"), one("product", "harvest", "producer"),
	},
	reconcile.ExceptionsSection: {
		one("at"), one("by"), one("act"), one("key", "job"), one("reason"), one("after", "#before"), one("audit"),
	},
	reconcile.MessagesSection: {one("message"), one("what", "#who"), one("count"), one("last_seen_at"), one("known")},
}

// laid lays out a report for a reader.
type laid struct {
	to      Reader
	heading reconcile.Heading
	section reconcile.Section
	layout  []layout
	there   map[string]int // indexes of the section's columns, by id
}

// For returns a writer that lays out a report for a reader.
func For(to Reader) reconcile.Writer { return &laid{to: to} }

func (l *laid) Begin(h reconcile.Heading) error {
	l.heading = h
	return l.to.Begin(h)
}

func (l *laid) Section(s reconcile.Section) error {
	s.Columns = slices.Clone(s.Columns)
	l.section, l.there = s, map[string]int{}
	for i, c := range s.Columns {
		l.there[c.ID] = i
		if inKilograms(c) {
			s.Columns[i].Title = strings.Replace(c.Title, "kg", "t", 1)
		}
	}
	out := Section{ID: s.ID, Title: s.Title, Note: s.Note}
	l.layout = layouts[s.ID]
	for _, column := range l.layout {
		var c reconcile.Column // of the title
		for part := range strings.SplitSeq(column.main, "|") {
			id, _, _ := strings.Cut(part, "@")
			if i, ok := l.there[id]; ok {
				c = s.Columns[i]
				break
			}
		}
		typ := c.Type
		if c.ID == "show" || c.ID == "name" {
			typ = reconcile.TextColumn
		}
		leads := c.ID == "line" || strings.Contains(column.main, "|")
		out.Columns = append(out.Columns, Column{c.ID, c.Title, typ, leads})
	}
	return l.to.Section(out)
}

func (l *laid) Row(cells []any) error {
	row := Line{Names: map[string]string{}}
	for i, cell := range cells {
		if label, ok := cell.(reconcile.Label); ok {
			row.Names[l.section.Columns[i].ID] = label.ID
		}
	}
	if i, ok := l.there["difference"]; ok {
		d, _ := cells[i].(trade.Decimal)
		if row.Names["kind"] == string(reconcile.OverDelivered) { // an excess is nothing that is missing
			d = d.Neg()
		}
		switch unit, _ := cells[l.there["unit"]].(string); {
		case unit == "kg":
			row.Sums.Kilograms = d
		case d.Sign() != 0:
			row.Sums.Values = map[string]trade.Decimal{unit: d}
		}
	}
	row.Role = row.Names["role"]
	row.Key, row.Name, row.Product = l.plain(cells, "key"), l.plain(cells, "name"), l.plain(cells, "product")
	for _, column := range l.layout {
		var cell Cell
		for part := range strings.SplitSeq(column.main, "|") {
			cell.Text = l.text(cells, part)
			if cell.Text != "" {
				break
			}
		}
		for _, part := range column.beneath {
			if text := l.text(cells, part); text != "" && text != cell.Text && text != cell.Text+" ton" {
				cell.Beneath = append(cell.Beneath, text)
			}
		}
		row.Cells = append(row.Cells, cell)
	}
	return l.to.Row(row)
}

// plain returns a text as the report has it; "" if there is none.
func (l *laid) plain(cells []any, id string) string {
	text := ""
	if i, ok := l.there[id]; ok {
		text, _ = cells[i].(string)
	}
	return text
}

// sides says what the two numbers of a divergence are.
var sides = map[reconcile.DivergenceKind][2]i18n.Key{
	reconcile.VolumeDiffers: {"in the ERP", "sent"}, reconcile.ValueDiffers: {"in the ERP", "sent"},
	reconcile.LeftERP:        {"in the ERP", "sent"},
	reconcile.OverDelivered:  {"contracted", "delivered"},
	reconcile.PlatformVolume: {"sent", "on the platform"},
	reconcile.PlatformValue:  {"sent", "on the platform"},
}

// side says which side of a divergence a number is.
func (l *laid) side(cells []any, there int) string {
	kind, _ := cells[l.there["kind"]].(reconcile.Label)
	keys, known := sides[reconcile.DivergenceKind(kind.ID)]
	if !known {
		return ""
	}
	return i18n.Report.Text(l.heading.Lang, keys[there])
}

// text returns one part of a cell.
func (l *laid) text(cells []any, part string) string {
	switch part {
	case "!here":
		return l.side(cells, 0)
	case "!there":
		return l.side(cells, 1)
	}
	id := strings.TrimLeft(part, "#?>~")
	id, unit, measured := strings.Cut(id, "@")
	i, ok := l.there[id]
	if !ok {
		return ""
	}
	c := l.section.Columns[i]
	d, number := cells[i].(trade.Decimal)
	text := c.Text(cells[i], l.heading.Lang, l.heading.Zone)
	if number && id != "price_erp" && (c.Type == reconcile.MoneyColumn || part[0] == '~') {
		d = d.Round(cents)
		text = c.Text(d, l.heading.Lang, l.heading.Zone)
	}
	if number && inKilograms(c) {
		text = trade.NumberText(d.Tonnes().Fixed(kilogram), l.heading.Lang)
	}
	if c.Type == reconcile.CodeColumn {
		text = trade.NameBlanks(text, l.heading.Lang)
	}
	switch {
	case text == "", part[0] == '?' && d.Sign() == 0:
		return ""
	case part[0] == '#', part[0] == '?':
		text = c.Title + ": " + text
	case part[0] == '>':
		text = fmt.Sprintf(i18n.Report.Text(l.heading.Lang, "paper.sent"), text)
	case part[0] == '~':
		text = fmt.Sprintf(i18n.Report.Text(l.heading.Lang, "%s sacas"), text)
	case measured && number:
		text = l.amount(d, text, c.Text(cells[l.there[unit]], l.heading.Lang, l.heading.Zone))
	}
	return text
}

// inKilograms reports whether a column has kilograms, which people read as tonnes.
func inKilograms(c reconcile.Column) bool { return strings.HasPrefix(c.ID, "kg") }

// cents is how many digits after the point money and sacas have for people; files have all.
const cents = 2

// kilogram is the scale of tonnes that people read; files for programs have every digit.
const kilogram = 3

// units are written after the number; other units are currencies, and are written before it.
var units = []string{"kg", string(trade.KG), string(trade.SC), string(trade.TON)}

// amount returns a number with its unit or currency.
func (l *laid) amount(d trade.Decimal, text, unit string) string {
	switch {
	case unit == "kg": // of a divergence
		return trade.NumberText(d.Tonnes().Fixed(kilogram), l.heading.Lang) + " t"
	case strings.HasPrefix(unit, string(trade.TON)):
		text = trade.NumberText(d.Fixed(kilogram), l.heading.Lang)
	}
	for _, known := range units {
		if strings.HasPrefix(unit, known) {
			return text + " " + strings.ToLower(unit)
		}
	}
	return trade.CurrencyText(unit, d, l.heading.Lang)
}

func (l *laid) End() error { return l.to.End() }
