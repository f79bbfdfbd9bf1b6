package alert

import (
	"html"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// text returns a message as plain text.
func (m Message) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Heading != "" {
			b.WriteString(p.Heading + "\n")
		}
		if text := p.plain("  ", unescaped, Link.text); text != "" {
			b.WriteString(text + "\n")
		}
		b.WriteString("\n")
	}
	if m.Link.URL != "" {
		b.WriteString(m.Link.text() + "\n\n")
	}
	return b.String() + m.Foot + "\n"
}

func unescaped(text string) string { return text }

func (l Link) text() string { return l.Text + ": " + l.URL }

// markColours are the colours of the strip at the top.
var markColours = map[Tone]string{Alarm: "#b42318", Good: "#1b7f3b", Plain: "#1f5f99"}

func (l Link) html() string {
	return `<a href="` + html.EscapeString(l.URL) + `" style="color:#1f5f99">` + html.EscapeString(l.Text) + "</a>"
}

func lines(text string) string { return strings.ReplaceAll(html.EscapeString(text), "\n", "<br>") }

// Rendered is an alert in words.
type Rendered struct {
	Title, Happened, Means, Do string

	Record int64 // of the audit, that Happened names; 0 = none
}

// Render returns an alert of the ledger in a reader's language.
func Render(a trade.Alert, lang trade.Lang, zone *time.Location, titles trade.Titles) (out Rendered, err error) {
	var d Detail
	if err := unmarshalDetail(a, &d); err != nil {
		return out, err
	}
	v := voice{lang: lang, zone: zone, titles: titles}
	out.Record = d.Record
	tense := i18n.Key(".happened")
	if !a.ClosedAt.IsZero() {
		tense = ".was"
	}
	out.Title, out.Happened, out.Means, out.Do = v.sentences(Topic(a.Topic), d, tense)
	return out, nil
}

// States returns the states of the rows that an alert of the ledger counts; nil: it counts none.
func States(a trade.Alert) []trade.State {
	if Topic(a.Topic) == InDoubt {
		return []trade.State{trade.InDoubt}
	}
	return rowStates[Topic(a.Topic)]
}
