package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/trade"
)

// Outcome is the actual or expected result of a case, in the form of the file.
type Outcome struct {
	Cancelled bool
	Payload   casePayload // nil: the row is not sent
	Problems  caseProblems
	waits     caseWaits
	remarks   caseProblems
}

// Expected returns the expectation of the case.
func (c *CaseFile) Expected() Outcome {
	return Outcome{
		Cancelled: c.Cancelled == "true", Payload: c.Payload, Problems: c.Problems, waits: c.WaitsFor,
		remarks: c.Remarks,
	}
}

// verdictOutcome converts the engine's result. A cancelled row is never sent, whatever else is true
// of it.
func verdictOutcome(v dryrun.Judged) Outcome {
	if v.Cancelled {
		return Outcome{Cancelled: true}
	}
	out := Outcome{remarks: caseProblemsOf(v.Warnings)}
	if v.Error != nil {
		out.Problems = caseProblemsOf(v.Error.Fields)
	}
	for _, w := range v.WaitingFor {
		out.waits = append(out.waits, caseWait{Ref: w.Ref, Code: w.Code, Job: w.Job, Key: w.Key})
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

// outcomeLine is one line of an outcome; outcomes are compared line by line.
type outcomeLine struct{ name, value string }

// lines returns the lines of an outcome, the fields of the payload in the order of the API's table.
func (o Outcome) lines(kind trade.Kind) []outcomeLine {
	var out []outcomeLine
	if o.Cancelled {
		out = append(out, outcomeLine{"cancelled", "true"})
	}
	if o.Payload != nil {
		out = append(out, outcomeLine{"payload", ""})
	}
	for _, field := range payloadOrder(kind, o.Payload) {
		out = append(out, outcomeLine{"payload." + field, o.Payload[field]})
	}
	for i, p := range o.Problems {
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
	for _, field := range config.SortedKeys(payload) {
		if !slices.Contains(out, field) {
			out = append(out, field)
		}
	}
	return out
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
