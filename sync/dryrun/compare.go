// What the present configuration would make of rows that were sent.

package dryrun

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Difference is one row that was sent, with what the present configuration would make of the same
// row.
type Difference struct {
	Job        string          `json:"job"`
	Key        string          `json:"key"`
	RemoteID   string          `json:"remote_id"`
	Verdict    DifferenceKind  `json:"verdict"`
	Changes    []FieldChange   `json:"changes"`     // fields whose value would differ
	Problems   []trade.Problem `json:"problems"`    // rules that the row would break now
	WaitingFor []trade.Awaited `json:"waiting_for"` // references that are missing now
	// columns that were not mapped when the row was sent; the fields that use them are not compared
	Unmapped []string       `json:"unmapped"`
	Sent     trade.Quantity `json:"sent"` // the quantity that was sent; Now is what it would be
	Now      trade.Quantity `json:"now"`
}

// DifferenceKind is what the present configuration makes of a row that was sent.
type DifferenceKind string

// The kinds of differences, the worst first.
const (
	WouldBeRefused DifferenceKind = "refused" // the row would be invalid
	WouldWait      DifferenceKind = "waiting" // a reference is missing now
	WouldDiffer    DifferenceKind = "differs" // it would be sent with another payload
	// what can be compared is equal, but a column was not mapped then, or retention has removed the
	// payload
	NotComparable  DifferenceKind = "not_comparable"
	WouldBeTheSame DifferenceKind = "same"
)

// FieldChange is one field of a payload, as JSON text; "" = absent.
type FieldChange struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Comparer compares what was sent with what the present configuration would send. It stores and
// sends nothing.
type Comparer struct {
	reader *discovery.Discoverer
	job    *mapping.Job
	ask    bool // read columns that were not mapped from the ERP
}

// Comparer returns a comparer for one job. If askERP is true, it reads the references, and the
// columns that were not mapped, from the ERP; otherwise it uses only the ledger.
func (e *Rehearsal) Comparer(ctx context.Context, job *mapping.Job, askERP bool) (*Comparer, error) {
	r, err := e.loaded(ctx, job, !askERP)
	return &Comparer{reader: r, job: job, ask: askERP}, err
}

// Compare compares entries that were sent, and returns the differences in the same order.
func (c *Comparer) Compare(ctx context.Context, entries []trade.Entry) ([]Difference, error) {
	rows := make([]trade.Values, len(entries))
	for i, e := range entries {
		rows[i] = mapping.StoredValues(e.Values)
	}
	var short []trade.Entry
	for i, e := range entries {
		if c.ask && len(c.lacking(rows[i])) > 0 {
			short = append(short, e)
		}
	}
	if len(short) > 0 { // the ERP has the other columns, of rows whose key occurs there once
		found, err := c.reader.ReadAgain(ctx, c.job, short)
		if err != nil {
			return nil, err
		}
		for i, e := range entries {
			if len(c.lacking(rows[i])) == 0 || len(found[e.Key]) != 1 {
				continue
			}
			full := maps.Clone(rows[i])
			for name, cell := range found[e.Key][0].Values() {
				if _, had := full[name]; !had {
					full[name] = cell
				}
			}
			rows[i] = full
		}
	}
	judged, err := judgeRows(ctx, c.reader, rows)
	if err != nil {
		return nil, err
	}
	out := make([]Difference, len(entries))
	for i, got := range judged {
		e := entries[i]
		d := Difference{
			Job: e.Job, Key: e.Key, RemoteID: e.RemoteID, Verdict: WouldBeTheSame, Changes: []FieldChange{},
			Problems:   []trade.Problem{},
			WaitingFor: []trade.Awaited{}, Unmapped: c.lacking(rows[i]), Now: got.Draft.Quantity(),
		}
		skip := map[string]bool{} // fields of columns that were not kept
		for _, f := range c.job.Mapping.Fields {
			unmapped := func(name string) bool { return slices.Contains(d.Unmapped, name) }
			if slices.ContainsFunc(f.Spec.Columns, unmapped) {
				skip[f.Rule.Field] = true
			}
		}
		for _, p := range got.Problems() {
			if !skip[p.Field] && p.Severity != trade.Warning {
				d.Problems = append(d.Problems, p)
			}
		}
		sent := requestFields(e)
		if sent == nil {
			d.Verdict = NotComparable
			out[i] = d
			continue
		}
		if f := trade.FiguresOf(c.job.Spec.Sends, trade.SentFields(e.Payload).Text); f.Amount != nil {
			d.Sent = trade.Quantity{Amount: *f.Amount, Unit: f.Unit}
		}
		now := requestFields(got.Entry)
		for _, rule := range trade.Rules(c.job.Spec.Sends) {
			f := got.Draft.Fields[rule.Field]
			if skip[rule.Field] || f.Failed {
				continue // reported as unmapped, a problem or a missing reference
			}
			old, fresh := sent[rule.Field], now[rule.Field]
			if now == nil { // it would not be sent, but its fields are known
				fresh = jsonOf(rule, f.Text)
			}
			if old != fresh {
				d.Changes = append(d.Changes, FieldChange{rule.Field, old, fresh})
			}
		}
		if len(skip) > 0 {
			d.Now = d.Sent // computed from a part of the fields it would be a guess
		}
		// it does not wait for codes that are incomplete because a column was not mapped
		known := map[string]bool{}
		for _, f := range c.job.Mapping.Fields {
			if !skip[f.Rule.Field] && got.Draft.Fields[f.Rule.Field].Failed {
				known[f.Spec.Ref] = true
				for _, parent := range f.Spec.ParentJobs() {
					known[parent] = true
				}
			}
		}
		for _, w := range got.Entry.WaitingFor {
			if known[w.Ref+w.Job] {
				d.WaitingFor = append(d.WaitingFor, w)
			}
		}
		switch {
		case len(d.Problems) > 0:
			d.Verdict = WouldBeRefused
		case len(d.WaitingFor) > 0:
			d.Verdict = WouldWait
		case len(d.Changes) > 0:
			d.Verdict = WouldDiffer
		case len(d.Unmapped) > 0:
			d.Verdict = NotComparable
		}
		out[i] = d
	}
	return out, nil
}

// lacking returns the columns of the mapping that a stored row does not have.
func (c *Comparer) lacking(values trade.Values) []string {
	out := []string{}
	for _, name := range c.job.Mapping.Columns {
		if _, ok := values[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// requestFields returns the JSON text of each field of an entry's request, including the one in its
// path; nil if there is no request.
func requestFields(e trade.Entry) map[string]string {
	var raw map[string]json.RawMessage
	if len(e.Payload) == 0 || json.Unmarshal(e.Payload, &raw) != nil {
		return nil
	}
	out := make(map[string]string, len(raw)+1)
	for field, text := range raw {
		out[field] = string(bytes.TrimSpace(text))
	}
	if e.Target != "" {
		out["order_commitment_id"] = strconv.Quote(e.Target)
	}
	return out
}

// jsonOf returns a mapped field as it would be written in a payload.
func jsonOf(rule trade.FieldRule, text string) string {
	if text == "" {
		return ""
	}
	if rule.Type == trade.Number {
		if n, err := trade.ParseDecimal(text); err == nil {
			return n.String()
		}
	}
	if rule.Type == trade.UUID {
		if id, err := trade.ParseID(text); err == nil {
			text = id
		}
	}
	out, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(out)
}
