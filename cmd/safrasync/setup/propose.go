package setup

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// proposedJob is one job as `init` would write it.
type proposedJob struct {
	name      string
	sends     trade.Kind
	query     string
	queryNote string // what a person must know about the query
	key       []string
	keyNote   string
	columns   []string // of the table, with values
	fields    []proposedField
	confirm   []string // lines on what may lose or double rows; a person deletes each
}

// proposedField is one line under `fields:`.
type proposedField struct {
	name, yaml, note string
	off              bool // written as a comment, because the field may be missing
}

// propose writes the shape of a job for a table or query: its columns with values, a unique key, and
// every field for a person to fill in. contractKey is the key of the contracts; nil if it is still open.
func propose(v words.Voice, name string, kind trade.Kind, s *survey, contractKey []string) proposedJob {
	job := proposedJob{name: name, sends: kind}
	for _, c := range s.columns {
		job.columns = append(job.columns, c.withSamples())
	}
	job.key, job.keyNote = []string{config.FillIn}, v.Text("init.key_none")
	if s.relation != nil {
		for _, key := range append([][]string{s.relation.Primary}, s.relation.Unique...) {
			key = withoutBookkeeping(key)
			if len(key) > 0 {
				job.key, job.keyNote = key, v.Text("init.key_unique")
				break
			}
		}
	}
	for _, rule := range trade.Rules(kind) {
		job.fields = append(job.fields, openField(v, rule, contractKey))
	}
	job.writeQuery(v, s)
	return job
}

// openField returns the line of a field, which a person must fill in.
func openField(v words.Voice, rule trade.FieldRule, contractKey []string) proposedField {
	f := proposedField{name: rule.Field, yaml: config.FillIn}
	switch {
	case rule.Parent != "": // takes the id of a contract which another job has sent
		f.yaml, f.note = "{column: "+config.FillIn+", sent_by: contracts}", v.Text("init.no_parent")
		if contractKey != nil {
			f.note = v.Text("init.parent_open", strings.Join(contractKey, ", "))
		}
		return f
	case rule.Need == trade.Optional:
		f.yaml, f.note, f.off = "COLUNA", v.Text("init.optional"), true
	case rule.Type == trade.Enum:
		f.yaml, f.note = "{const: "+config.FillIn+"}", v.Text("init.const", strings.Join(rule.Values, ", "))
	case rule.Need == trade.Always:
		f.note = v.Text("init.always")
	default:
		f.yaml, f.note, f.off = "COLUNA", v.Text("init.when", words.RequiredWhen(rule)), true
	}
	if rule.Type == trade.UUID {
		f.note += v.Text("init.id", rule.Platform)
	}
	return f
}

// withoutBookkeeping removes from a unique index the columns that Protheus adds so that deleted
// rows may keep their number. With the filter on deleted rows, the rest is unique. A key of nothing
// but a record number does not identify a row permanently.
func withoutBookkeeping(key []string) []string {
	return slices.DeleteFunc(slices.Clone(key), func(column string) bool {
		return slices.Contains([]string{"r_e_c_d_e_l_", "d_e_l_e_t_", "r_e_c_n_o_"}, strings.ToLower(column))
	})
}

// writeQuery builds the query: all columns, the filter of Protheus, and a line for each thing that a
// person must decide about its scope.
func (j *proposedJob) writeQuery(v words.Voice, s *survey) {
	j.query, j.queryNote = s.body, v.Text("init.query_own")
	if s.relation != nil {
		var names []string
		for _, c := range s.columns {
			names = append(names, c.name)
		}
		j.queryNote = v.Text("init.query_own_table")
		j.query = "SELECT " + wrapList(s.list(names)) + "\nFROM " + relationName(s.driver, *s.relation)
	}
	j.confirm = []string{v.Text("init.confirm_cut_over")}
	for _, c := range s.columns {
		switch {
		case isProtheusDeleted(c) && s.relation != nil:
			j.query += "\nWHERE " + c.quoted + " = ' '"
		case c.marksRows():
			j.confirm = append(j.confirm, v.Text("init.confirm_flag", c.withSamples()))
		}
	}
	for _, c := range j.confirm {
		j.query = "-- " + config.FillIn + ": " + oneLine(c) + "\n" + j.query
	}
}

// wrapList breaks a long list of columns into lines.
func wrapList(list string) string {
	const width = 110
	var out []string
	line := ""
	for item := range strings.SplitSeq(list, ", ") {
		if line != "" && len(line)+len(item) > width {
			out, line = append(out, line), ""
		}
		if line != "" {
			line += ", "
		}
		line += item
	}
	return strings.Join(append(out, line), ",\n       ")
}
