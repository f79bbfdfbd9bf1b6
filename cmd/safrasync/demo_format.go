package main

import (
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"

	"github.com/safrasync/safrasync/trade"
)

// shellWord quotes a path where a shell would take it apart.
func shellWord(path string) string {
	for _, r := range path {
		if !strings.ContainsRune("/._-+:@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
		}
	}
	return path
}

// wrapped breaks each line at the width.
func wrapped(width int, lines ...string) string {
	var out []string
	for _, line := range lines {
		for _, part := range strings.Split(text.WrapSoft(line, width), "\n") {
			out = append(out, strings.TrimRight(part, " "))
		}
	}
	return strings.Join(out, "\n")
}

// upperFirst begins a sentence.
func upperFirst(sentence string) string {
	_, size := utf8.DecodeRuneInString(sentence)
	return strings.ToUpper(sentence[:size]) + sentence[size:]
}

// number writes a decimal as the language does; digits after the point are kept, or rounded half away from zero when scale is given. Zero is
// a dash.
func (p *demoPrinter) number(d decimal.Decimal, scale int32) string {
	if d.IsZero() {
		return "–"
	}
	plain := d.Abs().String()
	if scale >= 0 {
		plain = d.Abs().StringFixed(scale)
	}
	whole, fraction, broken := strings.Cut(plain, ".")
	group, point := ".", ","
	if p.lang() == trade.English {
		group, point = ",", "."
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + group + whole[i:]
	}
	if d.IsNegative() {
		whole = "-" + whole
	}
	if broken {
		whole += point + fraction
	}
	return whole
}
