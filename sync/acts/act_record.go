// What the audit stores about an act.

package acts

import "github.com/safrasync/safrasync/trade"

// rowDetail is what the audit stores about an act on a row. Of the ERP's values it has only the
// fields that the act is about, in the API's form.
type rowDetail struct {
	Before  EntryView     `json:"before"`
	After   EntryView     `json:"after"`
	Changes []fieldChange `json:"changes,omitempty"`
	Reading *Readback     `json:"reading,omitempty"`
	Given   *formerOwner  `json:"given,omitempty"`
}

// formerOwner is the row that gave up its id.
type formerOwner struct {
	Job   string    `json:"job"`
	Key   string    `json:"key"`
	After EntryView `json:"after"`
}

// EntryView is what the audit stores about an entry: no payload, no values of the ERP (I10).
type EntryView struct {
	State        trade.State `json:"state"`
	Cause        string      `json:"cause,omitempty"`
	RemoteID     string      `json:"remote_id,omitempty"`
	MovedID      string      `json:"moved_id,omitempty"`
	Generation   int         `json:"generation"`
	Flags        trade.Flags `json:"flags"`
	Acknowledged trade.Flags `json:"acknowledged"`
	SourceHash   trade.Hash  `json:"source_hash"`
	PayloadHash  trade.Hash  `json:"payload_hash"`
	Version      int64       `json:"version"`
}

// ViewOf returns an entry as the audit stores it.
func ViewOf(e trade.Entry) EntryView {
	return EntryView{
		State: e.State, Cause: e.Cause, RemoteID: e.RemoteID, MovedID: e.MovedID, Generation: e.Generation,
		Flags:        append(trade.Flags{}, e.Flags...),
		Acknowledged: append(trade.Flags{}, e.Acknowledged...), SourceHash: e.SourceHash, PayloadHash: e.PayloadHash,
		Version: e.Version,
	}
}

type fieldChange struct {
	Field   string   `json:"field,omitempty"`
	Columns []string `json:"columns"`
	Sent    *string  `json:"sent"`
	Now     *string  `json:"now"`
}
