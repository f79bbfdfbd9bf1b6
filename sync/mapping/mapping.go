// A mapping of the configuration, checked and compiled.

package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Mapping turns rows of one job into drafts. It is compiled once and used by many goroutines at
// once.
type Mapping struct {
	Sends   trade.Kind
	Fields  []fieldMapping // in the order of the API's table
	Columns []string       // every column that a field or `cancelled` uses, sorted
	// those that a field uses; they identify the content, `cancelled` only its state
	Hashed      []string
	Refs        []string       // de-para kinds in use, sorted
	SentBy      []string       // parent jobs, sorted
	Lookups     []fieldMapping // fields that are looked up on the platform
	Fingerprint string         // changes with every change of the mapping
}

// fieldMapping is one compiled field.
type fieldMapping struct {
	Rule   trade.FieldRule
	Spec   FieldSpec
	values map[string]string // keys folded
	number numberForm
	date   dateForm
	empty  []string
	// of a price: the unit for which the ERP has it, and the field with the unit of the record
	per, in *fieldMapping
}

// Codes are the de-para tables: kind → code → platform id.
type Codes map[string]map[string]string

// ColumnsOf returns a row's value in a column, by the name in the configuration.
type ColumnsOf func(column string) (erp.Value, bool)

// compileMapping checks the fields of a job and compiles them.
func compileMapping(spec JobSpec, zone *time.Location) (*Mapping, []error) {
	m := &Mapping{Sends: spec.Sends}
	var errs []error
	path := "jobs." + spec.Name + ".fields"
	used, kinds, parents := map[string]bool{}, map[string]bool{}, map[string]bool{}
	known := map[string]bool{}
	for _, rule := range trade.Rules(spec.Sends) {
		known[rule.Field] = true
		fs, ok := spec.Fields[rule.Field]
		if !ok {
			if rule.Need == trade.Always {
				errs = append(errs, SpecFault(path,
					"%s is required for every record and is not mapped", rule.Field))
			}
			continue
		}
		f, err := compilePrice(path+"."+rule.Field, rule, fs, zone)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, c := range fs.Reads() {
			used[c] = true
		}
		if fs.Ref != "" {
			kinds[fs.Ref] = true
		}
		for _, p := range fs.SentBy {
			parents[p.Job] = true
		}
		m.Fields = append(m.Fields, f)
		if fs.Lookup != "" {
			m.Lookups = append(m.Lookups, f)
		}
	}
	// a price per unit needs the field with the unit of the record
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Spec.Per == nil {
			continue
		}
		at := slices.IndexFunc(m.Fields, func(o fieldMapping) bool { return o.Rule.Field == f.Spec.In })
		if at < 0 || !slices.Contains(m.Fields[at].Rule.Values, string(trade.SC)) {
			errs = append(errs, SpecFault(path+"."+f.Rule.Field+".in",
				"%q is no mapped field with a unit; there is unit_of_measurement", f.Spec.In))
			continue
		}
		unit := m.Fields[at]
		f.in = &unit
	}
	// the sealed value of a column that is looked up is of no use for anything else
	for _, f := range m.Lookups {
		column := f.Spec.Columns[0]
		for _, other := range m.Fields {
			if other.Rule.Field != f.Rule.Field && containsFold(other.Spec.Columns, column) {
				errs = append(errs, SpecFault(path+"."+f.Rule.Field,
					"column %s is read by %s too; select it twice, under two names", column, other.Rule.Field))
			}
		}
		if spec.Cancelled != nil && strings.EqualFold(spec.Cancelled.Column, column) {
			errs = append(errs, SpecFault(path+"."+f.Rule.Field,
				"column %s is that of cancelled too; select it twice, under two names", column))
		}
	}
	shown := "jobs." + spec.Name + ".show"
	if len(spec.Show) > trade.MaxShown {
		errs = append(errs, SpecFault(shown,
			"has %d labels, at most %d fit", len(spec.Show), trade.MaxShown))
	}
	for _, s := range spec.Show {
		for _, f := range m.Lookups { // only a keyed hash of its document may be stored
			if strings.EqualFold(f.Spec.Columns[0], s.Column) {
				errs = append(errs, SpecFault(shown+"."+s.Label,
					"column %s is a document that %s looks up, which the ledger does not keep", s.Column, f.Rule.Field))
			}
		}
	}
	for name := range spec.Fields {
		if !known[name] {
			errs = append(errs, SpecFault(path+"."+name, "%s have no such field", spec.Sends))
		}
	}
	if spec.Invalid != "" {
		used[spec.Invalid] = true
	}
	m.Hashed = slices.Sorted(maps.Keys(used))
	if spec.Cancelled != nil {
		used[spec.Cancelled.Column] = true
	}
	m.Columns = slices.Sorted(maps.Keys(used))
	m.Refs = slices.Sorted(maps.Keys(kinds))
	m.SentBy = slices.Sorted(maps.Keys(parents))
	m.Fingerprint = Fingerprint(spec.Sends, spec.Fields, spec.Checks, spec.Cancelled, spec.Invalid, zone.String())
	return m, errs
}

// compilePrice is compileField with the unit for which the ERP has a price.
func compilePrice(path string, rule trade.FieldRule, spec FieldSpec, zone *time.Location) (fieldMapping, error) {
	f, err := compileField(path, rule, spec, zone)
	if err != nil || spec.Per == nil {
		return f, err
	}
	if rule.Field != "price" {
		return f, SpecFault(path+".per", "%s is no price for a unit", rule.Field)
	}
	per, err := compileField(path+".per", trade.FieldRule{Field: rule.Field, Type: trade.Text}, *spec.Per, zone)
	f.per = &per
	return f, err
}

