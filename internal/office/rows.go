package office

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Rows calls fn for each row that a query selects, until fn returns an error, which it returns. It
// returns trade.ErrNotFound for a job of which neither the configuration nor the ledger knows.
func (o *Office) Rows(ctx context.Context, q trade.RowQuery, fn func(trade.Entry) error) error {
	for _, job := range q.Jobs {
		if o.jobNamed(job) != nil {
			continue
		}
		known, err := o.store.Jobs(ctx) // a job that was removed still has its rows
		if err != nil {
			return err
		}
		if !slices.Contains(known, job) {
			return trade.ErrNotFound
		}
	}
	return o.store.Rows(ctx, q, fn)
}

// Fields returns the ERP's values beside what was sent, in the order of the API's table; columns
// that are not mapped come last. rowFields puts them together, from today's mapping of what was read
// (mapping.Job.RowFields), what differs (run.Differences), and what the platform has (platformValues).
func (o *Office) Fields(ctx context.Context, entry trade.Entry) (Sides, error) {
	all, err := o.FieldsOf(ctx, []trade.Entry{entry})
	if err != nil {
		return Sides{}, err
	}
	return all[0], nil
}

// FieldsOf is Fields for several rows. The de-para may have many thousands of codes, so it is read
// once, and only if a row must be mapped again.
func (o *Office) FieldsOf(ctx context.Context, entries []trade.Entry) ([]Sides, error) {
	var refs map[string]map[string]string
	if slices.ContainsFunc(entries, func(e trade.Entry) bool { return e.Now != nil || e.Payload == nil }) {
		var err error
		refs, err = run.Codes(ctx, o.store)
		if err != nil {
			return nil, err
		}
	}
	changes, err := run.Differences(ctx, o.store, o.jobNamed, entries, refs)
	if err != nil {
		return nil, err
	}
	out := make([]Sides, len(entries))
	readings := map[string]Reading{}
	var codes []trade.Reference
	for i, entry := range entries {
		there, err := o.platformValues(ctx, entry, &out[i])
		if err != nil {
			return nil, err
		}
		if _, known := readings[entry.Job]; !known {
			readings[entry.Job], err = o.reading(ctx, entry.Job)
			if err != nil {
				return nil, err
			}
		}
		out[i].ERP = readings[entry.Job]
		out[i].Fields = o.rowFields(entry, refs, changes[i], there)
		for _, f := range out[i].Fields {
			for _, c := range []trade.Reference{f.Code, f.NowCode} {
				if c.Code != "" {
					codes = append(codes, c)
				}
			}
		}
	}
	labelled, err := o.store.Labelled(ctx, codes)
	if err != nil {
		return nil, err
	}
	for n, row := range out {
		for i := range row.Fields {
			f := &row.Fields[i]
			if err := o.numberParents(ctx, entries[n].Sends, f); err != nil {
				return nil, err
			}
			for _, l := range labelled {
				if f.Code.Kind == l.Kind && f.Code.Code == l.Code && f.Sent != nil && *f.Sent == l.ID {
					f.Code = l
				}
				if f.NowCode.Kind == l.Kind && f.NowCode.Code == l.Code {
					f.NowCode = l
				}
			}
		}
	}
	return out, nil
}

// numberParents names the row under whose record a row was sent, and that which the ERP names now, as
// people know them, if a field has the id of another one now.
func (o *Office) numberParents(ctx context.Context, sends trade.Kind, f *Field) error {
	rule, _ := trade.Rule(sends, f.Name)
	if rule.Parent == "" || !f.Differs || f.Sent == nil {
		return nil
	}
	was, err := o.store.Holder(ctx, rule.Parent, *f.Sent, 0)
	if err != nil {
		return err
	}
	for _, of := range []struct {
		key  string
		code *trade.Reference
	}{{was.Key, &f.Code}, {f.Line(), &f.NowCode}} {
		e, err := o.store.Entry(ctx, was.Job, of.key)
		if err != nil && !errors.Is(err, trade.ErrNotFound) {
			return err
		}
		*of.code = trade.Reference{Code: e.Shown.First(e.Key), ID: e.RemoteID}
		held := e.State == trade.Held && e.Cause == trade.CauseRetyped && e.Error != nil
		if held && e.Error.Counterpart != nil && e.Error.Counterpart.Key == was.Key {
			f.Renumbered = e
		}
	}
	f.Code.ID = *f.Sent // the contract may have another one by now
	if f.NowCode.Code != "" {
		f.ERP = []*string{&f.NowCode.Code}
	}
	return nil
}

