package alert

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Message is what people get, before it has the form of a channel. It is stored in the ledger until
// it is delivered.
type Message struct {
	ID      string    `json:"-"` // the ledger's id of the message to this address; the same at each try
	At      time.Time `json:"at"`
	Tone    Tone      `json:"tone"`
	Subject string    `json:"subject"`
	Parts   []Part    `json:"parts"`
	Foot    string    `json:"foot"` // who sent it, and where to read on
}

// Tone is how a message looks.
type Tone string

// The tones.
const (
	Alarm Tone = "alarm"
	Good  Tone = "good"
	Plain Tone = "plain"
)

// Part is a paragraph with a heading, its sentences, and a list of items.
type Part struct {
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text,omitempty"` // lines
	Items   []Item `json:"items,omitempty"`
}

// Item is one thing of a list, and what belongs to it.
type Item struct {
	Text string   `json:"text"`
	More []string `json:"more,omitempty"`
}

// mask masks the documents of persons in all texts.
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
