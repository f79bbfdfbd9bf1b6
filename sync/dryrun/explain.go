// The preview of a request, and why a row was or was not sent.

package dryrun

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Preview is the request that would be sent for a row as it is in the ERP now.
type Preview struct {
	Job       string      `json:"job"`
	Key       string      `json:"key"`
	State     trade.State `json:"state"` // what the row would be: pending, waiting, invalid or held
	Cause     string      `json:"cause"`
	Cancelled bool        `json:"cancelled"`
	// of the POST, after api.base_url; "" if the row cannot be sent
	Path       string          `json:"path"`
	Request    json.RawMessage `json:"request"` // the body; null if the row cannot be sent
	Fields     []PreviewField  `json:"fields"`
	Problems   []trade.Problem `json:"problems"`
	WaitingFor []trade.Awaited `json:"waiting_for"`

	Text string      `json:"text,omitempty"` // why it would be invalid or held, in English
	Show trade.Shown `json:"show"`           // the columns displayed for the row
}

// PreviewField is one field with its origin.
type PreviewField struct {
	Field   string   `json:"field"`
	Value   string   `json:"value"`   // as sent; "" = absent
	Columns []string `json:"columns"` // of the query
	ERP     string   `json:"erp"`     // what the ERP has there
	Via     string   `json:"via"`     // what was applied
}

// ErrNotInQuery means that the job's query does not return the key.
var ErrNotInQuery = errors.New("the job's query does not return this key")

// Preview maps and checks one row as it is in the ERP now. It stores and sends nothing.
func (e *Rehearsal) Preview(ctx context.Context, jobName, key string) (Preview, error) {
	job, err := e.env.Job(jobName)
	if err != nil {
		return Preview{}, err
	}
	s, err := e.standsOf(ctx, job, key)
	if err != nil {
		return Preview{}, err
	}
	if s.Row == nil && s.Living == 0 {
		return Preview{}, notInQuery(jobName, key)
	}
	return e.preview(ctx, job, s)
}

func notInQuery(job, key string) error {
	return phrase.Errorf("%w: %s; `safrasync why %s '%s'` tells more", ErrNotInQuery, key, job, key)
}

func (e *Rehearsal) preview(ctx context.Context, job *mapping.Job, s keyRows) (Preview, error) {
	p := Preview{Job: job.Name(), Key: s.Key, Cancelled: s.Cancelled(), Fields: []PreviewField{}}
	if s.Row == nil {
		p.State, p.Cause, p.Text = trade.Held, trade.CauseDuplicateKey, trade.Double(s.Key, s.Living).String()
		return p, nil
	}
	p.Show = s.Row.Shown
	g, err := e.judge(ctx, job, false)
	if err != nil {
		return Preview{}, err
	}
	got, err := g.row(ctx, s)
	if err != nil {
		return Preview{}, err
	}
	entry := got.Entry
	p.State, p.Cause = entry.State, entry.Cause
	p.Problems, p.WaitingFor = got.Problems(), entry.WaitingFor
	if entry.State == trade.Pending {
		p.Request, p.Path = entry.Payload, apiclient.PathOf(job.Spec.Sends, entry.Target)
	} else if entry.Error != nil {
		p.Text = entry.Error.Text()
	}
	for _, rule := range trade.Rules(job.Spec.Sends) {
		if f, ok := got.Draft.Fields[rule.Field]; ok {
			p.Fields = append(p.Fields, PreviewField{
				rule.Field, rule.Canonical(f.Text), f.Origin.Columns,
				f.Origin.Value, f.Origin.Via,
			})
		}
	}
	return p, nil
}

// Reasons answer the question "why was this row sent, or not?", from the ERP to the platform.
type Reasons struct {
	Job   string `json:"job"`
	Key   string `json:"key"`
	InERP *bool  `json:"in_erp"` // null if it cannot be determined
	// the ERP was asked for the key; if false, in_query means nothing
	Asked   bool `json:"asked"`
	InQuery bool `json:"in_query"` // the job's query returns it
	// the query could be analysed for what excludes the key
	Known     bool     `json:"known"`
	Excluded  []string `json:"excluded_by"` // the conditions of the query that exclude it
	Cancelled bool     `json:"cancelled"`
	// as it is in the ERP now; null if the query does not return it
	Preview *Preview  `json:"preview"`
	SweptAt time.Time `json:"swept_at,omitzero"`
}

// Why collects what is known about a key in the ERP and in the query. The key of the answer is the
// one that the ERP returned, because a database finds the number 123 as "00123" too, and the ledger
// has the row under 123. Why stores and sends nothing.
func (e *Rehearsal) Why(ctx context.Context, jobName, key string) (Reasons, error) {
	job, err := e.env.Job(jobName)
	if err != nil {
		return Reasons{}, err
	}
	cursor, err := e.ledger.Cursor(ctx, jobName)
	if err != nil {
		return Reasons{}, err
	}
	out := Reasons{Job: jobName, Key: key, Excluded: []string{}, SweptAt: cursor.SweptAt}
	found, err := e.standsOf(ctx, job, key)
	if err != nil {
		return out, err
	}
	out.Key = found.Key
	out.InERP, out.InQuery = found.Exists, found.Returned
	out.Asked, out.Known = found.Asked, found.Known
	for _, c := range found.Conditions {
		out.Excluded = append(out.Excluded, strings.Join(strings.Fields(c), " "))
	}
	if found.Row == nil && found.Living == 0 {
		return out, nil
	}
	p, err := e.preview(ctx, job, found)
	if err != nil {
		return out, err
	}
	out.Cancelled, out.Preview = p.Cancelled, &p
	return out, nil
}

// CutOver returns the date before which a condition of a query leaves rows out; "" for any other.
func CutOver(condition string) string { return erp.CutOver(condition) }

// Check checks a job's mapping against the columns that its query has now, and reads its
// references.
func (e *Rehearsal) Check(ctx context.Context, job *mapping.Job) error {
	columns, err := e.source.Columns(ctx, job.Spec.Query)
	if err != nil {
		return err
	}
	if err := job.CheckColumns(columns); err != nil {
		return err
	}
	return e.reader(job).LoadReferences(ctx)
}
