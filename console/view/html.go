// Markup that many pages repeat.

package view

import (
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// markup returns HTML in which each argument is escaped, unless it is HTML already.
func markup(format string, args ...any) template.HTML {
	for i, arg := range args {
		if _, safe := arg.(template.HTML); !safe {
			args[i] = template.HTMLEscaper(arg)
		}
	}
	return template.HTML(fmt.Sprintf(format, args...))
}

// classOf returns the attribute for a class; nothing for none.
func classOf(class ...string) template.HTML {
	if len(class) == 0 || class[0] == "" {
		return ""
	}
	return markup(` class="%v"`, class[0])
}

// Styles links to style sheets beside those of every page.
func (f Frame) Styles(names ...string) (out template.HTML) {
	for _, name := range names {
		out += markup(`<link rel="stylesheet" href="%v">`, f.Asset.Of("style/"+name+".css"))
	}
	return out
}

// FormTo begins a form that is posted to a path. A class is optional.
func (f Frame) FormTo(path string, class ...string) template.HTML {
	at, query, asked := strings.Cut(path, "?")
	at = (&url.URL{Path: at}).EscapedPath()
	if asked {
		at += "?" + query
	}
	return markup(`<form method="post" action="%v"%v>`, at, classOf(class...)) + f.Hidden("token", f.Token)
}

// Hidden returns a field that a form sends and nobody sees.
func (Frame) Hidden(name string, value any) template.HTML {
	return markup(`<input type="hidden" name="%v" value="%v">`, name, value)
}

// Alert returns the paragraph of what is wrong, of which text is the key of a phrase; nothing for "".
func (f Frame) Alert(text string) template.HTML {
	if text == "" {
		return ""
	}
	return markup(`<p role="alert" class="fault">%v</p>`, f.T(text))
}

// RowLink returns the columns of a row that people see, with a link to its page, and its key beneath them;
// titled has the title of its job too.
func (f Frame) RowLink(e trade.Entry, titled bool) template.HTML {
	lead := f.Lead(e)
	if titled {
		lead = f.Title(e.Job) + " " + lead
	}
	link := markup(`<a href="/rows/%v"><strong>%v</strong></a>`, e.ID, lead)
	if e.ID <= 0 { // a row that only a plan has
		link = markup("<strong>%v</strong>", lead)
	}
	key := f.Beneath(e)
	if key == "" {
		return link
	}
	return link + markup(` <small class="code">%v</small>`, key)
}

// StateMark returns the name of a state in its colour, in a word; its title has all of it.
func (f Frame) StateMark(s trade.State) template.HTML {
	name := f.State(s)
	return markup(`<span class="state %v" title="%v">%v</span>`, s, name, aside.ReplaceAllString(name, ""))
}

// aside is what the name of a state says besides.
var aside = regexp.MustCompile(` (\(|by |pela ).*`)

// When returns a time as people and machines read it; "–" for the zero time.
func (f Frame) When(at time.Time) template.HTML {
	if at.IsZero() {
		return "–"
	}
	return markup(`<time datetime="%v">%v</time>`, f.ISO(at), f.Time(at))
}

// remoteID returns an id of the platform; "–" for none.
func remoteID(id string) template.HTML {
	if id == "" {
		return "–"
	}
	return markup(`<code class="uuid copy" title="%v">%v</code>`, id, id)
}

// Table begins a table that may be scrolled, with its head. Label and columns are keys of phrases; the
// class of a column follows it, after "#".
func (f Frame) Table(label, class string, columns ...string) template.HTML {
	out := markup(`<div class="scroll" tabindex="0" role="region" aria-label="%v"><table%v><thead><tr>`, f.T(label),
		classOf(class))
	for i, column := range columns {
		look, named := "", false
		if i+1 < len(columns) {
			look, named = strings.CutPrefix(columns[i+1], "#")
		}
		switch {
		case strings.HasPrefix(column, "#"):
		case named && look == "only-heard":
			out += markup(`<th scope="col"><span class="only-heard">%v</span></th>`, f.T(column))
		case named:
			out += markup(`<th scope="col"%v>%v</th>`, classOf(look), f.T(column))
		default:
			out += markup(`<th scope="col">%v</th>`, f.T(column))
		}
	}
	return out + "</tr></thead>"
}

// Cell returns a cell under a column, whose title a phone shows beside it.
func (f Frame) Cell(column, class string, content any) template.HTML {
	return markup(`<td%v data-label="%v">%v</td>`, classOf(class), f.T(column), content)
}

// Fact returns a term with its value.
func (f Frame) Fact(term string, value any) template.HTML {
	return markup("<div><dt>%v</dt><dd>%v</dd></div>", f.T(term), value)
}

// Input returns a field with its label; more are further attributes, as HTML.
func (f Frame) Input(label, name string, value any, more ...template.HTML) template.HTML {
	out := markup(`<label>%v <input name="%v"`, f.T(label), name)
	if value != "" {
		out += markup(` value="%v"`, value)
	}
	for _, attributes := range more {
		out += " " + attributes
	}
	return out + "></label>"
}

// Option returns a choice of a list.
func (Frame) Option(value any, chosen bool, text string) template.HTML {
	if chosen {
		return markup(`<option value="%v" selected>%v</option>`, value, text)
	}
	return markup(`<option value="%v">%v</option>`, value, text)
}

// Value returns the value of a field for people, with documents masked; "–" for none.
func (f Frame) Value(field string, text *string) string {
	if text == nil {
		return "–"
	}
	return Mask(f.Said(field, *text))
}

// Monies returns amounts by currency, each after a point.
func (f Frame) Monies(values map[string]trade.Decimal) (out string) {
	for _, currency := range slices.Sorted(maps.Keys(values)) {
		out += " · " + f.Money(currency, values[currency])
	}
	return out
}

// Unweighed returns after a point how many documents have no valid weight; nothing for none.
func (f Frame) Unweighed(rows int) string {
	if rows == 0 {
		return ""
	}
	return " · " + f.T("%s without a valid weight", rows)
}
