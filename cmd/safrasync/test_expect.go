package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// outcome is what comes out of a case, or must: as the file has it.
type outcome struct {
	cancelled bool
	payload   casePayload // nil: it does not go
	problems  caseProblems
	waits     caseWaits
	remarks   caseProblems
}

// expected is what the case says.
func (c *caseFile) expected() outcome {
	return outcome{
		cancelled: c.Cancelled == "true", payload: c.Payload, problems: c.Problems, waits: c.WaitsFor,
		remarks: c.Remarks,
	}
}

// verdictOutcome is what the engine says. A cancelled row does not go, whatever else is true of it.
func verdictOutcome(v engine.Verdict) outcome {
	if v.Cancelled {
		return outcome{cancelled: true}
	}
	out := outcome{problems: caseProblemsOf(v.Problems), remarks: caseProblemsOf(v.Remarks)}
	for _, w := range v.WaitingFor {
		out.waits = append(out.waits, caseWait{Ref: w.Ref, Code: w.Code, Job: w.Job, Key: w.Key})
	}
	if v.State == trade.Pending {
		out.payload = casePayload{}
		var fields map[string]json.RawMessage
		if json.Unmarshal(v.Payload, &fields) == nil {
			for name, raw := range fields {
				out.payload[name] = plainJSON(raw)
			}
		}
		if v.Target != "" {
			out.payload["order_commitment_id"] = jsonText(v.Target)
		}
	}
	return out
}

// plainJSON gives a number as it stands, and a text in the form of jsonText.
func plainJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return jsonText(text)
	}
	return string(bytes.TrimSpace(raw))
}

func caseProblemsOf(problems []trade.Problem) caseProblems {
	var out caseProblems
	for _, p := range problems {
		one := caseProblem{Field: p.Field, Rule: p.Rule, Column: &p.Column, Value: &p.Value}
		if p.Detail != "" {
			one.Detail = &p.Detail
		}
		out = append(out, one)
	}
	return out
}

// like leaves out what an expectation does not name.
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

// outcomeLine is one line of an outcome: two outcomes are compared line by line.
type outcomeLine struct{ name, value string }

// lines gives an outcome line by line, the fields of the payload in the order of the API's table.
func (o outcome) lines(kind trade.Kind) []outcomeLine {
	var out []outcomeLine
	if o.cancelled {
		out = append(out, outcomeLine{"cancelled", "true"})
	}
	if o.payload != nil {
		out = append(out, outcomeLine{"payload", ""})
	}
	for _, field := range payloadOrder(kind, o.payload) {
		out = append(out, outcomeLine{"payload." + field, o.payload[field]})
	}
	for i, p := range o.problems {
		out = append(out, outcomeLine{fmt.Sprintf("problems[%d]", i), p.flow()})
	}
	for i, w := range o.waits {
		out = append(out, outcomeLine{fmt.Sprintf("waits_for[%d]", i), w.flow()})
	}
	for i, p := range o.remarks {
		out = append(out, outcomeLine{fmt.Sprintf("remarks[%d]", i), p.flow()})
	}
	return out
}

func payloadOrder(kind trade.Kind, payload casePayload) []string {
	var out []string
	for _, rule := range trade.Rules(kind) {
		if _, ok := payload[rule.Field]; ok {
			out = append(out, rule.Field)
		}
	}
	for _, field := range sortedKeys(payload) {
		if !slices.Contains(out, field) {
			out = append(out, field)
		}
	}
	return out
}

// difference is one line in which an outcome is not what the case expects. nil: the line is not
// there.
type difference struct {
	Line     string  `json:"line"`
	Expected *string `json:"expected"`
	Got      *string `json:"got"`
}

// differences compares line by line.
func differences(kind trade.Kind, want, got outcome) []difference {
	got.problems, got.remarks = got.problems.like(want.problems), got.remarks.like(want.remarks)
	values := map[string]string{}
	for _, l := range got.lines(kind) {
		values[l.name] = l.value
	}
	out := []difference{}
	seen := map[string]bool{}
	for _, l := range want.lines(kind) {
		seen[l.name] = true
		value, there := values[l.name]
		switch {
		case !there:
			out = append(out, difference{Line: l.name, Expected: &l.value})
		case value != l.value:
			out = append(out, difference{l.name, &l.value, &value})
		}
	}
	for _, l := range got.lines(kind) {
		if !seen[l.name] {
			out = append(out, difference{Line: l.name, Got: &l.value})
		}
	}
	return out
}

// flow writes a problem as YAML on one line.
func (p caseProblem) flow() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{field: %s, rule: %s", yamlText(p.Field), yamlText(p.Rule))
	for _, part := range []struct {
		name string
		text *string
	}{{"column", p.Column}, {"value", p.Value}, {"detail", p.Detail}} {
		if part.text != nil {
			fmt.Fprintf(&b, ", %s: %s", part.name, jsonText(*part.text))
		}
	}
	return b.String() + "}"
}

func (w caseWait) flow() string {
	if w.Ref != "" {
		return fmt.Sprintf("{ref: %s, code: %s}", yamlText(w.Ref), jsonText(w.Code))
	}
	return fmt.Sprintf("{job: %s, key: %s}", yamlText(w.Job), jsonText(w.Key))
}
