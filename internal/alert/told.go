package alert

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Told is an alert in words.
type Told struct {
	Title, Happened, Means, Do string
}

// Say returns an alert of the ledger in a reader's language.
func Say(a trade.Alert, lang trade.Lang, zone *time.Location, titles trade.Titles) (out Told, err error) {
	var d Detail
	if err := unmarshalDetail(a, &d); err != nil {
		return out, err
	}
	v := voice{lang: lang, zone: zone, titles: titles}
	out.Title, out.Happened, out.Means, out.Do = v.sentences(Topic(a.Topic), d)
	return out, nil
}

// SubjectOf returns the subject of a message that was stored, as it was written.
func SubjectOf(m trade.AlertMessage) string {
	var content Message
	if json.Unmarshal(m.Content, &content) != nil {
		return ""
	}
	return content.Subject
}

// GoesTo returns to whom a message goes: the address of a mail; "" for the receiver of the webhook,
// whose address is a secret.
func GoesTo(m trade.AlertMessage) string {
	address, mail := strings.CutPrefix(m.Target, emailPrefix)
	if !mail {
		return ""
	}
	return address
}
