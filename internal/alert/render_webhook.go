package alert

import (
	"strings"
	"unicode/utf8"
)

// The limits of Slack and Teams: a section of Slack has at most 3,000 characters and a message 50
// blocks; a card of Teams about 28 KB.
const (
	slackSection = 2900
	slackBlocks  = 47
	teamsBytes   = 20_000
)

type slackMessage struct {
	Text   string       `json:"text"` // for notifications
	Blocks []slackBlock `json:"blocks"`
}

type slackBlock struct {
	Type     string      `json:"type"`
	Text     *slackText  `json:"text,omitempty"`
	Elements []slackText `json:"elements,omitempty"`
}

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

var slackMarks = map[Tone]string{Alarm: "🔴 ", Good: "🟢 ", Plain: "📋 "}

// slackEscape keeps a text from becoming a link or a mention.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (m Message) slack() slackMessage {
	subject := slackMarks[m.Tone] + slackEscape.Replace(m.Subject)
	out := slackMessage{
		Text:   subject,
		Blocks: []slackBlock{{Type: "section", Text: &slackText{"mrkdwn", "*" + subject + "*"}}},
	}
	for _, p := range m.Parts {
		var b strings.Builder
		if p.Heading != "" {
			b.WriteString("*" + slackEscape.Replace(p.Heading) + "*\n")
		}
		b.WriteString(p.plain("", slackEscape.Replace, slackLink))
		for _, text := range cutText(b.String(), slackSection) {
			if len(out.Blocks) < slackBlocks {
				out.Blocks = append(out.Blocks, slackBlock{Type: "section", Text: &slackText{"mrkdwn", text}})
			}
		}
	}
	if m.Link.URL != "" {
		out.Blocks = append(out.Blocks, slackBlock{Type: "section", Text: &slackText{"mrkdwn", slackLink(m.Link)}})
	}
	out.Blocks = append(out.Blocks, slackBlock{
		Type:     "context",
		Elements: []slackText{{"mrkdwn", slackEscape.Replace(m.Foot)}},
	})
	return out
}

func slackLink(l Link) string {
	return "<" + slackEscape.Replace(l.URL) + "|" + slackEscape.Replace(l.Text) + ">"
}

// plain returns a part without its heading, with the escapes and the links of a form. indent is
// that of its items.
func (p Paragraph) plain(indent string, escape func(string) string, link func(Link) string) string {
	var b strings.Builder
	if p.Text != "" {
		b.WriteString(escape(p.Text) + "\n")
	}
	for _, item := range p.Items {
		b.WriteString(indent + "• " + escape(item.Text) + "\n")
		for _, more := range item.More {
			b.WriteString(indent + "    " + escape(more) + "\n")
		}
		if item.Link.URL != "" {
			b.WriteString(indent + "    " + link(item.Link) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// cutText cuts a text into pieces of at most most bytes, between lines where that is possible and
// never within a character.
func cutText(text string, most int) []string {
	var out []string
	for len(text) > most {
		at := strings.LastIndexByte(text[:most], '\n')
		if at <= 0 {
			for at = most; !utf8.RuneStart(text[at]); {
				at--
			}
		}
		out = append(out, text[:at])
		text = strings.TrimPrefix(text[at:], "\n")
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

type teamsMessage struct {
	Type        string            `json:"type"`
	Attachments []teamsAttachment `json:"attachments"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	Content     teamsCard `json:"content"`
}

type teamsCard struct {
	Schema  string        `json:"$schema"`
	Type    string        `json:"type"`
	Version string        `json:"version"`
	Actions []teamsAction `json:"actions,omitempty"`
	Body    []teamsBlock  `json:"body"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

type teamsBlock struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Wrap      bool   `json:"wrap"`
	Size      string `json:"size,omitempty"`
	Weight    string `json:"weight,omitempty"`
	Color     string `json:"color,omitempty"`
	IsSubtle  bool   `json:"isSubtle,omitempty"`
	Separator bool   `json:"separator,omitempty"`
}

var teamsColours = map[Tone]string{Alarm: "attention", Good: "good", Plain: "default"}

// teamsEscape keeps a text from becoming a link or a heading in the card's markdown.
var teamsEscape = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "*", `\*`, "_", `\_`, "`", "'", "#", `\#`)

// teamsLink leaves nothing in the address that would end the link.
func teamsLink(l Link) string {
	return "[" + teamsEscape.Replace(l.Text) + "](" + strings.NewReplacer("(", "%28", ")", "%29").Replace(l.URL) + ")"
}

func (m Message) teams() teamsMessage {
	body := []teamsBlock{{
		Type: "TextBlock", Text: teamsEscape.Replace(m.Subject), Wrap: true, Size: "large",
		Weight: "bolder", Color: teamsColours[m.Tone],
	}}
	room := teamsBytes
	for _, p := range m.Parts {
		text := p.plain("", teamsEscape.Replace, teamsLink)
		room -= len(p.Heading) + len(text)
		if room < 0 {
			body = append(body, teamsBlock{Type: "TextBlock", Text: "…", Wrap: true})
			break
		}
		if p.Heading != "" {
			body = append(body, teamsBlock{
				Type: "TextBlock", Text: teamsEscape.Replace(p.Heading), Wrap: true,
				Weight: "bolder", Separator: true,
			})
		}
		if text != "" {
			body = append(body, teamsBlock{
				Type: "TextBlock",
				Text: strings.ReplaceAll(text, "\n", "\n\n"), Wrap: true,
			})
		}
	}
	body = append(body, teamsBlock{
		Type: "TextBlock", Text: teamsEscape.Replace(m.Foot), Wrap: true, IsSubtle: true,
		Size: "small",
	})
	var actions []teamsAction
	if m.Link.URL != "" {
		actions = []teamsAction{{"Action.OpenUrl", m.Link.Text, m.Link.URL}}
	}
	return teamsMessage{Type: "message", Attachments: []teamsAttachment{{
		ContentType: "application/vnd.microsoft.card.adaptive",
		Content: teamsCard{
			Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard",
			Version: "1.4", Body: body, Actions: actions,
		},
	}}}
}
