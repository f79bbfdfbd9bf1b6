package alert

import (
	"strings"
	"unicode/utf8"
)

// The limits of Slack and Teams: a section of Slack has at most 3,000 characters and a message 50
// blocks; a card of Teams about 28 KB.
const (
	slackSection = 2900
	slackBlocks  = 48
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
		b.WriteString(slackEscape.Replace(p.plain()))
		for _, text := range cutText(b.String(), slackSection) {
			if len(out.Blocks) < slackBlocks {
				out.Blocks = append(out.Blocks, slackBlock{Type: "section", Text: &slackText{"mrkdwn", text}})
			}
		}
	}
	out.Blocks = append(out.Blocks, slackBlock{
		Type:     "context",
		Elements: []slackText{{"mrkdwn", slackEscape.Replace(m.Foot)}},
	})
	return out
}

// plain returns a part without its heading.
func (p Paragraph) plain() string {
	var b strings.Builder
	if p.Text != "" {
		b.WriteString(p.Text + "\n")
	}
	for _, item := range p.Items {
		b.WriteString("• " + item.Text + "\n")
		for _, more := range item.More {
			b.WriteString("    " + more + "\n")
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
	Schema  string       `json:"$schema"`
	Type    string       `json:"type"`
	Version string       `json:"version"`
	Body    []teamsBlock `json:"body"`
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

func (m Message) teams() teamsMessage {
	body := []teamsBlock{{
		Type: "TextBlock", Text: teamsEscape.Replace(m.Subject), Wrap: true, Size: "large",
		Weight: "bolder", Color: teamsColours[m.Tone],
	}}
	room := teamsBytes
	for _, p := range m.Parts {
		room -= len(p.Heading) + len(p.plain())
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
		if text := p.plain(); text != "" {
			body = append(body, teamsBlock{
				Type: "TextBlock",
				Text: strings.ReplaceAll(teamsEscape.Replace(text), "\n", "\n\n"), Wrap: true,
			})
		}
	}
	body = append(body, teamsBlock{
		Type: "TextBlock", Text: teamsEscape.Replace(m.Foot), Wrap: true, IsSubtle: true,
		Size: "small",
	})
	return teamsMessage{Type: "message", Attachments: []teamsAttachment{{
		ContentType: "application/vnd.microsoft.card.adaptive",
		Content: teamsCard{
			Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard",
			Version: "1.4", Body: body,
		},
	}}}
}
