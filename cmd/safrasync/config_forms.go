package main

import "slices"

// Values of the configuration with a form of their own, each a configDecodable.

// decodeConfig reads one column or a list of them.
func (c *Columns) decodeConfig(d *configDecoder, e configEntry) {
	if !e.isList() {
		if e.isMap() {
			d.fault(e.path, "must be a column, or a list of columns")
		} else if text, ok := d.word(e); ok {
			*c = Columns{text}
		}
		return
	}
	if len(e.items) == 0 {
		d.fault(e.path, "must name at least one column")
	}
	for _, item := range e.items {
		text, ok := d.word(item)
		switch {
		case !ok:
		case slices.Contains(*c, text):
			d.fault(item.path, shortName(text)+" is named twice")
		default:
			*c = append(*c, text)
		}
	}
}

// decodeConfig reads a map from values of the ERP to values of the API.
func (m *ValueMap) decodeConfig(d *configDecoder, e configEntry) {
	if !e.isMap() || len(e.keys) == 0 {
		d.fault(e.path, `must be a map from the ERP's values to the API's, as in {"001": SOJA}`)
		return
	}
	*m = ValueMap{}
	for _, child := range e.keys {
		if text, ok := d.sourceText(child); ok {
			(*m)[child.name] = text
		}
	}
}

// decodeConfig reads the name of a value map or the map itself.
func (v *FieldValues) decodeConfig(d *configDecoder, e configEntry) {
	switch {
	case e.isMap():
		v.Inline.decodeConfig(d, e)
	case e.isList():
		d.fault(e.path, `must be the name of a map under values:, or a map as in {"001": SOJA}`)
	default:
		v.Name, _ = d.word(e)
	}
}

// decodeConfig reads the name of a job, or a list of names and of maps {job, column}.
func (p *Parents) decodeConfig(d *configDecoder, e configEntry) {
	items := []configEntry{e}
	if e.isList() {
		items = e.items
	}
	if len(items) == 0 {
		d.fault(e.path, "must name at least one job")
	}
	for _, item := range items {
		var parent ParentConfig
		if item.isMap() {
			d.structure(item, &parent)
		} else {
			parent.Job, _ = d.word(item)
		}
		*p = append(*p, parent)
	}
}

// decodeConfig reads the short form, a column, or the long one.
func (f *FieldConfig) decodeConfig(d *configDecoder, e configEntry) {
	switch {
	case e.isMap():
		type long FieldConfig // without this method
		d.structure(e, (*long)(f))
	case e.isList():
		d.fault(e.path, "must be a column, or a map as in {column: [filial, cod], ref: wallets}")
	default:
		if column, ok := d.word(e); ok {
			f.Column = Columns{column}
		}
	}
}

// decodeConfig reads the jobs and keeps their order.
func (j *JobsConfig) decodeConfig(d *configDecoder, e configEntry) {
	if !d.wantMap(e) {
		return
	}
	for _, child := range e.keys {
		job := JobConfig{Name: child.name, Schedule: defaultSchedule, Sweep: defaultSweep, Lookback: defaultLookback}
		d.structure(child, &job)
		*j = append(*j, job)
	}
}
