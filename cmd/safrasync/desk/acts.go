package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// acts returns the same acts as on the command line, on the daemon's ledger.
func (w *work) acts() *acts.Acts {
	people := office.ActsOn(w.g.Store, w.g.Engine.Jobs, w.g.App.Config)
	people.Rows = w.g.Engine
	if reader, ok := w.g.Engine.Platform.(acts.Reader); ok {
		people.Platform = reader
	}
	return people
}

// Plan returns what an order would do. Do makes the engine's plan again and compares the marks, so
// that nothing that a browser sends back is trusted.
func (w *work) Plan(ctx context.Context, o pages.Order) (pages.Plan, error) {
	plan, err := w.acts().Plan(ctx, o)
	if err != nil {
		return pages.Plan{}, err
	}
	return planOf(o, plan), nil
}

// Do does what a plan with this mark showed. If the plan is another one now, Do does nothing and
// returns it with Moved set.
func (w *work) Do(ctx context.Context, o pages.Order, mark string, who acts.Person) (pages.Plan, error) {
	people := w.acts()
	plan, err := people.Plan(ctx, o)
	if err != nil {
		return pages.Plan{}, err
	}
	if shown := planOf(o, plan); shown.Mark != mark {
		shown.Moved = true
		return shown, nil
	}
	done, err := people.Do(ctx, plan, who)
	out := planOf(o, done)
	for _, s := range done.Steps {
		if s.Done {
			out.Done++
		}
		out.Moved = out.Moved || s.Refused == acts.Moved
	}
	return out, err
}

// planOf returns the engine's plan in the console's form.
func planOf(o pages.Order, plan acts.RowPlan) pages.Plan {
	return pages.Plan{Order: o, Steps: plan.Steps, Mark: plan.Mark(), Asked: plan.Asked}
}

// Fields returns the ERP's values beside what was sent, in the order of the API's table; columns
// that are not mapped come last.
func (w *work) Fields(ctx context.Context, entry trade.Entry) (pages.Sides, error) {
	all, err := w.FieldsOf(ctx, []trade.Entry{entry})
	if err != nil {
		return pages.Sides{}, err
	}
	return all[0], nil
}

