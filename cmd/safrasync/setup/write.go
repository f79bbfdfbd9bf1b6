package setup

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
)

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
		line("    # %s", v.Text("The columns, with two values of each:"))
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
