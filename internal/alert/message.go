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

// Message is a message to people, independent of the form of a channel.
type Message struct {
	ID      string           // the ledger's id of the message to this address; the same at each attempt
	Alert   string           // the ledger's id of the alert, the same when it begins and when it is over; "" for others
	Kind    string           // raised, over, digest or test
	Topic   Topic            // of an alert
	Group   trade.Department // whom it calls
	At      time.Time
	Tone    Tone
	Subject string
	Parts   []Paragraph
	Link    Link   // where the console has it
	Foot    string // the sender, and where to read on
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
	Heading string
	Text    string // lines
	Items   []Item
}

// Item is an entry of a list, and its details.
type Item struct {
	Text string
	More []string
	Link Link
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
