package specimen

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Specimen is one row, masked.
type Specimen struct {
	Program string     // the version that made it
	MadeAt  time.Time  //
	Today   trade.Date // the day by which dates were judged
	Zone    string     // of the ERP
	Job     mapping.JobSpec
	FromERP bool // the row is as the ERP had it; else as the ledger had it

	Row        trade.Values
	References mapping.Codes
	Parents    []Parent

	Verdict  dryrun.Verdict // what the mapping made of the row where the file was made
	Entry    *trade.Entry   // what the ledger knows of the row; nil if it has never seen it
	Attempts []trade.Attempt
	Acts     []Deed
}

// Parent is a row on which the row depends.
type Parent struct {
	trade.ParentKey
	trade.Parent
}

// Deed is something that people or the program did with the row. Who did it, and why, is not said.
type Deed struct {
	At  time.Time
	Act string
}

// Facts are what a specimen is made from.
type Facts struct {
	Program  string
	Now      time.Time
	Zone     *time.Location
	Job      *mapping.Job
	Seen     dryrun.Seen
	Entry    *trade.Entry
	Attempts []trade.Attempt
	Acts     []Deed
}

// tries is how many masks are tried. A price that cannot be converted exactly, for example, must stay
// such a price, and one of three is one.
const tries = 200

// Make masks a row. secret must be new for each file, and not be kept. The error is about the row; it
// has nothing of what the row holds.
func Make(f Facts, secret []byte) (Specimen, error) {
	verdict, would, err := f.Seen.Judge(f.Job)
	if err != nil {
		return Specimen{}, err
	}
	m := &masker{secret: secret, job: f.Job}
	for range tries {
		m.try++
		m.known = nil
		out := Specimen{
			Program: f.Program, MadeAt: f.Now, Today: f.Seen.Today, Zone: f.Zone.String(), FromERP: f.Seen.FromERP,
			Row: m.values(f.Seen.Values), Acts: f.Acts,
		}
		out.Job = m.spec(f.Seen.Values, out.Row)
		job, err := mapping.Compile(out.runnable(), f.Zone)
		if err != nil {
			return Specimen{}, err
		}
		m.links(&out, f.Seen, job)
		var masked dryrun.Preview
		out.Verdict, masked, err = out.Seen().Judge(job)
		if err != nil || !alike(verdict, out.Verdict) {
			continue
		}
		m.known[would.Key] = masked.Key
		out.Entry = m.entry(f.Entry, fieldsOf(would), fieldsOf(masked))
		out.Attempts = m.attempts(f.Attempts, f.Job.Spec.Sends, fieldsOf(would), fieldsOf(masked))
		return out, nil
	}
	return Specimen{}, phrase.Errorf("the row cannot be masked so that the rules say the same of it: %s",
		strings.Join(f.Job.Columns(), ", "))
}

// Seen returns the row as it is judged.
func (s *Specimen) Seen() dryrun.Seen {
	out := dryrun.Seen{
		Values: s.Row, References: s.References, Parents: mapping.Parents{}, Today: s.Today, FromERP: s.FromERP,
	}
	for _, p := range s.Parents {
		out.Parents[p.ParentKey] = p.Parent
	}
	return out
}

// Compile returns the job of the row.
func (s *Specimen) Compile() (*mapping.Job, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return nil, err
	}
	return mapping.Compile(s.runnable(), zone)
}

// runnable returns the job with what the mapping does not need, and the file does not have.
func (s *Specimen) runnable() mapping.JobSpec {
	spec := s.Job
	spec.Query, spec.Sweep = "SELECT 1", "0 3 * * *"
	return spec
}

// alike reports whether the rules say the same of two rows: the same state, the same refusals, the same
// fields.
func alike(a, b dryrun.Verdict) bool {
	shape := func(v dryrun.Verdict) string {
		for _, list := range []*[]trade.Problem{&v.Problems, &v.Remarks} {
			*list = slices.Clone(*list)
			for i, p := range *list {
				(*list)[i].Value = strings.Repeat("x", len(p.Value))
				if p.Rule == trade.RuleDeclared || p.Rule == trade.RuleUnreadable {
					(*list)[i].Detail = ""
				}
			}
		}
		v.WaitingFor = slices.Clone(v.WaitingFor)
		for i, w := range v.WaitingFor {
			v.WaitingFor[i].Code = strings.Repeat("x", len(w.Code))
			v.WaitingFor[i].Key = strings.Repeat("x", len(w.Key))
		}
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(v.Payload, &fields) // nil if it is not sent
		text, _ := json.Marshal([]any{
			v.State, v.Cancelled, v.Target == "", slices.Sorted(maps.Keys(fields)), v.Problems, v.Remarks, v.WaitingFor,
		})
		return string(text)
	}
	return shape(a) == shape(b)
}

