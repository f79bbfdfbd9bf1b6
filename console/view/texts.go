package view

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// Tonnes formats a weight in kilograms as tonnes, to the kilogram; a rounded value is marked with ≈.
func (v Voice) Tonnes(kg trade.Decimal) string { return trade.TonnesText(kg, v.lang) }

// BareTonnes formats a weight in kilograms for a column of tonnes: three digits after the point, always.
func (v Voice) BareTonnes(kg trade.Decimal) string {
	return trade.NumberText(kg.Tonnes().Fixed(3), v.lang)
}

// Sacas formats a weight in kilograms as sacas of 60 kg; a rounded value is marked with ≈.
func (v Voice) Sacas(kg trade.Decimal) string {
	sacas, exact := kg.Sacas(2)
	text := v.Decimal(sacas) + " sc"
	if !exact {
		return "≈ " + text
	}
	return text
}

// Money formats an amount of a currency with cents.
func (v Voice) Money(currency string, amount trade.Decimal) string {
	return trade.CurrencyText(currency, amount, v.lang)
}

// WholeTonnes formats a weight for an overview: whole tonnes, unless it is less than one.
func (v Voice) WholeTonnes(kg trade.Decimal) string {
	if tonnes := kg.Tonnes(); kg.Sign() == 0 || tonnes.Abs().Cmp(trade.NewDecimal(1, 0)) >= 0 {
		return v.Decimal(tonnes.Round(0)) + " t"
	}
	return v.BareTonnes(kg) + " t"
}

// BareWhole is WholeTonnes under a heading that names the unit.
func (v Voice) BareWhole(kg trade.Decimal) string { return strings.TrimSuffix(v.WholeTonnes(kg), " t") }

// WholeMoney formats an amount of a currency for an overview, without cents.
func (v Voice) WholeMoney(currency string, amount trade.Decimal) string {
	return strings.TrimRight(strings.TrimRight(v.Money(currency, amount.Round(0)), "0"), ",.")
}

// Documents formats a number of documents.
func (v Voice) Documents(n int) string { return v.T("%s {document|documents}", n) }

// Records formats a number of records of a kind: "1 contrato", "38 contratos".
func (v Voice) Records(kind trade.Kind, fixing bool, n int) string {
	word := kind.Plural(v.lang)
	switch {
	case fixing && n == 1:
		word = v.T("fixation")
	case fixing:
		word = v.T("fixations")
	case n == 1:
		word = kind.Label(v.lang)
	}
	return v.Number(n) + " " + word
}

// Rows formats a number of rows.
func (v Voice) Rows(n int) string { return v.T("%s {row|rows}", n) }

// Again returns whether sending again is safe.
func (v Voice) Again(a trade.Again) string { return a.Label(v.lang) }

// Plain replaces the commands that a sentence tells people to type by the names of pages and
// buttons.
func (v Voice) Plain(text string) string { return i18n.InBrowser(v.lang, text) }

// Problem returns what is wrong with a field.
func (v Voice) Problem(p trade.Problem) string { return p.Sentence(v.lang) }

// Loads returns what is blocked, by kind of record: "38 contratos (4.310 t), 112 entregas (1.200
// t)". The kinds are never added up, because a delivery's grain is its contract's.
func (v Voice) Loads(blocked map[trade.Pile]*trade.Load) string {
	var parts []string
	for _, pile := range trade.Piles {
		l := blocked[pile]
		if l == nil {
			continue
		}
		text := v.Records(pile.Kind, pile.Fixing, l.Rows) + " (" + v.Tonnes(l.Kilograms) + ")"
		if l.Unweighed > 0 {
			text += ", " + v.T("%s without a valid weight", l.Unweighed)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return v.T("–")
	}
	return strings.Join(parts, ", ")
}

// Count formats a number that may be unknown.
func (v Voice) Count(n *int) string {
	if n == nil {
		return v.T("–")
	}
	return v.Number(*n)
}

// Number64 formats a 64-bit number.
func (v Voice) Number64(n int64) string { return trade.NumberText(strconv.FormatInt(n, 10), v.lang) }

// Sentence returns a sentence of the ledger.
func (v Voice) Sentence(s trade.Sentence) string { return s.In(v.lang, v.zone) }

// Deed returns what somebody did as a sentence, in two parts: what it was done to stands between them. An
// act without a sentence is returned as it is stored.
func (v Voice) Deed(act string) []string {
	key := "did." + strings.ReplaceAll(act, " ", "_")
	if !v.Has(key) {
		return []string{act, ""}
	}
	before, after, _ := strings.Cut(v.T(key), " %s")
	return []string{before, after}
}

// ActName returns what somebody did, without what it was done to.
func (v Voice) ActName(act string) string {
	deed := v.Deed(act)
	return toWhat.ReplaceAllString(deed[0], "") + deed[1]
}

// toWhat finds the word that leads to what an act was done to.
var toWhat = regexp.MustCompile(`,? (de|sobre|of|about)$`)

// Date formats a calendar day for the language.
func (v Voice) Date(d trade.Date) string {
	if v.lang == trade.English || d.IsZero() {
		return d.String()
	}
	return d.String()[8:10] + "/" + d.String()[5:7] + "/" + d.String()[:4]
}

// Month formats a month, or that of a day.
func (v Voice) Month(day string) string {
	if v.lang == trade.English {
		return day[:7]
	}
	return day[5:7] + "/" + day[:4]
}

// Said formats the value of a field of the API for people: numbers with separators, prices with
// cents, days as days.
func (v Voice) Said(field, text string) string {
	for _, kind := range trade.Kinds {
		rule, ok := trade.Rule(kind, field)
		if !ok {
			continue
		}
		switch number, err := trade.ParseDecimal(text); {
		case rule.Type == trade.Number && err == nil && field == "price":
			return trade.MoneyText(number, v.lang)
		case rule.Type == trade.Number && err == nil:
			return v.Decimal(number)
		}
		if day, err := trade.ParseDate(text); rule.Type == trade.Day && err == nil {
			return v.Date(day)
		}
	}
	return text
}

// Event returns the name of an event of the platform.
func (v Voice) Event(event string) string { return trade.EventLabel(event, v.lang) }

// EventWord returns the phrase for a status that an event named; a status without a phrase is
// returned unchanged.
func (v Voice) EventWord(word string) string {
	if key := "event.word." + strings.ToUpper(word); v.Has(key) {
		return v.T(key)
	}
	return word
}

// Stopped returns in a few words why a job stopped.
func (v Voice) Stopped(code string) string { return trade.ExplainStop(code, v.lang).What }

// Because returns why an act of the audit was done: the person's reason, or the program's.
func (v Voice) Because(r trade.AuditRecord) string { return r.Because(v.lang, v.zone) }

// Mask masks each CPF in a text.
func Mask(text string) string { return trade.MaskDocuments(text) }

// Key returns a key, the code of a reference, or a sentence about them, for people: documents are
// masked, and what is blank is said.
func (v Voice) Key(key string) string {
	return Mask(trade.NameBlanks(key, v.lang))
}

// SpacedKey is Key with spaces between the parts.
func (v Voice) SpacedKey(key string) string { return strings.ReplaceAll(v.Key(key), "|", " | ") }

// Masked reports whether a text contains something to mask.
func Masked(text string) bool { return Mask(text) != text }
