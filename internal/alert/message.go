package alert

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Message is a message to people, independent of the form of a channel. It is stored in the ledger
// until it is delivered.
type Message struct {
	ID      string      `json:"-"` // the ledger's id of the message to this address; the same at each attempt
	At      time.Time   `json:"at"`
	Tone    Tone        `json:"tone"`
	Subject string      `json:"subject"`
	Parts   []Paragraph `json:"parts"`
	Foot    string      `json:"foot"` // the sender, and where to read on
}

// Tone selects the look of a message.
type Tone string

// The tones.
const (
	Alarm Tone = "alarm"
	Good  Tone = "good"
	Plain Tone = "plain"
)

// Paragraph is a paragraph with a heading, its sentences, and a list of items.
type Paragraph struct {
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text,omitempty"` // lines
	Items   []Item `json:"items,omitempty"`
}

// Item is an entry of a list, and its details.
type Item struct {
	Text string   `json:"text"`
	More []string `json:"more,omitempty"`
}

// mask masks the CPFs and CNPJs in all texts.
func (m *Message) mask() {
	texts := []*string{&m.Subject, &m.Foot}
	for i := range m.Parts {
		p := &m.Parts[i]
		texts = append(texts, &p.Heading, &p.Text)
		for j := range p.Items {
			texts = append(texts, &p.Items[j].Text)
			for k := range p.Items[j].More {
				texts = append(texts, &p.Items[j].More[k])
			}
		}
	}
	for _, text := range texts {
		*text = trade.MaskDocuments(*text)
	}
}
