package trade

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Figures are a quantity and its price.
type Figures struct {
	Amount   *Decimal `json:"amount,omitempty"`
	Unit     Unit     `json:"unit,omitempty"`
	Price    *Decimal `json:"price,omitempty"` // for one Unit
	Currency string   `json:"currency,omitempty"`
}

// Kilograms returns the weight; ok is false without an amount or a unit.
func (f Figures) Kilograms() (kg Decimal, ok bool) {
	if f.Amount == nil {
		return kg, false
	}
	return Quantity{Amount: *f.Amount, Unit: f.Unit}.Kilograms()
}

// Value returns amount times price, exactly; ok is false if one of them or the currency is missing.
func (f Figures) Value() (value Decimal, ok bool) {
	if f.Amount == nil || f.Price == nil || f.Currency == "" {
		return value, false
	}
	return f.Amount.Mul(*f.Price), true
}

// Negative reports whether the amount or the price is below zero: such a row would lower a sum.
func (f Figures) Negative() bool {
	return f.Amount != nil && f.Amount.Sign() < 0 || f.Price != nil && f.Price.Sign() < 0
}

// Fields are the fields of a request, as texts.
type Fields map[string]string

// Text returns a field; "" if it is absent.
func (f Fields) Text(name string) string { return f[name] }

// SentFields returns the fields of a request's body that are texts or numbers; nil if it is no object.
func SentFields(payload []byte) Fields {
	var body map[string]any
	read := json.NewDecoder(bytes.NewReader(payload))
	read.UseNumber() // a number keeps its digits
	if read.Decode(&body) != nil {
		return nil
	}
	out := make(Fields, len(body))
	for field, value := range body {
		switch v := value.(type) {
		case string:
			out[field] = v
		case json.Number:
			out[field] = v.String()
		}
	}
	return out
}

// FiguresOf returns the quantity and price of a record, of whose fields text returns the texts, as far as they
// are readable.
func FiguresOf(sends Kind, text func(field string) string) Figures {
	amount, unit := QuantityFields(sends)
	return Figures{
		Amount:   DecimalOf(text(amount)),
		Unit:     Unit(strings.ToUpper(strings.TrimSpace(text(unit)))),
		Price:    DecimalOf(text("price")),
		Currency: text("currency"),
	}
}

// DecimalOf returns the number that a text is; nil if it is none.
func DecimalOf(text string) *Decimal {
	d, err := ParseDecimal(text)
	if err != nil {
		return nil
	}
	return &d
}

// Sums are sums of rows with their signs: what a plain SUM in the ERP returns.
type Sums struct {
	Rows      int                `json:"rows"`
	Kilograms Decimal            `json:"kg"`
	Unweighed int                `json:"without_weight"`  // rows without a readable amount or unit
	Values    map[string]Decimal `json:"value,omitempty"` // by currency, of the rows with a price
}

// Add counts a row.
func (s *Sums) Add(f Figures) {
	s.Rows++
	if kg, ok := f.Kilograms(); ok {
		s.Kilograms = s.Kilograms.Add(kg)
	} else {
		s.Unweighed++
	}
	if value, ok := f.Value(); ok {
		s.addValue(f.Currency, value)
	}
}

// Remove undoes Add.
func (s *Sums) Remove(f Figures) {
	var one Sums
	one.Add(f)
	s.Rows--
	s.Kilograms, s.Unweighed = s.Kilograms.Sub(one.Kilograms), s.Unweighed-one.Unweighed
	for currency, value := range one.Values {
		s.addValue(currency, value.Neg())
	}
}

// Join adds other sums.
func (s *Sums) Join(o Sums) {
	s.Rows += o.Rows
	s.Kilograms, s.Unweighed = s.Kilograms.Add(o.Kilograms), s.Unweighed+o.Unweighed
	for currency, value := range o.Values {
		s.addValue(currency, value)
	}
}

func (s *Sums) addValue(currency string, value Decimal) {
	if s.Values == nil {
		s.Values = map[string]Decimal{}
	}
	s.Values[currency] = s.Values[currency].Add(value)
}

// Beside are rows of the ERP that a complete reading found in addition to living documents; with
// these they are all rows that the query returns (I9).
type Beside struct {
	Why BesideKind `json:"why"`
	Sums
	Keys     []string      `json:"keys"`               // the first few
	Products []ProductSums `json:"products,omitempty"` // Sums by product
}

// ProductSums are sums of one product and order type; "" = unknown, or a record that has none.
type ProductSums struct {
	Product   string `json:"product,omitempty"`
	OrderType string `json:"order_type,omitempty"`
	Sums
}

// Of returns the sums of a product and order type.
func (b *Beside) Of(product, orderType string) *Sums {
	for i := range b.Products {
		if p := &b.Products[i]; p.Product == product && p.OrderType == orderType {
			return &p.Sums
		}
	}
	b.Products = append(b.Products, ProductSums{Product: product, OrderType: orderType})
	return &b.Products[len(b.Products)-1].Sums
}

// BesideKind is why a row is not a living document.
type BesideKind string

// The kinds, in the order in which they are shown.
const (
	BesideCancelled BesideKind = "cancelled"     // cancelled in the ERP, sent before or not
	BesideNoKey     BesideKind = "unreadable"    // without a usable key
	BesideDouble    BesideKind = "duplicate_key" // additional rows of a key that occurs more than once
)

// BesideKinds lists the kinds.
var BesideKinds = []BesideKind{BesideCancelled, BesideNoKey, BesideDouble}

// Sizes are the sizes of the ledger's parts in bytes.
type Sizes struct {
	Ledger  int64 // the SQLite file, or what the PostgreSQL database holds
	WAL     int64 // the write-ahead log beside a SQLite file
	Journal int64 // the files of this host's journal
}

// GuardFormula puts a ' before a text that a spreadsheet could run as a formula. A negative number
// is none, and stays a number. UnguardFormula undoes exactly that.
func GuardFormula(text string) string {
	rest, minus := strings.CutPrefix(strings.TrimLeftFunc(text, isBlank), "-")
	negative := minus && rest != "" && strings.Trim(rest, "0123456789.,") == ""
	if isFormula(text) && !negative {
		return "'" + text
	}
	return text
}

// UnguardFormula removes what GuardFormula put before a text.
func UnguardFormula(text string) string {
	if strings.HasPrefix(text, "'") && isFormula(text[1:]) {
		return text[1:]
	}
	return text
}

// isFormula reports whether a spreadsheet could take a text for a formula, also after blanks, which
// some of them remove. A guarded text counts too, so that the guard can be removed unambiguously.
func isFormula(text string) bool {
	rest := strings.TrimLeftFunc(text, func(r rune) bool { return r == '\'' || isBlank(r) })
	if rest == "" {
		return strings.ContainsAny(text, "\t\r\n")
	}
	return strings.ContainsAny(strings.TrimLeft(text, "'")[:1], "\t\r\n") ||
		strings.ContainsRune("=+-@|＝＋－＠", []rune(rest)[0])
}

// isBlank reports whether a character takes no ink: a blank of any width, or one that is invisible.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Zs, unicode.Cf, unicode.Cc)
}
