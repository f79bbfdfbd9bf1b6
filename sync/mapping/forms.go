// The forms in which an ERP writes numbers and dates.

package mapping

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// numberForm is how the ERP writes numbers in text columns. Numeric columns need no form: their
// text is exact.
type numberForm struct {
	sample  string
	decimal byte
	group   byte // separator of thousands; 0: none
	form    *regexp.Regexp
}

// numberForms are the forms by the samples that the configuration may name.
var numberForms = map[string]numberForm{
	"1234.56":  {decimal: '.', form: regexp.MustCompile(`^[+-]?\d+(\.\d+)?$`)},
	"1234,56":  {decimal: ',', form: regexp.MustCompile(`^[+-]?\d+(,\d+)?$`)},
	"1.234,56": {decimal: ',', group: '.', form: regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$`)},
	"1,234.56": {decimal: '.', group: ',', form: regexp.MustCompile(`^[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$`)},
}

// parseNumberForm returns the form for a sample of the configuration, such as "1.234,56".
func parseNumberForm(sample string) (numberForm, error) {
	if sample == "" {
		sample = "1234.56"
	}
	form, ok := numberForms[sample]
	if !ok {
		return numberForm{},
			phrase.Errorf(
				"%q is no way to write numbers; give one of \"1.234,56\", \"1234,56\", \"1,234.56\", \"1234.56\"",
				sample)
	}
	form.sample = sample
	return form, nil
}

// Read parses the text of a numeric column as it is, and that of a text column in the configured
// form only: "1.234" is never guessed.
func (f numberForm) Read(v erp.Value, text string) (trade.Decimal, error) {
	if numeric(v.Kind) {
		return trade.ParseDecimal(text)
	}
	if v.Kind != erp.Text || !f.form.MatchString(text) {
		return trade.Decimal{}, errors.New("is not a number in the form " + f.sample)
	}
	if f.group != 0 {
		text = strings.ReplaceAll(text, string(f.group), "")
	}
	return trade.ParseDecimal(strings.Replace(text, string(f.decimal), ".", 1))
}

func numeric(kind erp.Kind) bool { return kind == erp.Int || kind == erp.Number || kind == erp.Float }

// dateForm is how the ERP writes dates in text or integer columns. Date and timestamp columns need
// no form.
type dateForm struct {
	sample string
	layout string
	zone   *time.Location // in which an instant becomes a day
}

// parseDateForm parses a form made of YYYY, MM, DD and separators. A year of two digits is refused:
// it would be a guess.
func parseDateForm(sample string, zone *time.Location) (dateForm, error) {
	if sample == "" {
		return dateForm{sample: "YYYY-MM-DD", zone: zone}, nil
	}
	rest := sample
	for _, part := range []string{"YYYY", "MM", "DD"} {
		if strings.Count(rest, part) != 1 {
			return dateForm{}, phrase.Errorf("%q needs YYYY, MM and DD once each, as in YYYYMMDD or DD/MM/YYYY", sample)
		}
		rest = strings.Replace(rest, part, "", 1)
	}
	if strings.Trim(rest, "/-. ") != "" {
		return dateForm{}, phrase.Errorf("%q may have only /, -, . and blanks beside YYYY, MM and DD", sample)
	}
	layout := strings.NewReplacer("YYYY", "2006", "MM", "01", "DD", "02").Replace(sample)
	return dateForm{sample: sample, layout: layout, zone: zone}, nil
}

// read returns the calendar day (I7). The form applies to texts and integers only.
func (f dateForm) read(v erp.Value, text string) (trade.Date, error) {
	if f.layout != "" && v.Kind != erp.Date && v.Kind != erp.Timestamp && v.Kind != erp.Instant {
		t, err := time.Parse(f.layout, text)
		if err != nil {
			return trade.Date{}, errors.New("is not a date in the form " + f.sample)
		}
		return trade.NewDate(t.Date())
	}
	day, ok := v.Day(f.zone)
	if !ok {
		return trade.Date{}, errors.New("is not a date")
	}
	return trade.NewDate(day.Date())
}

// is reports whether a text in this form is the day.
func (f dateForm) is(text string, day trade.Date) bool {
	t, err := time.Parse(f.layout, text)
	return err == nil && trade.DateOf(t) == day
}
