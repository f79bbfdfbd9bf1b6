package alert

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// voice writes texts in one language and one time zone.
type voice struct {
	lang   trade.Lang
	zone   *time.Location
	name   string
	titles trade.Titles
	// console is the public address of the console, without a slash at its end; "" if it has none
	console string
}

// voice returns the voice in which the messages are written.
func (c Config) voice() voice { return voice{c.Lang, c.Zone, c.Name, c.Titles, c.Console} }

func (v voice) text(p i18n.Key, args ...any) string {
	return i18n.Alerts.Text(v.lang, p, args...)
}

// moment returns a time as people write it.
func (v voice) moment(t time.Time) string { return trade.MomentText(t, v.lang, v.zone) }

func (v voice) day(t time.Time) string {
	if v.lang == trade.English {
		return t.In(v.zone).Format("2006-01-02")
	}
	return t.In(v.zone).Format("02/01/2006")
}

// span returns a duration in its two largest units.
func (v voice) span(d time.Duration) string {
	minutes := int(d / time.Minute)
	days, hours := minutes/(24*60), minutes/60%24
	minutes %= 60
	switch {
	case days > 0 && hours > 0:
		return v.text("%d {day|days}", days) + v.text(" and ") + v.text("%d {hour|hours}", hours)
	case days > 0:
		return v.text("%d {day|days}", days)
	case hours > 0 && minutes > 0:
		return v.text("%d {hour|hours}", hours) + v.text(" and ") + v.text("%d {minute|minutes}", minutes)
	case hours > 0:
		return v.text("%d {hour|hours}", hours)
	}
	return v.text("%d {minute|minutes}", max(minutes, 1))
}

// number returns a decimal, exact and in the notation of the language: 4.310,5 or 4,310.5.
func (v voice) number(d trade.Decimal) string {
	return v.hyphened(trade.NumberText(d.String(), v.lang))
}

// money returns a number with at least two decimals. It shows more if there are more, because
// nothing is rounded.
func (v voice) money(d trade.Decimal) string { return v.hyphened(trade.MoneyText(d.Round(2), v.lang)) }

func (v voice) rows(n int) string { return trade.NumberText(strconv.Itoa(n), v.lang) }

// hyphened replaces the minus sign, which some mail programs cannot show.
func (voice) hyphened(number string) string { return strings.Replace(number, "−", "-", 1) }

// sacasScale is the maximum number of decimals of sacas.
const sacasScale = 4

// weight returns kilograms and sacas: "720.000 kg = 12.000 sc". Sacas that have no exact decimal
// form are marked as approximate.
func (v voice) weight(kg trade.Decimal) string {
	sacas, exact := kg.Sacas(sacasScale)
	sign := " = "
	if !exact {
		sacas, _ = kg.Sacas(2)
		sign = " ≈ "
	}
	return v.number(kg) + " kg" + sign + v.number(sacas) + " sc"
}

// list joins words as in a sentence: "a, b e c".
func (v voice) list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + v.text(" and ") + items[len(items)-1]
}

// jobs returns the names of jobs: "contracts (contratos) e deliveries (entregas)", or their titles.
// A message contains nothing of a row (I10), because it leaves the cooperative.
func (v voice) jobs(jobs []Job) string {
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = j.Name
		if title := v.titles.Of(j.Name); !strings.EqualFold(title, j.Name) {
			names[i] = title + " (" + j.Name + ")" // with the name that commands take: Compras (contracts)
		} else if j.Sends != "" && j.Sends.Plural(v.lang) != j.Name {
			names[i] += " (" + j.Sends.Plural(v.lang) + ")"
		}
	}
	return v.list(names)
}

// upperFirst returns the text with a capital first letter.
func upperFirst(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(string(r)) + text[n:]
}
