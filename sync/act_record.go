package sync

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// rowDetail is what the audit keeps of an act on a row: no values of the ERP but those fields that an act is about, in the form that the API has them.
type rowDetail struct {
	Before  entryView     `json:"before"`
	After   entryView     `json:"after"`
	Changes []fieldChange `json:"changes,omitempty"`
	Reading *Readback     `json:"reading,omitempty"`
	Given   *givenView    `json:"given,omitempty"`
}

// givenView is the row that gave its id up.
type givenView struct {
	Job   string    `json:"job"`
	Key   string    `json:"key"`
	After entryView `json:"after"`
}

func (s RowStep) given() *givenView {
	if s.Gives == nil {
		return nil
	}
	return &givenView{s.Holder.Job, s.Holder.Key, viewOf(s.Gives.Entry)}
}

type entryView struct {
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

func viewOf(e trade.Entry) entryView {
	return entryView{
		State: e.State, Cause: e.Cause, RemoteID: e.RemoteID, MovedID: e.MovedID, Generation: e.Generation, Flags: append(trade.Flags{}, e.Flags...),
		Acknowledged: append(trade.Flags{}, e.Acknowledged...), SourceHash: e.SourceHash, PayloadHash: e.PayloadHash, Version: e.Version,
	}
}

type fieldChange struct {
	Field   string   `json:"field,omitempty"`
	Columns []string `json:"columns"`
	Sent    *string  `json:"sent"`
	Now     *string  `json:"now"`
}

func changesOf(differences []trade.Difference) []fieldChange {
	var out []fieldChange
	for _, d := range differences {
		out = append(out, fieldChange{d.Field, d.Columns, d.Sent, d.Now})
	}
	return out
}

// record makes the audit's record of an act.
func (p Person) record(at time.Time, act, target string, detail any) (trade.AuditRecord, error) {
	text, err := json.Marshal(detail)
	if err != nil {
		return trade.AuditRecord{}, fmt.Errorf("%s: %w", act, err)
	}
	return trade.AuditRecord{At: at, Who: p.Name, From: p.From, Act: act, Target: target, Reason: p.Reason, Detail: string(text)}, nil
}