// platformValues returns the platform's last known values of a row's record: from the reading that a
// person confirmed, or else from an answer or a read-back. nil: it was not read. It fills in when the row
// was sent, and when the platform was asked.
func (o *Office) platformValues(ctx context.Context, entry trade.Entry, of *Sides) (map[string]string, error) {
	if !entry.State.MayBeOnPlatform() {
		return nil, nil
	}
	store := o.store
	attempts, err := store.Attempts(ctx, entry.ID)
	if err != nil {
		return nil, err
	}
	if len(attempts) > 0 {
		of.SentAt = attempts[len(attempts)-1].StartedAt
	}
	history, err := store.AuditOf(ctx, entry.Job+" "+entry.Key, actsRead)
	if err != nil {
		return nil, err
	}
	for _, r := range history {
		var detail struct {
			Reading *acts.Readback `json:"reading"`
		}
		if r.Act != acts.ActAdopt || json.Unmarshal([]byte(r.Detail), &detail) != nil || detail.Reading == nil {
			continue
		}
		out := map[string]string{}
		for _, f := range detail.Reading.Fields {
			if f.There != nil {
				out[f.Field] = *f.There
			}
		}
		of.AskedAt, of.Told = r.At, true
		return out, nil
	}
	for _, a := range slices.Backward(attempts) {
		if out := acts.AnsweredFields(entry.Sends, a); len(out) > 0 {
			of.AskedAt, of.Told = a.FinishedAt, true
			return out, nil
		}
	}
	if entry.RemoteID == "" {
		return nil, nil
	}
	record, _, err := store.RecordOf(ctx, entry.RemoteID)
	of.AskedAt, of.Told = record.AskedAt, len(record.Fields) > 0
	return record.Fields, err
}

// actsRead is in how many of the latest acts on a row a reading is looked for.
const actsRead = 100

// rowFields returns the fields of a row, in the order of the API's table, and after them the columns that
// are mapped to none. there has the platform's values.
func (o *Office) rowFields(entry trade.Entry, refs map[string]map[string]string, changes []trade.Difference,
	there map[string]string,
) []Field {
	job, spec := o.job(entry.Job)
	sent := map[string]*string{}
	for _, f := range acts.SentFields(entry) {
		sent[f.Field] = f.Sent
	}
	differs := map[string]trade.Difference{} // by field or, if only that is known, by column
	for _, d := range changes {
		differs[cmp.Or(d.Field, "column "+fmt.Sprint(d.Columns))] = d
	}
	var mapped, newest map[string]mapping.RowField
	if job != nil {
		mapped = job.RowFields(entry.Values, refs)
		newest = job.RowFields(entry.NewestValues(), refs)
	}
	problems := map[string]*trade.Problem{}
	if entry.Error != nil {
		for _, p := range entry.Error.Fields {
			problems[p.Field] = &p
		}
	}
	var out []Field
	var listed []string
	for _, rule := range trade.Rules(entry.Sends) {
		columns := slices.Clone(spec.Fields[rule.Field].Columns)
		for _, parent := range spec.Fields[rule.Field].SentBy {
			for _, column := range parent.Columns {
				if !slices.Contains(columns, column) {
					columns = append(columns, column)
				}
			}
		}
		f := Field{
			Name: rule.Field, Sent: sent[rule.Field], Problem: problems[rule.Field],
			Secret: spec.Fields[rule.Field].Lookup != "",
		}
		text := mapped[rule.Field].Text
		if !entry.State.MayBeOnPlatform() && entry.Payload == nil && text != "" && f.Problem == nil {
			f.Sent = &text
		}
		if text, ok := there[rule.Field]; ok {
			f.There, f.Apart = &text, f.Sent != nil && !rule.Same(*f.Sent, text)
		}
		if ref := spec.Fields[rule.Field].Ref; ref != "" {
			f.Code = trade.Reference{Kind: ref, Code: mapped[rule.Field].ERP}
			if f.Sent != nil {
				f.Code.ID = *f.Sent
			}
			f.NowCode = trade.Reference{Kind: ref, Code: newest[rule.Field].ERP, ID: newest[rule.Field].Text}
		}
		if d, ok := differs[rule.Field]; ok {
			f.Differs, f.Now = true, d.Now
		}
		f.Fill(entry, columns)
		if len(f.Columns) == 0 && f.Sent == nil && f.There == nil && f.Problem == nil {
			continue
		}
		listed = append(listed, columns...)
		out = append(out, f)
	}
	for _, name := range ColumnsInOrder(o.conf.JobSpecs(), entry) {
		if slices.Contains(listed, name) {
			continue
		}
		_, changed := differs["column "+fmt.Sprint([]string{name})]
		f := Field{Differs: changed}
		f.Fill(entry, []string{name})
		out = append(out, f)
	}
	return out
}
