package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// resultOf returns the engine's result as the expectation of a case. A cancelled row is never sent,
// whatever else is true of it.
func resultOf(v dryrun.Judged) *CaseFile {
	if v.Cancelled {
		return &CaseFile{Cancelled: "true"}
	}
	out := &CaseFile{Remarks: caseProblemsOf(v.Warnings)}
	if v.Error != nil {
		out.Problems = caseProblemsOf(v.Error.Fields)
	}
	for _, w := range v.WaitingFor {
		out.WaitsFor = append(out.WaitsFor, caseWait{Ref: w.Ref, Code: w.Code, Job: w.Job, Key: w.Key})
	}
	if v.State == trade.Pending {
		out.Payload = casePayload{}
		var fields map[string]json.RawMessage
		if json.Unmarshal(v.Payload, &fields) == nil {
			for name, raw := range fields {
				out.Payload[name] = PlainJSON(raw)
			}
		}
		if v.Target != "" {
			out.Payload["order_commitment_id"] = config.JSONText(v.Target)
		}
	}
	return out
}

// PlainJSON returns a number unchanged, and a text in the form of JSONText.
func PlainJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return config.JSONText(text)
	}
	return string(bytes.TrimSpace(raw))
}

func caseProblemsOf(problems []trade.Problem) caseProblems {
	var out caseProblems
	for _, p := range problems {
		one := caseProblem{Field: p.Field, Rule: p.Rule, Column: &p.Column, Value: &p.Value}
		if p.Detail != "" {
			one.Detail = new(p.Detail.Error())
		}
		out = append(out, one)
	}
	return out
}

// like returns the problems without the keys that an expectation leaves out.
func (p caseProblems) like(expected caseProblems) caseProblems {
	out := slices.Clone(p)
	for i := range min(len(out), len(expected)) {
		if expected[i].Column == nil {
			out[i].Column = nil
		}
		if expected[i].Value == nil {
			out[i].Value = nil
		}
		if expected[i].Detail == nil {
			out[i].Detail = nil
		}
	}
	return out
}

// resultLine is one line of an expectation; results are compared line by line.
type resultLine struct{ name, value string }

// lines returns the lines of an expectation, the fields of the payload in the order of the API's table.
func (c *CaseFile) lines(kind trade.Kind) (out []resultLine) {
	if c.Cancelled == "true" {
		out = append(out, resultLine{"cancelled", "true"})
	}
	if c.Payload != nil {
		out = append(out, resultLine{"payload", ""})
	}
	fields := trade.Map(trade.Rules(kind), func(rule trade.FieldRule) string { return rule.Field })
	for _, field := range config.SortedKeys(c.Payload) {
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	for _, field := range fields {
		if value, ok := c.Payload[field]; ok {
			out = append(out, resultLine{"payload." + field, value})
		}
	}
	for i, p := range c.Problems {
		out = append(out, resultLine{fmt.Sprintf("problems[%d]", i), p.flow()})
	}
	for i, w := range c.WaitsFor {
		out = append(out, resultLine{fmt.Sprintf("waits_for[%d]", i), w.flow()})
	}
	for i, p := range c.Remarks {
		out = append(out, resultLine{fmt.Sprintf("remarks[%d]", i), p.flow()})
	}
	return out
}

// render returns the expectation as the last part of a case file.
func (c *CaseFile) render(kind trade.Kind) string {
	var b strings.Builder
	for _, l := range c.lines(kind) {
		name, field, _ := strings.Cut(l.name, ".")
		list, first := strings.CutSuffix(l.name, "[0]")
		value, text := l.value, ""
		switch {
		case field != "":
			if json.Unmarshal([]byte(value), &text) == nil { // numbers stay as they are, texts are in quotes if needed
				value = config.YAMLText(text)
			}
			fmt.Fprintf(&b, "  %s: %s\n", config.YAMLText(field), value)
		case name == "cancelled", name == "payload":
			b.WriteString(strings.TrimSpace(name+": "+value) + "\n")
		case first:
			b.WriteString(list + ":\n  - " + value + "\n")
		default:
			b.WriteString("  - " + value + "\n")
		}
	}
	return b.String()
}

// difference is one line in which the outcome differs from the expectation. nil: the line is
// missing on that side.
type difference struct {
	Line     string  `json:"line"`
	Expected *string `json:"expected"`
	Got      *string `json:"got"`
}

// flow formats a problem as YAML on one line.
func (p caseProblem) flow() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{field: %s, rule: %s", config.YAMLText(p.Field), config.YAMLText(p.Rule))
	for _, part := range []struct {
		name string
		text *string
	}{{"column", p.Column}, {"value", p.Value}, {"detail", p.Detail}} {
		if part.text != nil {
			fmt.Fprintf(&b, ", %s: %s", part.name, config.JSONText(*part.text))
		}
	}
	return b.String() + "}"
}

func (w caseWait) flow() string {
	if w.Ref != "" {
		return fmt.Sprintf("{ref: %s, code: %s}", config.YAMLText(w.Ref), config.JSONText(w.Code))
	}
	return fmt.Sprintf("{job: %s, key: %s}", config.YAMLText(w.Job), config.JSONText(w.Key))
}

// yamlCaseValue formats a value of the ERP's database so that [LoadCase] reads the same value.
func yamlCaseValue(v erp.Value) string {
	switch {
	case v.Err != "":
		return "{unreadable: " + config.YAMLQuoted(v.Err.Error()) + "}"
	case v.Kind == erp.Null:
		return "null"
	case v.Kind == erp.Text:
		return config.YAMLQuoted(v.Text)
	case v.Kind == erp.Int && caseInteger.MatchString(v.Text), v.Kind == erp.Number &&
		caseNumber.MatchString(v.Text), v.Kind == erp.Bool,
		v.Kind == erp.Date && caseDate.MatchString(v.Text), v.Kind == erp.Timestamp &&
			caseTimestamp.MatchString(v.Text),
		v.Kind == erp.Instant && caseInstant.MatchString(v.Text):
		return v.Text
	}
	for _, name := range config.SortedKeys(caseKinds) {
		if form := kindForms[v.Kind]; caseKinds[name] == v.Kind && form != nil && form.MatchString(v.Text) {
			return "{" + name + ": " + config.YAMLQuoted(v.Text) + "}"
		}
	}
	return config.YAMLQuoted(v.Text) // a form that only this database has; the mapping sees its text
}

// renderCase returns the text of a new case without its expectation.
func renderCase(job *mapping.Job, c dryrun.Case, comment string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\njob: %s\ntoday: %s\nrow:\n", comment, config.YAMLText(job.Name()), c.Today)
	for _, name := range job.Columns() {
		if v, ok := c.Row[name]; ok {
			fmt.Fprintf(&b, "  %s: %s\n", config.YAMLText(name), yamlCaseValue(v))
		}
	}
	tables := func(title string, tables map[string]map[string]string) {
		if len(tables) == 0 {
			return
		}
		b.WriteString(title + ":\n")
		for _, kind := range config.SortedKeys(tables) {
			fmt.Fprintf(&b, "  %s:\n", config.YAMLText(kind))
			for _, code := range config.SortedKeys(tables[kind]) {
				fmt.Fprintf(&b, "    %s: %s\n", config.YAMLQuoted(code), config.YAMLText(tables[kind][code]))
			}
		}
	}
	tables("refs", c.References)
	tables("parents", c.Parents)
	return b.String()
}

var topLevelKey = regexp.MustCompile(`^["']?([A-Za-z_]+)["']?\s*:`)
