package trade

import "strings"

// NumberText writes the text of a decimal as people of a language do, digit by digit: 1234567.50 is
// 1.234.567,50.
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

// MoneyText is NumberText with at least two digits after the point, as cents are written.
func MoneyText(d Decimal, lang Lang) string {
	whole, cents, _ := strings.Cut(d.String(), ".")
	for len(cents) < 2 {
		cents += "0"
	}
	return NumberText(whole+"."+cents, lang)
}
