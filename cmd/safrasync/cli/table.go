package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// NewTable makes a table for people on standard output.
func (a *App) NewTable(head ...i18n.Key) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(a.Out)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault // as written, not in capitals
	t.AppendHeader(trade.Map(head, func(h i18n.Key) any { return a.Text(h) }))
	return t
}

// PrintIndented prints a JSON document for people. Text that is not valid JSON is printed
// unchanged, in one line.
func (a *App) PrintIndented(doc json.RawMessage) {
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "  ", "  "); err != nil {
		a.Line("  " + string(doc))
		return
	}
	a.Block("  " + string(trade.EscapeJSON(b.Bytes())))
}

// OrDash returns a dash for an empty text.
func OrDash(text string) string { return cmp.Or(text, "-") }

// Listed joins names with commas.
func Listed[T ~string](names []T) string { return strings.Join(Texts(names), ", ") }

// Texts converts names to strings.
func Texts[T ~string](values []T) []string {
	return trade.Map(values, func(v T) string { return string(v) })
}

// Completes offers the values of an enumeration to the shell.
func Completes[T ~string](a *App, cmd *cobra.Command, flag string, values []T) {
	a.offers(cmd, flag, cobra.FixedCompletions(Texts(values), cobra.ShellCompDirectiveNoFileComp))
}

// planShown is how many lines of each kind a plan shows.
const planShown = 20

// TellPlan prints the first lines of one kind of a plan with tell, and how many more there are.
func TellPlan[T any](a *App, lines []T, tell func(T)) {
	for i, line := range lines {
		if i == planShown {
			a.Tell("  … and %d more", len(lines)-i)
			return
		}
		tell(line)
	}
}

// PrintEach prints a list as one line of JSON for each element.
func PrintEach[T any](a *App, list []T) error {
	for _, one := range list {
		if err := a.PrintJSON(one); err != nil {
			return err
		}
	}
	return nil
}

// PrintTable prints a list for people: a table with the cells of each element, in one line each.
func PrintTable[T any](a *App, list []T, head []i18n.Key, cells func(T) []any) error {
	t := a.NewTable(head...)
	for _, one := range list {
		t.AppendRow(Printable(cells(one)))
	}
	t.Render()
	return nil
}

// Printable returns cells as they are printed: a text in one line.
func Printable(cells []any) table.Row {
	return trade.Map(cells, func(cell any) any {
		if text, ok := cell.(string); ok {
			return words.Printable(text)
		}
		return cell
	})
}
