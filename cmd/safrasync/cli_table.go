package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// newTable makes a table for people on standard output.
func (a *App) newTable(head ...i18n.Key) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(a.out)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault // as written, not in capitals
	row := table.Row{}
	for _, h := range head {
		row = append(row, a.text(h))
	}
	t.AppendHeader(row)
	return t
}

// printIndented writes a JSON document for people; what is none after all as it is, in one line.
func (a *App) printIndented(doc json.RawMessage) {
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "  ", "  "); err != nil {
		a.line("  " + string(doc))
		return
	}
	a.block("  " + string(trade.EscapeJSON(b.Bytes())))
}

// orEmpty makes a missing list an empty one: readers need not tell null from [].
func orEmpty[S ~[]T, T any](list S) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// orNull makes the zero value a null.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// listed writes names one after the other.
func listed[T ~string](names []T) string { return strings.Join(texts(names), ", ") }

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// completes offers the values of an enumeration to the shell.
func completes[T ~string](cmd *cobra.Command, flag string, values []T) {
	if err := cmd.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(texts(values), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

func (v voice) orAbsent(text *string) string {
	if text == nil {
		return v.text("since.nothing")
	}
	return *text
}

// planShown is how many lines of each kind a plan shows.
const planShown = 20