// FieldsOf is Fields for several rows. The de-para may have many thousands of codes, so it is read
// once, and only if a row must be mapped again.
func (w *work) FieldsOf(ctx context.Context, entries []trade.Entry) ([]pages.Sides, error) {
	var refs map[string]map[string]string
	if slices.ContainsFunc(entries, func(e trade.Entry) bool { return e.Now != nil || e.Payload == nil }) {
		var err error
		if refs, err = run.Codes(ctx, w.g.Store); err != nil {
			return nil, err
		}
	}
	out := make([]pages.Sides, len(entries))
	readings := map[string]pages.Reading{}
	var codes []trade.Reference
	for i, entry := range entries {
		there, err := w.there(ctx, entry, &out[i])
		if err != nil {
			return nil, err
		}
		if _, known := readings[entry.Job]; !known {
			readings[entry.Job], err = w.reading(ctx, entry.Job)
			if err != nil {
				return nil, err
			}
		}
		out[i].ERP = readings[entry.Job]
		job, _ := w.job(entry.Job)
		changes, err := run.Differences(ctx, w.g.Store, job, entry, refs)
		if err != nil {
			return nil, err
		}
		out[i].Fields = w.fields(entry, refs, changes, there)
		for _, f := range out[i].Fields {
			for _, c := range []trade.Reference{f.Code, f.NowCode} {
				if c.Code != "" {
					codes = append(codes, c)
				}
			}
		}
	}
	labelled, err := w.g.Store.Labelled(ctx, codes)
	if err != nil {
		return nil, err
	}
	for _, row := range out {
		for i := range row.Fields {
			f := &row.Fields[i]
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

// readingsRead is in how many of the latest passes of a job a reading of the ERP is looked for.
const readingsRead = 100

// reading returns when the ERP was read for a job.
func (w *work) reading(ctx context.Context, job string) (pages.Reading, error) {
	cursor, err := w.g.Store.Cursor(ctx, job)
	if err != nil {
		return pages.Reading{}, err
	}
	passes, err := w.g.Store.Runs(ctx, job, readingsRead)
	if err != nil {
		return pages.Reading{}, err
	}
	var out pages.Reading
	for i, pass := range passes {
		if !pass.ReadAt.IsZero() {
			out.At = pass.ReadAt
			if !pass.Sweep {
				out.Whole = cursor.SweptAt
			}
			return out, nil
		}
		if i == 0 {
			out.Tried, out.Why = pass.StartedAt, pass.Stopped
		}
	}
	out.At = cursor.SweptAt
	return out, nil
}

// there returns the platform's last known values of a row's record: from the reading that a person
// confirmed, or else from an answer or a read-back. nil: it was not read. It fills in when the row was
// sent, and when the platform was asked.
func (w *work) there(ctx context.Context, entry trade.Entry, of *pages.Sides) (map[string]string, error) {
	if !entry.State.Created() {
		return nil, nil
	}
	store := w.g.Store
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
		if r.Act != pages.Adopt || json.Unmarshal([]byte(r.Detail), &detail) != nil || detail.Reading == nil {
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

// differing returns changes by field or, if only that is known, by column.
func differing(changes []trade.Difference) map[string]trade.Difference {
	out := map[string]trade.Difference{}
	for _, d := range changes {
		out[cmp.Or(d.Field, "column "+fmt.Sprint(d.Columns))] = d
	}
	return out
}

func (w *work) fields(entry trade.Entry, refs map[string]map[string]string, changes []trade.Difference,
	there map[string]string,
) []pages.Field {
	job, spec := w.job(entry.Job)
	sent := map[string]*string{}
	for _, f := range acts.SentFields(entry) {
		sent[f.Field] = f.Sent
	}
	differs := differing(changes)
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
	var out []pages.Field
	var told []string
	for _, rule := range trade.Rules(entry.Sends) {
		columns := columnsOf(spec.Fields[rule.Field])
		f := pages.Field{
			Name: rule.Field, Sent: sent[rule.Field], Problem: problems[rule.Field],
			Secret: spec.Fields[rule.Field].Lookup != "",
		}
		text := mapped[rule.Field].Text
		if !entry.State.Created() && entry.Payload == nil && text != "" && f.Problem == nil {
			f.Sent = &text
		}
		if text, ok := there[rule.Field]; ok {
			f.There, f.Apart = &text, f.Sent != nil && !acts.EqualTexts(rule, *f.Sent, text)
		}
		if ref := spec.Fields[rule.Field].Ref; ref != "" {
			f.Code = trade.Reference{Kind: ref, Code: mapped[rule.Field].ERP}
			f.NowCode = trade.Reference{Kind: ref, Code: newest[rule.Field].ERP}
		}
		if d, ok := differs[rule.Field]; ok {
			f.Differs, f.Now = true, d.Now
		}
		f.Fill(entry, columns)
		if len(f.Columns) == 0 && f.Sent == nil && f.There == nil && f.Problem == nil {
			continue
		}
		told = append(told, columns...)
		out = append(out, f)
	}
	for _, name := range office.ColumnsInOrder(w.g.App.Config, entry) {
		if slices.Contains(told, name) {
			continue
		}
		_, changed := differs["column "+fmt.Sprint([]string{name})]
		f := pages.Field{Differs: changed}
		f.Fill(entry, []string{name})
		out = append(out, f)
	}
	return out
}

func (w *work) job(name string) (*mapping.Job, mapping.JobSpec) {
	for _, job := range w.g.Engine.Jobs {
		if job.Name() == name {
			return job, job.Spec
		}
	}
	return nil, mapping.JobSpec{}
}

// columnsOf returns the source columns of a field.
func columnsOf(spec mapping.FieldSpec) []string {
	out := slices.Clone(spec.Columns)
	for _, parent := range spec.SentBy {
		for _, column := range parent.Columns {
			if !slices.Contains(out, column) {
				out = append(out, column)
			}
		}
	}
	return out
}
