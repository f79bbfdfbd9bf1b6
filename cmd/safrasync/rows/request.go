package rows

import (
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/trade"
)

// plainPreview returns a preview for JSON: with empty lists instead of nil, and in English.
func plainPreview(p dryrun.Preview) dryrun.Preview {
	p.Problems, p.WaitingFor = office.InEnglish(p.Problems), office.OrEmpty(p.WaitingFor)
	for i := range p.Fields {
		p.Fields[i].Columns = office.OrEmpty(p.Fields[i].Columns)
	}
	return p
}

// printPreview prints a preview for people. stands is the row's state in the ledger, or "" if it
// has none.
func printPreview(a *cli.App, p dryrun.Preview, stands trade.State) {
	lang, row := a.Lang(), a.Voice().Subject(p.Job, p.Key, p.Show)
	switch {
	case stands == trade.Accepted:
		a.Show("%s was already sent and is not sent again (%s). Below is the request with the current data.", row, stands.Label(lang))
	case stands.Created():
		a.Show("%s may be on the platform (%s): nothing sends it again but a person's order. Below, how it would be with the present data.", row, stands.Label(lang))
	case p.Cancelled:
		a.Show("%s: it would not be sent: it is cancelled in the ERP.", row)
	case p.State == trade.Pending:
		a.Show("%s: it would be sent like this.", row)
	default:
		a.Show("%s: it would not be sent (%s).", row, p.State.Label(lang))
	}
	if p.State == trade.Held {
		a.Line("  - " + trade.Explain(p.State, p.Cause, lang).What)
	}
	for _, problem := range p.Problems {
		a.Line("  - " + problem.Sentence(lang))
	}
	for _, text := range a.Voice().Awaited(p.WaitingFor) {
		a.Line("  - " + text)
	}
	if len(p.Fields) == 0 {
		return
	}
	head := []i18n.Key{"API field", "Value", "ERP column", "In the ERP", "Applied"}
	_ = cli.PrintTable(a, p.Fields, head, func(f dryrun.PreviewField) []any {
		return []any{f.Field, f.Value, strings.Join(f.Columns, ", "), f.ERP, f.Via}
	})
	if len(p.Request) > 0 {
		a.Show("Request, POST %s:", p.Path)
		a.PrintIndented(p.Request)
	}
}
