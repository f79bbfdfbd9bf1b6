package config

import (
	"slices"
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
			d.Fault(item.Path, ShortName(text)+" is named twice")
		default:
			*c = append(*c, text)
		}
	}
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
			f.Column = Columns{column}
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
