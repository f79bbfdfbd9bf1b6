package alert

import (
	"net/url"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
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

// Link leads to a page of the console.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"` // "" = there is none
}

// topicPages are where the console has what an alert is about, and the act that ends it. A ledger
// that cannot be read has no page.
var topicPages = map[Topic]string{
	Stopped: "/routines", NothingNew: "/routines", SweepMissed: "/routines", InDoubt: "/doubts", Rejected: "/rows",
	LongWaiting: "/rows", Contradicted: "/changed", LateAnswer: "/audit", Accounts: "/audit", Silent: "/events",
	Unheard: "/events", DiskFull: "/alerts", Certificate: "/alerts", BackupOld: "/alerts",
	Unseen: "/alerts",
}

// rowStates are the states of the rows that an alert counts; the rows of the last one have causes.
var rowStates = map[Topic][]trade.State{
	Rejected: {trade.Rejected}, LongWaiting: {trade.Pending, trade.Sending, trade.Waiting},
}

// topicLink returns the link of an alert; a zero one if the console has no public address.
func (v voice) topicLink(topic Topic, d Detail) Link {
	query := url.Values{}
	if states, ok := rowStates[topic]; ok {
		query = url.Values{"job": {d.job()}, "state": {string(states[0])}}
		if len(states) > 1 {
			query.Set("state", "waits")
		}
	}
	return v.pageLink(topicPages[topic], query)
}

// pageLink returns the link of a page; a zero one if there is none.
func (v voice) pageLink(path string, query url.Values) Link {
	if v.console == "" || path == "" {
		return Link{}
	}
	link := Link{v.text("Open %s in the console", i18n.PageName(v.lang, path)), v.console + path}
	if len(query) > 0 {
		link.URL += "?" + query.Encode()
	}
	return link
}
