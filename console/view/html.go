// Markup that many pages repeat.

package view

import (
	"fmt"
	"html/template"
	"strconv"

	"github.com/safrasync/safrasync/trade"
)

// markup returns HTML in which each argument is escaped.
func markup(format string, args ...string) template.HTML {
	escaped := make([]any, len(args))
	for i, arg := range args {
		escaped[i] = template.HTMLEscapeString(arg)
	}
	return template.HTML(fmt.Sprintf(format, escaped...))
}

// FormTo begins a form that is posted to a path. A class is optional.
func (f Frame) FormTo(path string, class ...string) template.HTML {
	look := template.HTML("")
	if len(class) > 0 {
		look = markup(` class="%s"`, class[0])
	}
	return markup(`<form method="post" action="%s"`, path) + look + ">" + f.Hidden("token", f.Token)
}

// Hidden returns a field that a form sends and nobody sees.
func (Frame) Hidden(name string, value any) template.HTML {
	return markup(`<input type="hidden" name="%s" value="%s">`, name, fmt.Sprint(value))
}

// Alert returns the paragraph of what is wrong, of which text is the key of a phrase; nothing for "".
func (f Frame) Alert(text string) template.HTML {
	if text == "" {
		return ""
	}
	return markup(`<p role="alert" class="fault">%s</p>`, f.T(text))
}

// RowName returns the columns of a row that people see, and its key beneath them.
func (f Frame) RowName(e trade.Entry) template.HTML {
	key := f.Beneath(e)
	if key == "" {
		return markup("%s", f.Lead(e))
	}
	return markup(`%s <small class="code">%s</small>`, f.Lead(e), key)
}

// RowLink is RowName with a link to the page of the row; titled has the title of its job too.
func (f Frame) RowLink(e trade.Entry, titled bool) template.HTML {
	lead := f.Lead(e)
	if titled {
		lead = f.Title(e.Job) + " " + lead
	}
	link := markup(`<a href="/rows/%s"><strong>%s</strong></a>`, strconv.FormatInt(e.ID, 10), lead)
	if e.ID <= 0 { // a row that only a plan has
		link = markup("<strong>%s</strong>", lead)
	}
	key := f.Beneath(e)
	if key == "" {
		return link
	}
	return link + markup(` <small class="code">%s</small>`, key)
}

// StateMark returns the name of a state in its colour.
func (f Frame) StateMark(s trade.State) template.HTML {
	return markup(`<span class="state %s">%s</span>`, string(s), f.State(s))
}
