package config

import (
	"slices"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
)

// The decodable types of the configuration.

// Decode reads one column, or a list of columns.
func (c *Columns) Decode(d *Decoder, e Entry) {
	if !e.IsList() {
		if e.IsMap() {
			d.Fault(e.Path, "must be a column, or a list of columns")
		} else if text, ok := d.word(e); ok {
			*c = Columns{text}
		}
		return
	}
	if len(e.Items) == 0 {
		d.Fault(e.Path, "must name at least one column")
	}
	for _, item := range e.Items {
		text, ok := d.word(item)
		switch {
		case !ok:
		case slices.Contains(*c, text):
			d.Fault(item.Path, "%s is named twice", ShortName(text))
		default:
			*c = append(*c, text)
		}
	}
}

// Decode reads one column, or a list of columns and of constant parts as in {const: "0"}.
func (p *Parts) Decode(d *Decoder, e Entry) {
	if !e.IsList() {
		(*Columns)(p).Decode(d, e)
	}
	named := false
	for _, item := range e.Items {
		part, ok := d.part(item)
		_, constant := mapping.ConstOf(part)
		switch {
		case !ok:
		case !constant && slices.Contains(*p, part):
			d.Fault(item.Path, "%s is named twice", ShortName(part))
		default:
			*p, named = append(*p, part), named || !constant
		}
	}
	if e.IsList() && !named && !d.faulty(e.Path) {
		d.Fault(e.Path, "must name at least one column")
	}
}

// part reads one column of a code, or a constant part of it.
func (d *Decoder) part(e Entry) (string, bool) {
	if !e.IsMap() {
		text, ok := d.word(e)
		if _, looksConstant := mapping.ConstOf(text); ok && looksConstant {
			d.Fault(e.Path, `is no column; a constant part of the code is written as in {const: "0"}`)
			return "", false
		}
		return text, ok
	}
	var of struct {
		Const *string `yaml:"const"`
	}
	d.Structure(e, &of)
	if of.Const == nil {
		if !d.faulty(e.Path) {
			d.Fault(e.Path, `needs the constant part of the code, as in {const: "0"}`)
		}
		return "", false
	}
	return mapping.ConstPart(*of.Const), true
}

// Decode reads a map from values of the ERP to values of the API.
func (m *ValueMap) Decode(d *Decoder, e Entry) {
	if !e.IsMap() || len(e.Keys) == 0 {
		d.Fault(e.Path, `must be a map from the ERP's values to the API's, as in {"001": SOJA}`)
		return
	}
	*m = ValueMap{}
	for _, child := range e.Keys {
		if text, ok := d.SourceText(child); ok {
			(*m)[child.Name] = text
		}
	}
}

// Decode reads the name of a value map, or the map itself.
func (v *FieldValues) Decode(d *Decoder, e Entry) {
	switch {
	case e.IsMap():
		v.Inline.Decode(d, e)
	case e.IsList():
		d.Fault(e.Path, `must be the name of a map under values:, or a map as in {"001": SOJA}`)
	default:
		v.Name, _ = d.word(e)
	}
}

// Decode reads the name of a job, or a list of names and of maps {job, column}.
func (p *Parents) Decode(d *Decoder, e Entry) {
	items := []Entry{e}
	if e.IsList() {
		items = e.Items
	}
	if len(items) == 0 {
		d.Fault(e.Path, "must name at least one job")
	}
	for _, item := range items {
		var parent ParentConfig
		if item.IsMap() {
			d.Structure(item, &parent)
		} else {
			parent.Job, _ = d.word(item)
		}
		*p = append(*p, parent)
	}
}

// Decode reads the short form, which is a column, or the long form, which is a map.
func (f *FieldConfig) Decode(d *Decoder, e Entry) {
	switch {
	case e.IsMap():
		type long FieldConfig // without this method
		d.Structure(e, (*long)(f))
	case e.IsList():
		d.Fault(e.Path, "must be a column, or a map as in {column: [filial, cod], ref: wallets}")
	default:
		if column, ok := d.word(e); ok {
			f.Column = Parts{column}
		}
	}
}

// Decode reads the jobs and keeps their order.
func (j *JobsConfig) Decode(d *Decoder, e Entry) {
	if !d.WantMap(e) {
		return
	}
	for _, child := range e.Keys {
		job := JobConfig{Name: child.Name, Schedule: defaultSchedule, Sweep: defaultSweep, Lookback: defaultLookback}
		d.Structure(child, &job)
		*j = append(*j, job)
	}
}

// Decode reads the snippets and keeps their order.
func (s *SnippetsConfig) Decode(d *Decoder, e Entry) {
	if !d.WantMap(e) {
		return
	}
	for _, child := range e.Keys {
		if text, ok := d.word(child); ok {
			*s = append(*s, erp.Snippet{Name: child.Name, SQL: text})
		}
	}
}
