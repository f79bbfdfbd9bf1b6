package trade

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
)

// maxTextLength is the longest value that is accepted and shown; no field of the API comes near it
// (F034).
const maxTextLength = 256

var harvestForm = regexp.MustCompile(`^(\d{4})/(\d{4})$`)

// earliestDate is the first plausible day; the last is five years after today.
var earliestDate = Date{2000, 1, 1}

// checker applies a table of rules to one draft.
type checker struct {
	draft    Draft
	checks   Checks
	today    Date
	fields   map[string]string // as they are sent
	problems []Problem
}

// Check returns the fields that a draft sends, in the form in which they are sent, and everything
// that is wrong with it. The record may be sent if no problem has a severity other than [Warning].
// A field that the ERP does not have is absent. today is the day for the plausibility of dates.
func Check(draft Draft, checks Checks, today Date) (map[string]string, []Problem) {
	c := &checker{draft: draft, checks: checks, today: today, fields: map[string]string{}}
	for _, rule := range rules[draft.Sends] {
		for _, p := range draft.Problems { // in the order of the API's table
			if p.Field == rule.Field {
				c.problems = append(c.problems, p)
			}
		}
		f, mapped := draft.Fields[rule.Field]
		switch {
		case f.Failed:
		case !mapped || f.Text == "":
			with := draft.Fields[rule.With] // has a value, readable or not
			switch {
			case rule.Need == Always:
				c.refuse(rule.Field, RuleRequired, "")
			case rule.Need == ForCompra && draft.Text("order_type") == string(Compra):
				c.refuse(rule.Field, RuleRequiredFor+string(Compra), "")
			case rule.With != "" && (with.Failed || with.Text != ""):
				c.refuse(rule.Field, RuleRequiredWith+rule.With, "")
			}
		case len(f.Text) > maxTextLength:
			c.refuse(rule.Field, RuleTooLong, "")
		default:
			c.value(rule, f.Text)
		}
	}
	return c.fields, c.problems
}

func (c *checker) value(rule FieldRule, text string) {
	switch rule.Type {
	case Number:
		n, err := ParseDecimal(text)
		if err != nil {
			c.refuse(rule.Field, RuleNumber, "")
			return
		}
		c.fields[rule.Field] = n.String()
		if rule.Positive != "" && n.Sign() <= 0 {
			c.judge(rule.Positive, rule.Field, RulePositive, "")
		}
	case Day:
		d, err := ParseDate(text)
		if err != nil {
			c.refuse(rule.Field, RuleDate, "YYYY-MM-DD")
			return
		}
		c.fields[rule.Field] = d.String()
		last := c.today.AddYears(5)
		if d.Before(earliestDate) || last.Before(d) {
			c.judge("date_window", rule.Field, RuleDateWindow, phrase.Packed(earliestDate.String()+" … "+last.String()))
		}
		first, err := ParseDate(c.fields[rule.NotBefore])
		if err == nil && d.Before(first) {
			c.judge("date_order", rule.Field, RuleDateOrder, phrase.Packed(rule.NotBefore))
		}
	case UUID:
		id, err := ParseID(text)
		if err != nil {
			c.refuse(rule.Field, RuleUUID, "")
			return
		}
		c.fields[rule.Field] = id
	case Enum:
		if !slices.Contains(rule.Values, text) {
			c.refuse(rule.Field, RuleOneOf, phrase.Packed(strings.Join(rule.Values, ", ")))
			return
		}
		c.fields[rule.Field] = text
	case Text:
		c.fields[rule.Field] = text
	case CAR:
		// if the configuration accepts others, they are sent as close to the canonical form as possible
		c.fields[rule.Field] = canonicalCAR(text)
		car, err := ParseCAR(text)
		switch {
		case c.checks.CAR == Shape:
			if !carShape.MatchString(c.fields[rule.Field]) {
				c.refuse(rule.Field, RuleCAR, "UF-…-…")
			}
		case err != nil:
			c.judge("car", rule.Field, RuleCAR, "UF-NNNNNNN-32 hex")
		// Its municipality is in another federative unit. Registers have had this wrong, so it is only a remark.
		case c.checks.CAR != Off && !strings.HasPrefix(car[len("UF-"):], states[car[:len("UF")]]):
			c.report(rule.Field, RuleCARPlace, "", Warning)
		}
	case Harvest:
		m := harvestForm.FindStringSubmatch(text)
		if m == nil {
			c.refuse(rule.Field, RuleHarvest, "2025/2026")
			return
		}
		// 2025/2026 and, for winter crops, 2026/2026 are plausible
		first, errFirst := strconv.Atoi(m[1])
		second, errSecond := strconv.Atoi(m[2])
		if errFirst != nil || errSecond != nil || second != first && second != first+1 {
			c.judge("date_window", rule.Field, RuleDateWindow, "2025/2026")
		}
		c.fields[rule.Field] = text
	}
}

// judge reports a problem with the severity that the configuration assigns to the check.
func (c *checker) judge(check, field, rule string, detail phrase.Packed) {
	switch severity := c.checks.Severity(check); severity {
	case Off:
	case Warning:
		c.report(field, rule, detail, Warning)
	default:
		c.report(field, rule, detail, "")
	}
}

func (c *checker) refuse(field, rule string, detail phrase.Packed) { c.report(field, rule, detail, "") }

func (c *checker) report(field, rule string, detail phrase.Packed, severity Severity) {
	origin := c.draft.Fields[field].Origin
	value := origin.Value
	if len(value) > maxTextLength {
		value = strings.ToValidUTF8(value[:maxTextLength], "") + "…"
	}
	c.problems = append(c.problems, Problem{
		Field: field, Rule: rule, Column: strings.Join(origin.Columns, ", "), Value: value, Detail: detail,
		Severity: severity,
	})
}

// Refused reports whether a problem keeps the row from being sent.
func Refused(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity != Warning })
}

// IsHarvest reports whether a text has the form of a harvest, plausible or not.
func IsHarvest(text string) bool { return harvestForm.MatchString(text) }
