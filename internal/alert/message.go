package alert

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// notice is what a message is about. It is stored until it is delivered, and made into words when it
// is sent.
type notice struct {
	Topic  Topic     `json:"topic,omitempty"` // of an alert
	Since  time.Time `json:"since,omitzero"`
	Gone   time.Time `json:"gone,omitzero"` // when the alert ended; zero: it begins
	Detail Detail    `json:"detail,omitzero"`
	Digest *Digest   `json:"digest,omitempty"`
}

// Message is a message to people, independent of the form of a channel. As JSON it is the form for
// programs of one's own; docs/operation.md shows it.
type Message struct {
	// the ledger's id of the message to this address; the same at each attempt
	ID string `json:"id"`
	// the ledger's id of the alert, the same when it begins and when it is over; "" for others
	Alert   string           `json:"alert,omitempty"`
	Kind    string           `json:"kind"`            // raised, over, digest or test
	Topic   Topic            `json:"topic,omitempty"` // of an alert
	Group   trade.Department `json:"group"`           // whom it calls
	At      time.Time        `json:"at"`
	Tone    Tone             `json:"-"`
	Subject string           `json:"subject"`
	Parts   []Paragraph      `json:"parts"`
	Link    Link             `json:"link,omitzero"` // where the console has it
	Foot    string           `json:"foot"`          // the sender, and where to read on
}

// message returns the words of a notice.
func (v voice) message(n notice) (m Message) {
	switch {
	case n.Digest != nil:
		m = v.digest(*n.Digest)
	case n.Gone.IsZero():
		m = v.raised(n)
	default:
		m = v.over(n)
	}
	m.Topic, m.Group = n.Topic, groupOf(n.Topic, n.Detail)
	if n.Digest != nil { // it speaks of rows
		m.Group = trade.Accounting
	}
	m.mask()
	return m
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
	Link Link     `json:"link,omitzero"`
}

// mask masks the CPFs and CNPJs in all texts.
func (m *Message) mask() {
	mask := trade.MaskDocuments
	m.Subject, m.Foot = mask(m.Subject), mask(m.Foot)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Heading, p.Text = mask(p.Heading), mask(p.Text)
		for j, item := range p.Items {
			p.Items[j].Text = mask(item.Text)
			for k, more := range item.More {
				item.More[k] = mask(more)
			}
		}
	}
}
