package alert

import (
	"cmp"
	"html"
	"strings"
	"time"
	"unicode/utf16"

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

// telegramText is the room for a message of Telegram, which takes 4,096 UTF-16 units, in HTML of a
// few tags.
const telegramText = 4000

type telegramMessage struct {
	Chat    string          `json:"chat_id"`
	Text    string          `json:"text"`
	Form    string          `json:"parse_mode"`
	Preview telegramPreview `json:"link_preview_options"`
}

type telegramPreview struct {
	Disabled bool `json:"is_disabled"`
}

// telegram returns a message for sendMessage of the Bot API. What is too long ends with whole lines.
func (m Message) telegram(chat string) telegramMessage {
	link := func(l Link) string {
		return `<a href="` + html.EscapeString(l.URL) + `">` + html.EscapeString(l.Text) + `</a>`
	}
	head := "<b>" + slackMarks[m.Tone] + html.EscapeString(m.Subject) + "</b>\n"
	foot := "\n<i>" + html.EscapeString(m.Foot) + "</i>"
	if m.Link.URL != "" {
		foot = "\n" + link(m.Link) + foot
	}
	var body strings.Builder
	room := telegramText - units(head) - units(foot)
	for _, p := range m.Parts {
		text := p.plain("", html.EscapeString, link) + "\n"
		if p.Heading != "" {
			text = "\n<b>" + html.EscapeString(p.Heading) + "</b>\n" + text
		}
		for line := range strings.Lines(text) {
			room -= units(line)
			if room > 1 {
				body.WriteString(line)
			}
		}
	}
	if room <= 1 {
		body.WriteString("…")
	}
	return telegramMessage{Chat: chat, Text: head + body.String() + foot, Form: "HTML", Preview: telegramPreview{true}}
}

// units returns the length of a text as Telegram counts it.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

// pagerDutySummary is the room for the summary of an incident, in characters.
const pagerDutySummary = 1024

type pagerDutyEvent struct {
	Key     string            `json:"routing_key"`
	Action  string            `json:"event_action"`
	Dedup   string            `json:"dedup_key"`
	Payload *pagerDutyPayload `json:"payload,omitempty"`
	Links   []pagerDutyLink   `json:"links,omitempty"`
	Client  string            `json:"client,omitempty"`
}

type pagerDutyPayload struct {
	Summary   string            `json:"summary"`
	Source    string            `json:"source"`
	Severity  string            `json:"severity"`
	Timestamp time.Time         `json:"timestamp"`
	Component string            `json:"component"`
	Class     string            `json:"class,omitempty"`
	Details   map[string]string `json:"custom_details"`
}

type pagerDutyLink struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

// pagerDuty returns a message for the Events API v2: what begins triggers an incident, and its end
// resolves the same one.
func (m Message) pagerDuty(key string) pagerDutyEvent {
	out := pagerDutyEvent{Key: key, Action: "trigger", Dedup: m.Alert}
	if out.Dedup == "" {
		out.Dedup = m.ID
	}
	if m.Kind == kindOver {
		out.Action = "resolve"
		return out
	}
	summary := []rune(m.Subject)
	out.Client = "safrasync"
	out.Payload = &pagerDutyPayload{
		Summary: string(summary[:min(len(summary), pagerDutySummary)]), Source: "safrasync",
		Severity: "error", Timestamp: m.At, Component: string(m.Group), Class: string(m.Topic),
		Details: map[string]string{},
	}
	switch {
	case m.Topic == NoLedger || m.Topic == DiskFull:
		out.Payload.Severity = "critical"
	case m.Kind == kindTest:
		out.Payload.Severity = "info"
	case m.Topic == LateAnswer || m.Topic == Accounts:
		out.Payload.Severity = "warning"
	}
	for _, p := range m.Parts {
		if text := p.plain("", unescaped, Link.text); text != "" {
			out.Payload.Details[cmp.Or(p.Heading, out.Client)] = text
		}
	}
	if m.Link.URL != "" {
		out.Links = []pagerDutyLink{{m.Link.URL, m.Link.Text}}
	}
	return out
}
