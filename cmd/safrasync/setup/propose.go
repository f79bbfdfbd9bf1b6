package setup

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

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
		f.yaml, f.note = "{const: "+config.FillIn+"}", v.Text("{column: COLUMN, values: {ERP_VALUE: VALUE}}, or const if it is always the same: %s", strings.Join(rule.Values, ", "))
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

// flagNames are words of columns that mark which rows count, in the form of nameWords.
var flagNames = []string{
	"ativo", "inativo", "active", "estornado", "estorno", "anulado", "bloqueado", "encerrado",
	"excluido", "exclusao", "deletado", "deleted", "situacao", "status", "cancelado", "canceled", "cancelled",
	"sit", "stat", "situac",
}

var camelHump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// nameWords splits a name into words, in lower case and without accents: at underscores, blanks,
// hyphens and changes from lower to upper case.
func nameWords(name string) []string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(camelHump.ReplaceAllString(name, "${1}_${2}")))
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// isProtheusDeleted reports whether a column is the deletion flag of Protheus, which its own
// programs fill in for every row.
func isProtheusDeleted(c *surveyed) bool {
	return strings.HasPrefix(strings.Join(nameWords(c.name), "_"), "d_e_l_e_t")
}
