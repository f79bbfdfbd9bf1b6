package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// The table stands between these two lines of a Markdown file.
const (
	tableBegins = "<!-- bench: begin -->"
	tableEnds   = "<!-- bench: end -->"
)

// summary is the runs of one thing: repetitions of the same measure of the same contestant.
type summary []result

// key tells which results are repetitions of the same.
func (r result) key() string {
	return fmt.Sprint(r.Measure, r.Who, r.LatencyMS, r.Entries, r.Step)
}

// median is that of a figure over the repetitions.
func (s summary) median(of func(result) float64) float64 {
	values := make([]float64, 0, len(s))
	for _, r := range s {
		values = append(values, of(r))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// sum adds up what must be zero.
func (s summary) sum(of func(result) int) (n int) {
	for _, r := range s {
		n += of(r)
	}
	return n
}

// summaries puts repetitions together, in the order of their first.
func summaries(results []result, measures ...string) (out []summary) {
	at := map[string]int{}
	for _, r := range results {
		if !slices.Contains(measures, r.Measure) {
			continue
		}
		i, ok := at[r.key()]
		if !ok {
			i = len(out)
			at[r.key()] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	slices.SortStableFunc(out, func(a, b summary) int {
		return slices.Index(measures, a[0].Measure)*1000 + a[0].LatencyMS - slices.Index(measures, b[0].Measure)*1000 - b[0].LatencyMS
	})
	return out
}

// render writes the tables in Markdown.
func render(where string, results []result) string {
	var b strings.Builder
	which := "" // table of a profile
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s", where)
	if all := summaries(results, mSend, mFsync); len(all) > 0 {
		line("\nAll rows of the ERP in one pass (%d; medians of %d):\n", all[0][0].Rows, len(all[0]))
		line("| latency | who | rows/s | of the limit | of the limit while sending | CPU s/1,000 | ledger's PostgreSQL | ERP's PostgreSQL | peak MiB | lost, doubled |")
		line("|---|---|---|---|---|---|---|---|---|---|")
		for _, s := range all {
			latency := fmt.Sprintf("%d ms", s[0].LatencyMS)
			if s[0].Measure == mFsync {
				latency += ", flush +2 ms"
			}
			line("| %s | %s | %.0f | %.2f | %.2f | %.3f | %s | %s | %.0f | %d, %d |", latency, s[0].Who, s.median(func(r result) float64 { return r.RowsPerS }),
				s.median(func(r result) float64 { return r.Ratio }), s.median(func(r result) float64 { return r.APIRatio }), s.median(func(r result) float64 { return r.CPU }),
				orDash(s.median(func(r result) float64 { return r.LedgerCPU })), orDash(s.median(func(r result) float64 { return r.ERPCPU })),
				s.median(func(r result) float64 { return r.PeakMiB }), s.sum(func(r result) int { return r.Lost }), s.sum(func(r result) int { return r.Doubled }))
		}
	}
	if all := summaries(results, mKill, mLoss); len(all) > 0 {
		line("\nWhat comes of one `kill -9` in the midst, and of 5 %% of the answers lost once (20 ms, started again until nothing is left to send):\n")
		line("| what | who | rows | sent twice | never sent | in doubt, for a person |")
		line("|---|---|---|---|---|---|")
		for _, s := range all {
			what := map[string]string{mKill: "`kill -9`", mLoss: "5 % lost"}[s[0].Measure]
			line("| %s | %s | %d | %d | %d | %d |", what, s[0].Who, s[0].Rows, s[0].Doubled, s[0].Lost, s[0].InDoubt)
		}
	}
	if all := summaries(results, mMemory); len(all) > 0 {
		line("\nA first pass that finds and sends everything, at latency 0:\n")
		line("| rows | who | seconds | peak MiB |")
		line("|---|---|---|---|")
		for _, s := range all {
			line("| %d | %s | %.1f | %.0f |", s[0].Rows, s[0].Who, s[0].Seconds, s[0].PeakMiB)
		}
	}
	if all := summaries(results, mIdle, mSweep); len(all) > 0 {
		line("\nPasses that find nothing new, by their own report (the start of the process and the check of ledger and journal apart):\n")
		line("| pass | entries | who | ms | µs/entry | of psql's reading | peak MiB |")
		line("|---|---|---|---|---|---|---|")
		for _, s := range all {
			what, ratio := "by `changed_at`", "–"
			seconds := s.median(func(r result) float64 { return r.Seconds })
			if s[0].Measure == mSweep {
				what, ratio = "sweep", fmt.Sprintf("%.2f", s.median(func(r result) float64 { return r.Ratio }))
			}
			line("| %s | %d | %s | %.0f | %.2f | %s | %.0f |", what, s[0].Entries, s[0].Who, seconds*1e3, seconds*1e6/float64(s[0].Entries), ratio, s.median(func(r result) float64 { return r.PeakMiB }))
		}
	}
	if all := summaries(results, mGrowth); len(all) > 0 {
		line("\nNew rows while the ledger grows, at latency 0:\n")
		line("| entries before | who | rows/s | CPU s/1,000 | ledger's PostgreSQL | CPU to the smallest | peak MiB |")
		line("|---|---|---|---|---|---|---|")
		cpu := func(r result) float64 { return r.CPU + r.LedgerCPU }
		first := map[string]float64{}
		for _, s := range all {
			if first[s[0].Who] == 0 {
				first[s[0].Who] = s.median(cpu)
			}
			line("| %d | %s | %.0f | %.3f | %s | %.2f | %.0f |", s[0].Entries, s[0].Who, s.median(func(r result) float64 { return r.RowsPerS }), s.median(func(r result) float64 { return r.CPU }),
				orDash(s.median(func(r result) float64 { return r.LedgerCPU })), s.median(cpu)/first[s[0].Who], s.median(func(r result) float64 { return r.PeakMiB }))
		}
	}
	for _, s := range summaries(results, mProfile) {
		r := s[0]
		if of := fmt.Sprintf("%s, each function with all that it calls (latency %d ms, %d rows)", r.Who, r.LatencyMS, r.Rows); of != which {
			which = of
			line("\nWhere the processor's time goes in %s:\n", which)
			line("| function | share | CPU s/1,000 |")
			line("|---|---|---|")
		}
		line("| `%s` | %.1f %% | %.4f |", r.Step, r.Ratio*100, r.CPU)
	}
	return b.String()
}

func orDash(seconds float64) string {
	if seconds == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", seconds)
}

// writeTable prints the tables, and puts them into a file when it has a name.
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

// header is the first JSON line of a measurement.
type header struct {
	Where string `json:"where"`
}

// tableFrom writes the table of an earlier measurement.
func tableFrom(w io.Writer, from, file string) (err error) {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var where header
	var results []result
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if where.Where == "" {
			if err := json.Unmarshal(lines.Bytes(), &where); err != nil {
				return fmt.Errorf("%s: the first line: %w", from, err)
			}
			continue
		}
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		results = append(results, r)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return writeTable(w, file, where.Where, results)
}
