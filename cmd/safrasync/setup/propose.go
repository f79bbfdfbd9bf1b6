package setup

import (
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

// openField returns the line of a field, which a person must fill in.
func openField(v words.Voice, rule trade.FieldRule, contractKey []string) proposedField {
	f := proposedField{name: rule.Field, yaml: config.FillIn}
	switch {
	case rule.Parent != "": // takes the id of a contract which another job has sent
		f.yaml, f.note = "{column: "+config.FillIn+", sent_by: contracts}",
			v.Text("the columns with the contract's key")
		if contractKey != nil {
			f.note = v.Text("the columns with the contract's key, in the order of %s", strings.Join(contractKey, ", "))
		}
		return f
	case rule.Need == trade.Optional:
		f.yaml, f.note, f.off = "COLUNA", v.Text("optional"), true
	case rule.Type == trade.Enum:
		f.yaml, f.note = "{const: "+config.FillIn+"}", v.Text("init.const", strings.Join(rule.Values, ", "))
	case rule.Need == trade.Always:
		f.note = v.Text("required in every row")
	default:
		f.yaml, f.note, f.off = "COLUNA", v.Text("required when %s", words.RequiredWhen(rule)), true
	}
	if rule.Type == trade.UUID {
		f.note += v.Text("; {column: COLUMN, ref: %s}, with a de-para", rule.Platform)
	}
	return f
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