// fieldsOf returns the fields that a row would send, as texts.
func fieldsOf(p dryrun.Preview) map[string]string {
	out := map[string]string{}
	for _, f := range p.Fields {
		out[f.Field] = f.Value
	}
	return out
}

// spec returns the job with nothing but its mapping. orig and masked are the row.
func (m *masker) spec(orig, masked trade.Values) mapping.JobSpec {
	of := m.job.Spec
	out := mapping.JobSpec{
		Name: of.Name, Sends: of.Sends, Key: of.Key, Cancelled: of.Cancelled, Invalid: of.Invalid, Checks: of.Checks,
		Fields: map[string]mapping.FieldSpec{},
	}
	for name, f := range of.Fields {
		rule, _ := trade.Rule(of.Sends, name)
		text := func(text *string) *string {
			if text == nil {
				return nil
			}
			mask := m.sent(rule, *text)
			return &mask
		}
		f.Const, f.Default = text(f.Const), text(f.Default)
		if len(f.Values) > 0 && rule.Type != trade.Enum {
			f.Values = m.valueMap(rule, f, orig, masked)
		}
		out.Fields[name] = f
	}
	return out
}

// valueMap returns what a value map has for the row; its other codes may be names.
func (m *masker) valueMap(rule trade.FieldRule, f mapping.FieldSpec, orig, masked trade.Values) map[string]string {
	out := map[string]string{"-": "-"} // without an entry it would be no map
	for from, to := range f.Values {
		for _, column := range f.Columns {
			v, _ := mapping.ColumnsIn(orig)(column)
			if mapping.Fold(mapping.PlainText(v)) == mapping.Fold(from) {
				mask, _ := mapping.ColumnsIn(masked)(column)
				out[mapping.PlainText(mask)] = m.sent(rule, to)
			}
		}
	}
	return out
}

// links fills in the references and parents under the codes and keys of the masked row, and lets the
// masker know those.
func (m *masker) links(s *Specimen, seen dryrun.Seen, job *mapping.Job) {
	orig, masked := mapping.ColumnsIn(seen.Values), mapping.ColumnsIn(s.Row)
	m.known, s.References = map[string]string{}, mapping.Codes{}
	for i, f := range m.job.Mapping.Fields {
		kind := cmp.Or(f.Spec.Ref, f.Spec.Lookup)
		code, mask, ok := codesOf(f.Spec, job.Mapping.Fields[i].Spec, orig, masked)
		if id, found := seen.References[kind][code]; ok && found {
			if s.References[kind] == nil {
				s.References[kind] = map[string]string{}
			}
			s.References[kind][mask] = m.text(id)
		}
		if ok && f.Spec.Ref != "" {
			m.known[code] = mask
		}
	}
	contents := map[int64]int64{0: 0} // only whether they are equal matters
	number := func(content int64) int64 {
		if _, ok := contents[content]; !ok {
			contents[content] = int64(len(contents))
		}
		return contents[content]
	}
	taken := map[trade.ParentKey]bool{}
	add := func(at trade.ParentKey, key string) {
		parent, ok := seen.Parents[at]
		if !ok || taken[at] {
			return
		}
		taken[at] = true
		parent.RemoteID, parent.Content = m.text(parent.RemoteID), number(parent.Content)
		s.Parents = append(s.Parents, Parent{trade.ParentKey{Job: at.Job, Key: key}, parent})
	}
	for _, specs := range m.job.Mapping.ParentSpecs() {
		for _, p := range specs {
			add(trade.ParentKey{Job: p.Job}, "")
			key, ok := mapping.ParentKey(orig, p.Columns)
			mask, _ := mapping.ParentKey(masked, p.Columns)
			if ok {
				m.known[key] = mask
				add(trade.ParentKey{Job: p.Job, Key: key}, mask)
			}
		}
	}
}

// codesOf returns the code that a row looks up for a field, and that of the masked row.
func codesOf(spec, maskedSpec mapping.FieldSpec, orig, masked mapping.ColumnsOf) (code, mask string, ok bool) {
	if spec.Lookup != "" {
		v, _ := orig(spec.Columns[0])
		now, _ := masked(spec.Columns[0])
		document, err := mapping.DocumentOf(v)
		if err != nil { // the ledger has nothing but its code
			return v.Text, now.Text, v.Err == "" && len(v.Text) == mapping.CodeLength
		}
		mask, _ := mapping.DocumentOf(now)
		return document, mask, true
	}
	if spec.Ref == "" {
		return "", "", false
	}
	return mapping.CodeOf(orig, spec.Columns), mapping.CodeOf(masked, maskedSpec.Columns), true
}
