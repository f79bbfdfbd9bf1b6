package trade

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/safrasync/safrasync/internal/phrase"
)

// maxDecimalDigits is the largest number of digits that is accepted: PostgreSQL's numeric and
// Oracle's NUMBER hold 38 digits in practice, and a longer price or amount is damage, not money.
const maxDecimalDigits = 38

// Decimal is an exact decimal number (I6). Its text never has an exponent or trailing zeros in the
// fraction. The zero value is 0.
type Decimal struct{ d decimal.Decimal }

// maxSumText is the longest text of a sum: however many numbers of 38 digits before and after the
// point are added, the sum is not longer.
const maxSumText = 256

// ParseDecimal parses a number written with a point, an optional sign and an optional exponent
// ("-4229.0000", "0E-8"). It refuses NaN, infinities, separators of thousands and more than 38
// digits. The error does not contain the text.
func ParseDecimal(text string) (Decimal, error) {
	if len(text) > 128 {
		return Decimal{}, phrase.Errorf("is longer than 128 characters")
	}
	out, err := ParseSum(text)
	if err != nil {
		return Decimal{}, err
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(out.String(), "-"), ".")
	if len(strings.TrimPrefix(whole, "0"))+len(fraction) > maxDecimalDigits {
		return Decimal{}, phrase.Errorf("has more than %d digits", maxDecimalDigits)
	}
	return out, nil
}

// thousands are numbers with points between the thousands.
var thousands = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{3})+$`)

// ParseTyped parses a number as people type it: 1.753.980,00, 1753980 or 1753980.00.
func ParseTyped(text string) (Decimal, error) {
	if strings.Contains(text, ",") || thousands.MatchString(text) {
		text = strings.Replace(strings.ReplaceAll(text, ".", ""), ",", ".", 1)
	}
	return ParseDecimal(text)
}

// ParseSum parses a number that this program has written: a sum, which may have more digits than
// its summands.
func ParseSum(text string) (Decimal, error) {
	if text == "" {
		return Decimal{}, errors.New("is empty")
	}
	if len(text) > maxSumText {
		return Decimal{}, phrase.Errorf("is longer than %d characters", maxSumText)
	}
	for i := range len(text) {
		if !strings.ContainsRune("0123456789+-.eE", rune(text[i])) {
			return Decimal{}, errors.New("is not a number")
		}
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return Decimal{}, errors.New("is not a number")
	}
	if e := d.Exponent(); e > maxDecimalDigits || e < -128 {
		return Decimal{}, errors.New("has an exponent out of range")
	}
	return Decimal{d}, nil
}

// NewDecimal returns digits divided by ten to the power of scale: 12050 with scale 2 is 120.5.
func NewDecimal(digits int64, scale int) Decimal { return Decimal{decimal.New(digits, -int32(scale))} }

// String returns the number as it is sent in JSON: plain digits, no exponent, no trailing zeros in
// the fraction, no "-0".
func (d Decimal) String() string {
	text := d.d.String()
	if text == "-0" {
		return "0"
	}
	return text
}

// Round rounds half away from zero to scale digits after the point. It is used only where the
// configuration asks for it.
func (d Decimal) Round(scale int32) Decimal { return Decimal{d.d.Round(scale)} }

// Fixed returns the decimal rounded to scale digits after the point, all of them written.
func (d Decimal) Fixed(scale int32) string { return d.d.StringFixed(scale) }

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int { return d.d.Sign() }

// Add returns d + other, exactly.
func (d Decimal) Add(other Decimal) Decimal { return Decimal{d.d.Add(other.d)} }

// Cmp returns -1, 0 or 1 if d is below, equal to or above other.
func (d Decimal) Cmp(other Decimal) int { return d.d.Cmp(other.d) }

// Sub returns d - other, exactly.
func (d Decimal) Sub(other Decimal) Decimal { return Decimal{d.d.Sub(other.d)} }

// Neg returns -d.
func (d Decimal) Neg() Decimal { return Decimal{d.d.Neg()} }

// Abs returns d without its sign.
func (d Decimal) Abs() Decimal { return Decimal{d.d.Abs()} }

// Mul returns d × other, exactly.
func (d Decimal) Mul(other Decimal) Decimal { return Decimal{d.d.Mul(other.d)} }

// Equal reports whether both are the same number, however they are written.
func (d Decimal) Equal(other Decimal) bool { return d.d.Equal(other.d) }

// MarshalJSON writes a JSON number without quotes.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads a JSON number or a number in quotes.
func (d *Decimal) UnmarshalJSON(text []byte) error {
	parsed, err := ParseSum(strings.Trim(string(text), `"`))
	if err != nil {
		return phrase.Errorf("decimal: the value %w", err)
	}
	*d = parsed
	return nil
}

// NumberText returns the text of a decimal as people of a language write it, with all its digits:
// 1234567.50 becomes 1.234.567,50.
func NumberText(text string, lang Lang) string {
	group, point := ".", ","
	if lang == English {
		group, point = ",", "."
	}
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "−", rest
	}
	whole, fraction, broken := strings.Cut(text, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(group)
		}
		b.WriteRune(digit)
	}
	if broken {
		b.WriteString(point + fraction)
	}
	return sign + b.String()
}

// MoneyText is NumberText with at least two digits after the point, for cents.
func MoneyText(d Decimal, lang Lang) string {
	text := d.String()
	if d.Round(2).Cmp(d) == 0 {
		text = d.Fixed(2)
	}
	return NumberText(text, lang)
}

// CurrencyText is an amount of a currency with cents, after its symbol; the sign stands first.
func CurrencyText(currency string, amount Decimal, lang Lang) string {
	text := strings.TrimSpace(Symbol(currency) + " " + NumberText(amount.Abs().Fixed(2), lang))
	if amount.Sign() < 0 {
		return "−" + text
	}
	return text
}

// symbols are the symbols of currencies; other currencies are shown by their code.
var symbols = map[string]string{"BRL": "R$", "USD": "US$", "EUR": "€"}

// Symbol returns the symbol of a currency, else its code.
func Symbol(currency string) string { return cmp.Or(symbols[currency], currency) }