// compileField checks one field of a mapping and compiles it; errors start with path.
func compileField(path string, rule trade.FieldRule, spec FieldSpec, zone *time.Location) (fieldMapping, error) {
	f := fieldMapping{Rule: rule, Spec: spec, values: map[string]string{}}
	switch {
	case (spec.Const == nil) == (len(spec.Columns) == 0):
		return f, SpecFault(path, "give either a column or a const")
	case len(spec.Columns) > 1 && spec.Ref == "" && len(spec.SentBy) == 0:
		return f, SpecFault(path+".column",
			"several columns make a code, which needs a ref or a sent_by; join texts in the query instead")
	case len(spec.SentBy) > 0 && rule.Parent == "":
		return f, SpecFault(path+".sent_by",
			"%s is not the id of a record that another job sends", rule.Field)
	case len(spec.SentBy) > 0 && (spec.Ref != "" || len(spec.Values) > 0 || spec.Default != nil):
		return f,
			SpecFault(path,
				"an id that another job's row gets comes from that row alone: ref, values and default do not apply")
	case spec.Ref != "" && !slices.Contains(trade.ReferenceKinds, spec.Ref):
		return f, SpecFault(path+".ref",
			"%q is no kind of reference; there are %s", spec.Ref, strings.Join(trade.ReferenceKinds, ", "))
	case spec.Lookup != "":
		switch {
		case spec.Lookup != trade.ProducerByDocument:
			return f, SpecFault(path+".lookup",
				"%q is nothing that can be looked up; there is %s", spec.Lookup, trade.ProducerByDocument)
		case rule.RefersTo != "producers":
			return f, SpecFault(path+".lookup", "gives a producer, and %s is none", rule.Field)
		case len(spec.Columns) != 1:
			return f, SpecFault(path, "a lookup needs one column, with the CPF or CNPJ")
		case spec.Ref != "" || len(spec.Values) > 0 || spec.Date != "" || spec.Number != "" || spec.Scale != nil:
			return f, SpecFault(path,
				"has a lookup beside ref, values, date, number or scale; a document goes to the platform as it is")
		}
	case spec.Scale != nil && (*spec.Scale < 0 || *spec.Scale > 12):
		return f, SpecFault(path+".scale", "give 0 to 12 digits")
	case spec.Scale != nil && rule.Type != trade.Number, spec.Number != "" && rule.Type != trade.Number:
		return f, SpecFault(path, "%s is no number: number and scale do not apply", rule.Field)
	case spec.Date != "" && rule.Type != trade.Day:
		return f, SpecFault(path+".date", "%s is no date", rule.Field)
	}
	for from, to := range spec.Values {
		if other, double := f.values[Fold(from)]; double && other != to {
			return f, SpecFault(path+".values",
				"%q stands for two values: case and blanks around it do not count", Fold(from))
		}
		f.values[Fold(from)] = to
	}
	for _, e := range spec.Empty {
		f.empty = append(f.empty, strings.TrimSpace(e))
	}
	var err error
	f.number, err = parseNumberForm(spec.Number)
	if err != nil {
		return f, SpecFault(path+".number", "%w", err)
	}
	f.date, err = parseDateForm(spec.Date, zone)
	if err != nil {
		return f, SpecFault(path+".date", "%w", err)
	}
	return f, nil
}

// isEmpty reports whether a value is one that the configuration calls empty. It compares by value,
// so that "0" matches 0.00, and a date matches a timestamp of that day at midnight.
func (f *fieldMapping) isEmpty(v erp.Value, text string) bool {
	for _, e := range f.empty {
		if Fold(e) == Fold(text) {
			return true
		}
		if f.Rule.Type == trade.Number || numeric(v.Kind) {
			a, errA := f.number.Read(v, text)
			b, errB := trade.ParseDecimal(e)
			if errA == nil && errB == nil && a.Equal(b) {
				return true
			}
		}
		if f.Rule.Type == trade.Day || v.Kind == erp.Date || v.Kind == erp.Timestamp || v.Kind == erp.Instant {
			d, err := trade.ParseDate(e)
			midnight, ok := v.Midnight()
			if err == nil && (ok && trade.DateOf(midnight) == d || f.date.layout != "" && f.date.is(text, d)) {
				return true
			}
		}
	}
	return false
}

// via returns, for people, what was applied to the column.
func (f *fieldMapping) via() string {
	switch {
	case len(f.Spec.SentBy) > 0:
		return "sent_by " + strings.Join(f.Spec.ParentJobs(), ", ")
	case f.Spec.Lookup != "":
		return "lookup " + f.Spec.Lookup
	case f.Spec.Ref != "":
		return "ref " + f.Spec.Ref
	case len(f.Spec.Values) > 0:
		return strings.TrimSpace("values " + f.Spec.ValuesName)
	case f.Spec.Date != "":
		return "date " + f.Spec.Date
	case f.Spec.Number != "" && f.Spec.Scale != nil:
		return fmt.Sprintf("number %s, scale %d", f.Spec.Number, *f.Spec.Scale)
	case f.Spec.Number != "":
		return "number " + f.Spec.Number
	case f.Spec.Scale != nil:
		return fmt.Sprintf("scale %d", *f.Spec.Scale)
	}
	return ""
}

// Fold returns the form in which value maps compare texts: NFC, trimmed, without case. Accents
// count.
func Fold(text string) string {
	text = strings.TrimSpace(text)
	// both steps would only lowercase ASCII, with a 256-byte buffer each
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(text)
	}
	return cases.Fold().String(norm.NFC.String(text))
}

func shorten(text string) string {
	const most = 256
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Fingerprint returns a short text that differs if any of the things does.
func Fingerprint(things ...any) string {
	data, err := json.Marshal(things)
	if err != nil {
		panic("sync: fingerprint: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}
