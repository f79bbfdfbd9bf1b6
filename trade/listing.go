package trade

import (
	"cmp"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// Facts are what people narrow and sort lists by: of the newest row seen, as far as the mapping and
// the shown columns tell. They are personal data, like the row itself.
type Facts struct {
	Product  string    `json:"product,omitempty"`
	Producer string    `json:"producer,omitempty"`
	Branch   string    `json:"branch,omitempty"`
	Season   string    `json:"season,omitempty"`   // of a contract; addresses call it harvest, the API haverst
	Day      Date      `json:"day,omitzero"`       // of the document
	Currency string    `json:"currency,omitempty"` // "" = there is no worth
	Worth    Decimal   `json:"worth,omitzero"`     // amount times price
	Contract ParentKey `json:"contract,omitzero"`  // of another row, which has its season
}

// AddDraft sets what a mapped row tells.
func (f *Facts) AddDraft(d Draft) {
	if product, ok := d.Fields["product"]; ok {
		f.Product = CutText(product.Origin.Value)
	}
	f.Season = ""
	f.add(d.Sends, d.Text)
}

// add sets what fields tell, and returns their quantity and price.
func (f *Facts) add(sends Kind, text func(field string) string) Figures {
	f.Product = cmp.Or(CutText(text("product")), f.Product)
	f.Season = cmp.Or(CutText(text("haverst")), f.Season)
	f.Day, _ = ParseDate(cmp.Or(text("order_date"), text("delivery_date"))) // zero if there is none
	f.Currency, f.Worth = "", Decimal{}
	figures := FiguresOf(sends, text)
	if worth, ok := figures.Value(); ok {
		f.Currency, f.Worth = figures.Currency, worth
	}
	return figures
}

// Listing is what lists are narrowed and sorted by of an entry: of its newest row in the ERP, so that a sum
// of rows is of one kind, whether they were sent or not.
type Listing struct {
	Facts
	Title    string // by what people know it, in an order of bytes that is theirs
	Weighed  bool
	Quantity Quantity
	Kg       Decimal // only if Weighed
}

// Listing returns what lists are narrowed and sorted by. The payload tells it, unless the row has changed
// since that was sent.
func (e Entry) Listing() Listing {
	// each number begins with its length, so that bytes have the order of [CompareCodes]
	text := strings.ToLower(e.Shown.Lead(e.Key))
	var out strings.Builder
	for text != "" && out.Len() < titleLong {
		n := digitsAt(text)
		if n == 0 {
			out.WriteByte(text[0])
			text = text[1:]
			continue
		}
		number := strings.TrimLeft(text[:n], "0")
		if long := len(number); long < 9 {
			out.WriteString(strconv.Itoa(long))
		} else {
			out.WriteString("9" + strings.Repeat("0", 3-len(strconv.Itoa(long))) + strconv.Itoa(long))
		}
		out.WriteString(number)
		text = text[n:]
	}
	title := out.String()
	title = strings.ToValidUTF8(title[:min(len(title), titleLong)], "")
	l := Listing{Facts: e.Facts, Title: title, Quantity: e.Quantity}
	if len(e.Payload) > 0 && e.Now == nil {
		l.addPayload(e.Sends, e.Payload)
	}
	l.Kg, l.Weighed = l.Quantity.Kilograms()
	return l
}

func (l *Listing) addPayload(sends Kind, payload []byte) {
	fields := SentFields(payload)
	if fields == nil {
		return
	}
	figures := l.add(sends, fields.Text)
	if figures.Amount != nil {
		l.Quantity = Quantity{Amount: *figures.Amount, Unit: cmp.Or(figures.Unit, l.Quantity.Unit)}
	}
}

// Sums returns what the entry adds to those of a list.
func (l Listing) Sums() Sums {
	out := Sums{Rows: 1, Kilograms: l.Kg}
	if l.Currency != "" {
		out.Values = map[string]Decimal{l.Currency: l.Worth}
	}
	return out
}

// listingScale is how many decimals of a weight or a worth are stored, which a sum adds.
const listingScale = 4

// listingMost is the largest number that is stored: what is larger is a typing error, and the sum of
// a season must fit.
const listingMost = 1_000_000_000_000_000

// ListingNumber returns a weight or a worth as it is stored.
func ListingNumber(d Decimal) int64 {
	n := d.d.Shift(listingScale).Round(0)
	if n.Abs().GreaterThan(decimal.New(listingMost, 0)) {
		return int64(n.Sign()) * listingMost
	}
	return n.IntPart()
}

// ListingDecimal returns a stored weight or worth, or a sum of them.
func ListingDecimal(n int64) Decimal { return NewDecimal(n, listingScale) }

// ListingDay returns a day as it is stored: 20260510. 0 = no day.
func ListingDay(d Date) int64 { return int64(d.year)*10_000 + int64(d.month)*100 + int64(d.day) }

// titleLong is how many bytes of a title are sorted by.
const titleLong = 80

// ErrManyNames means that more texts have the part of a FactQuery than a list is narrowed by.
var ErrManyNames = errors.New("more names have this text than a list is narrowed by: type more of it")

// FactQuery narrows a list by facts; zero parts select everything.
type FactQuery struct {
	// the whole text or, if no row has that, a part of it, in whatever case and with or without
	// accents
	Product, Producer, Branch string
	Season                    string   // Selection.Harvest, if the ledger can tell which rows have it
	DayFrom, DayUntil         Date     // both included
	WorthFrom, WorthUntil     *Decimal // both included, whatever the currency
}

// IsZero reports whether everything is selected.
func (q FactQuery) IsZero() bool { return q == FactQuery{} }

// FeedPlace is a place in the order of all changes.
type FeedPlace struct {
	Feed string // which order; another one after a restored or rebuilt ledger
	Seq  int64
}

// Selection narrows a list to the rows that a number counts; empty parts select everything. Only
// whoever computed the number can tell which rows these are: internal/office does. The tags are the names of
// the parts in addresses.
type Selection struct {
	// Of a report; several values are joined with commas. They are those of its rows.
	Harvest  string `address:"harvest"`
	Products string `address:"products"`
	Producer string `address:"codes"`
	Place    string `address:"place"`
	Branches string `address:"branches"`
	From     string `address:"days_from"`
	To       string `address:"days_to"`

	Product  string `address:"grain"`    // one product; NotKnown = rows without
	Branch   string `address:"at"`       // one branch; NotKnown = rows without
	Measure  string `address:"measure"`  // of an account
	Currency string `address:"currency"` // of an account
	Line     string `address:"line"`     // of that account, or of a job's bridge
	Who      string `address:"who"`      // the department that cures what keeps a row
	Age      string `address:"age"`      // the band of its age
	Group    string `address:"group"`    // a cause of Pendências
	Kind     string `address:"kind"`     // what the rows of that cause are
	Run      string `address:"of_run"`   // the id of a run, a colon, and a RunResult
}

// NotKnown is the part of a Selection for rows of which it is unknown.
const NotKnown = "-"

// AnyCause is the group of all rows that are kept by a cause of their own, and not by that of a parent:
// those that need somebody.
const AnyCause = "*"

// SelectionPart is a part of a Selection, with the name that it has in addresses.
type SelectionPart struct {
	Name string
	Text *string
}

// Parts returns the parts in the order of the fields. A part may be set through its Text.
func (s *Selection) Parts() []SelectionPart {
	fields := reflect.ValueOf(s).Elem()
	out := make([]SelectionPart, fields.NumField())
	for i := range out {
		out[i].Name = fields.Type().Field(i).Tag.Get("address")
		out[i].Text, _ = fields.Field(i).Addr().Interface().(*string)
	}
	return out
}

// Figure is a number of an answer, and the query whose rows it counts.
type Figure struct {
	Sums
	Of RowQuery
}
