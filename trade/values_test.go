package trade

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
)

// F029, I6: exponents and long numbers become exact decimals or are refused.
func TestI6DecimalsKeepEveryDigitAndHaveOneText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"4229.5000": "4229.5", "100": "100", "-0": "0", "0E-8": "0", "1e3": "1000", "+1.50": "1.5",
		"0.000000000000000000000000000001":        "0.000000000000000000000000000001",
		"123456789012345678901234567890.12345678": "123456789012345678901234567890.12345678", "1200": "1200",
		".5":                           "0.5",
		strings.Repeat("9", 38):        strings.Repeat("9", 38),
		"0." + strings.Repeat("1", 38): "0." + strings.Repeat("1", 38),
		strings.Repeat("9", 30) + "." + strings.Repeat("1", 8): strings.Repeat("9", 30) + "." +
			strings.Repeat("1", 8),
	} {
		d, err := ParseDecimal(text)
		if err != nil || d.String() != want {
			t.Errorf("ParseDecimal(%q) = %s, %v; want %s", text, d, err, want)
		}
	}
	for _, text := range []string{
		"", " 1", "1,5", "NaN", "Infinity", "0x10", "1_000", "1e999999999", "--1", "1.2.3",
		"１", strings.Repeat("9", 200), strings.Repeat("9", 40), strings.Repeat("9", 39), "1e38",
		strings.Repeat("9", 30) + "." + strings.Repeat("1", 9),
	} {
		if d, err := ParseDecimal(text); err == nil {
			t.Errorf("ParseDecimal(%q) = %s, want an error", text, d)
		} else if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}

func TestANumberAndItsNegativeAddUpToZero(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"12.50": {"-12.5", "12.5"}, "-0.001": {"0.001", "0.001"}, "0": {"0", "0"}, "-0": {"0", "0"},
		"1e3": {"-1000", "1000"},
	} {
		d := must.Get(ParseDecimal(text))(t)
		if neg, abs := d.Neg(), d.Abs(); neg.String() != want[0] || abs.String() != want[1] || d.Add(neg).Sign() != 0 {
			t.Errorf("%s: %s and %s, want %s", text, neg, abs, want)
		}
	}
	if none := (Decimal{}); none.Neg().String() != "0" || none.Abs().String() != "0" {
		t.Errorf("of nothing: %s and %s", none.Neg(), none.Abs())
	}
}

func TestRoundingIsHalfAwayFromZero(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"2.345": "2.35", "-2.345": "-2.35", "2.344": "2.34", "2.5": "2.5"} {
		d := must.Get(ParseDecimal(text))(t)
		if got := d.Round(2).String(); got != want {
			t.Errorf("round %s = %s, want %s", text, got, want)
		}
	}
}

// I6: the JSON text has the digits of the decimal, no exponent and no quotes.
func TestADecimalIsAJSONNumberWithoutQuotes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,10})?`).Draw(t, "number")
		d := must.Get(ParseDecimal(text))(t)
		data, err := json.Marshal(d)
		if err != nil || string(data) != d.String() || strings.ContainsAny(string(data), `"eE`) {
			t.Fatalf("JSON of %s is %s, %v", text, data, err)
		}
		var back Decimal
		if err := json.Unmarshal(data, &back); err != nil || !back.Equal(d) {
			t.Fatalf("%s reads back as %s, %v", data, back, err)
		}
	})
}

func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"1", "-1.5", "1e10", "NaN", "1e-200", "00012", "1e38"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDecimal(s)
		if err != nil {
			return
		}
		if again, err := ParseDecimal(d.String()); err != nil || !again.Equal(d) || again.String() != d.String() {
			t.Errorf("%q is %q, which reads back as %q, %v", s, d, again, err)
		}
	})
}

// I7: a date is a calendar day without an hour or a zone.
func TestDatesAreDaysOfTheCalendar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"2026-02-29", "2026-13-01", "2026-1-1", "20260101", "", "2026-01-01T00:00:00Z",
		"infinity",
	} {
		if d, err := ParseDate(text); err == nil {
			t.Errorf("ParseDate(%q) = %s, want an error", text, d)
		}
	}
	d, err := ParseDate("2024-02-29")
	if err != nil || d.String() != "2024-02-29" || d.AddYears(1).String() != "2025-03-01" {
		t.Errorf("ParseDate = %s, %v; in a year %s", d, err, d.AddYears(1))
	}
}

// I7: the day that a clock shows is the day, whatever its zone.
func TestI7ADayNeverMovesWithAZone(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 8, 10, 0, 0, 0, 0, time.UTC)
	if got := DateOf(midnight).String(); got != "2026-08-10" {
		t.Errorf("DateOf = %s", got)
	}
	if got := DateOf(midnight.In(time.FixedZone("BRT", -3*3600))).String(); got != "2026-08-09" {
		t.Errorf("DateOf another zone's clock = %s: it shows the day before, and that is what it says", got)
	}
}

func TestIDsAreNormalisedAndNothingElseIsAnID(t *testing.T) {
	t.Parallel()
	const want = "1b98fbe4-6680-4a11-9ba1-192ec42b7170"
	for _, text := range []string{want, strings.ToUpper(want), "{" + strings.ToUpper(want) + "}", "  " + want + "   "} {
		if id, err := ParseID(text); err != nil || id != want {
			t.Errorf("ParseID(%q) = %s, %v", text, id, err)
		}
	}
	for _, text := range []string{
		"", "12", strings.ReplaceAll(want, "-", ""), "urn:uuid:" + want, "{" + want,
		want + "0", "zb98fbe4-6680-4a11-9ba1-192ec42b7170",
	} {
		if id, err := ParseID(text); err == nil {
			t.Errorf("ParseID(%q) = %s, want an error", text, id)
		}
	}
}

func TestCellsSurviveTheLedger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Cell{Kind: rapid.SampledFrom([]byte("tinfdszby!")).Draw(t, "kind"), Text: rapid.String().Draw(t, "text")}
		data := must.Get(json.Marshal(Values{"c": c, "null": {}}))(t)
		var back Values
		if err := json.Unmarshal(data, &back); err != nil || back["c"] != c || back["null"] != (Cell{}) {
			t.Fatalf("%+v comes back as %+v, %v", c, back, err)
		}
	})
}

func TestSacasAreExactOrSaidToBeRounded(t *testing.T) {
	t.Parallel()
	for kg, want := range map[string]struct {
		sacas string
		exact bool
	}{
		"720000": {"12000", true}, "30": {"0.5", true}, "100": {"1.6667", false}, "60030": {"1000.5", true},
		"0": {"0", true},
	} {
		n := must.Get(ParseDecimal(kg))(t)
		if got, exact := n.Sacas(4); got.String() != want.sacas || exact != want.exact {
			t.Errorf("%s kg = %s sacas, exact %v; want %s, %v", kg, got, exact, want.sacas, want.exact)
		}
	}
}

// I6: no digit of a multiplication's result is lost.
func TestAProductIsExact(t *testing.T) {
	t.Parallel()
	amount := must.Get(ParseDecimal("1234.5"))(t)
	price := must.Get(ParseDecimal("0.1234"))(t)
	if got := amount.Mul(price).String(); got != "152.3373" {
		t.Errorf("1234.5 × 0.1234 = %s", got)
	}
}
