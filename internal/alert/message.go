package alert

import "time"

// Message is what people get, before it has the form of a channel. It is stored in the ledger until it is delivered.
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
