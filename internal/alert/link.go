package alert

import (
	"net/url"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

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
