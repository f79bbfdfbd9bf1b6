package commands

import (
	"fmt"
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
		f.note += v.Text("; {column: COLUMN, ref: %s}, with a de-para", rule.RefersTo)
	}
	return f
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

// proposal is everything that `init` writes.
type proposal struct {
	driver, dsn string
	secret      string // the data source name, if it contains a password
	charset     string // what the database claims; "" = it knows its own
	apiKey      string // reference to the platform's key
	console     string // the console section of the file that is overwritten
	jobs        []proposedJob
}

// consoleSection matches the console section of a configuration.
var consoleSection = regexp.MustCompile(`(?m)^console:.*\n(?:(?:[ \t]+.*)?\n)*`)

// render returns the proposal as YAML with comments, for people who will complete it.
func (p proposal) render(v words.Voice) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for text := range strings.SplitSeq(v.Text("Proposed by safrasync init from the ERP's catalogue and a sample of its rows. Check every line with somebody who knows the ERP.\nWhere it says %s only a person knows the answer: the configuration is not accepted until it is filled in.\nconfig.example.yaml explains every key; docs/configuration.md explains how to go on from here.", config.FillIn), "\n") {
		line("# %s", text)
	}
	line("\napi:\n  base_url: %s # %s", config.FillIn, v.Text("the platform's address, https://…"))
	line("  api_key: %s", p.apiKey)
	dsn := p.dsn
	if !config.EnvironmentOrFile.MatchString(dsn) { // else it is a reference to a secret
		dsn = config.YAMLText(dsn)
	}
	line("\nerp:\n  driver: %s\n  dsn: %s # %s", p.driver, dsn, v.Text("with a user that can only read"))
	line("  time_zone: America/Sao_Paulo")
	if p.charset != "" {
		line("  charset: WIN1252 # %s", v.Text("the database (%s) does not declare its text encoding; WIN1252 is the most common: check the accented letters", p.charset))
	}
	line("\n# %s\nstate:\n  driver: sqlite\n  dsn: /var/lib/safrasync/state.db", v.Text("The ledger of what was sent: on a local disk, with a backup."))
	if p.console != "" {
		line("\n%s", p.console)
	}
	line("\njobs:")
	for _, job := range p.jobs {
		line("  %s:\n    sends: %s", job.name, job.sends)
		line("    # %s", oneLine(job.queryNote))
		line("    # %s", v.Text("The columns, with all values if they are few, else two of each:"))
		for _, c := range job.columns {
			line("    #   %s", oneLine(c))
		}
		line("    query: |")
		for text := range strings.SplitSeq(job.query, "\n") {
			line("      %s", strings.TrimRight(text, " \t\r"))
		}
		key := config.YAMLText(job.key[0])
		if len(job.key) > 1 {
			key = config.YAMLList(job.key)
		}
		line("    key: %s # %s", key, oneLine(job.keyNote))
		line("    #changed_at: COLUNA # %s", v.Text("without a column with the time of the last change, every run compares all rows"))
		line("    #cancelled: {column: COLUNA, values: [VALOR]} # %s", v.Text("if the ERP marks cancelled rows"))
		line("    fields:")
		for _, f := range job.fields {
			head, note := "      ", ""
			if f.off {
				head = "      #"
			}
			if f.note != "" {
				note = " # " + oneLine(f.note)
			}
			line("%s%s: %s%s", head, f.name, f.yaml, note)
		}
	}
	return b.String()
}

// oneLine reduces a text of the ERP to one line, so that it cannot end a comment.
func oneLine(text string) string { return words.Printable(strings.Join(strings.Fields(text), " ")) }
