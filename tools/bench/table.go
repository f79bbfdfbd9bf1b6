package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// The tables are between these two lines of a Markdown file.
const (
	tableBegins = "<!-- bench: begin -->"
	tableEnds   = "<!-- bench: end -->"
)

// summary holds the repetitions of the same measure of the same contestant.
type summary []result

// median returns the median of a figure over the repetitions.
func (s summary) median(of func(result) float64) float64 {
	values := make([]float64, 0, len(s))
	for _, r := range s {
		values = append(values, of(r))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// column is a heading and the text of its cells.
type column struct {
	head string
	text func(summary) string
}

// figure returns a column of medians; a zero is shown as a dash.
func figure(head, format string, of func(result) float64) column {
	return column{head, func(s summary) string {
		if m := s.median(of); m != 0 {
			return fmt.Sprintf(format, m)
		}
		return "–"
	}}
}

// constant returns a column of a value that is the same in all repetitions.
func constant(head string, of func(result) any) column {
	return column{head, func(s summary) string { return fmt.Sprint(of(s[0])) }}
}

// total returns a column of a count that must be zero, summed over all repetitions.
func total(head string, of func(result) int) column {
	return column{head, func(s summary) string {
		n := 0
		for _, r := range s {
			n += of(r)
		}
		return fmt.Sprint(n)
	}}
}

var (
	who       = constant("who", func(r result) any { return r.Who })
	rows      = constant("rows", func(r result) any { return r.Rows })
	entries   = constant("entries", func(r result) any { return r.Entries })
	rate      = figure("rows/s", "%.0f", func(r result) float64 { return r.RowsPerS })
	apiRatio  = figure("of the limit while sending", "%.2f", func(r result) float64 { return r.APIRatio })
	cpu       = figure("CPU s/1,000", "%.3f", func(r result) float64 { return r.CPU })
	ledgerCPU = figure("ledger's PostgreSQL", "%.3f", func(r result) float64 { return r.LedgerCPU })
	memory    = figure("peak MiB", "%.0f", func(r result) float64 { return r.PeakMiB })
	lost      = total("lost", func(r result) int { return r.Lost })
	doubled   = total("sent twice", func(r result) int { return r.Doubled })
)

// tables are the printed tables, each for some measures.
var tables = []struct {
	measures []string
	title    string
	columns  []column
}{
	{[]string{mSend, mFsync}, "All rows of the ERP in one pass, medians:", []column{
		constant("latency", func(r result) any {
			return fmt.Sprint(r.LatencyMS, " ms", map[bool]string{true: ", flush +2 ms"}[r.Measure == mFsync])
		}),
		who, rows, rate, figure("of the limit", "%.2f", func(r result) float64 { return r.Ratio }), apiRatio,
		cpu, ledgerCPU, figure("ERP's PostgreSQL", "%.3f", func(r result) float64 { return r.ERPCPU }), memory,
		lost, doubled,
	}},
	{
		[]string{mKill, mLoss},
		"What comes of one `kill -9` in the midst, and of 5 % of the answers lost once (20 ms, started again until nothing is left to send):",
		[]column{
			constant("what",
				func(r result) any { return map[string]string{mKill: "`kill -9`", mLoss: "5 % lost"}[r.Measure] }),
			who, rows, doubled, lost, total("in doubt, for a person", func(r result) int { return r.InDoubt }),
		},
	},
	{[]string{mMemory}, "A first pass that finds and sends everything, at latency 0:", []column{
		rows, who, figure("seconds", "%.1f", func(r result) float64 { return r.Seconds }), memory,
	}},
	{
		[]string{mIdle, mSweep},
		"Passes that find nothing new, by their own report (the start of the process and the check of ledger and journal apart):",
		[]column{
			constant("pass",
				func(r result) any { return map[string]string{mIdle: "by `changed_at`", mSweep: "sweep"}[r.Measure] }),
			entries, who, figure("ms", "%.0f", func(r result) float64 { return r.Seconds * 1e3 }),
			figure("µs/entry", "%.2f", func(r result) float64 { return r.Seconds * 1e6 / float64(r.Entries) }),
			figure("of psql's reading", "%.2f", func(r result) float64 { return r.Ratio }), memory,
		},
	},
	{
		[]string{mGrowth},
		"New rows while the ledger grows, at latency 0:",
		[]column{entries, who, rate, cpu, ledgerCPU, memory},
	},
}

// render returns the tables in Markdown, with one line for all repetitions.
func render(where string, results []result) string {
	var b strings.Builder
	fmt.Fprintln(&b, where)
	for _, table := range tables {
		var lines []summary
		at := map[string]int{}
		for _, measure := range table.measures {
			for _, r := range results {
				if r.Measure != measure {
					continue
				}
				key := fmt.Sprint(r.Measure, r.Who, r.LatencyMS, r.Rows, r.Entries)
				if _, ok := at[key]; !ok {
					at[key], lines = len(lines), append(lines, nil)
				}
				lines[at[key]] = append(lines[at[key]], r)
			}
		}
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n\n", table.title)
		for _, c := range table.columns {
			fmt.Fprintf(&b, "| %s ", c.head)
		}
		fmt.Fprintf(&b, "|\n%s|\n", strings.Repeat("|---", len(table.columns)))
		for _, s := range lines {
			for _, c := range table.columns {
				fmt.Fprintf(&b, "| %s ", c.text(s))
			}
			fmt.Fprintln(&b, "|")
		}
	}
	return b.String()
}

// writeTable prints the tables, and writes them into a file if it has a name.
func writeTable(w io.Writer, file, where string, results []result) error {
	text := render(where, results)
	if _, err := fmt.Fprintf(w, "\n%s", text); err != nil || file == "" {
		return err
	}
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(page, []byte(tableBegins))
	_, after, closed := bytes.Cut(rest, []byte(tableEnds))
	if !found || !closed {
		return fmt.Errorf("%s has no lines %s and %s between which the table could stand", file, tableBegins, tableEnds)
	}
	page = slices.Concat(before, []byte(tableBegins+"\n\n"+text+"\n"+tableEnds), after)
	return os.WriteFile(file, page, 0o644)
}
