package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// caseToday is the day of cases that name none. It is fixed, so that a case has the same result
// next year.
var caseToday = trade.DateOf(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC))

// CaseFile is one mapping case: a row and the expected result. The yaml tags are its grammar;
// docs/configuration.md explains it.
type CaseFile struct {
	Job     string                     `yaml:"job"`     // required
	Today   string                     `yaml:"today"`   // YYYY-MM-DD; default caseToday
	Row     caseRow                    `yaml:"row"`     // required
	Refs    map[string]config.ValueMap `yaml:"refs"`    // kind → code → id
	Parents map[string]config.ValueMap `yaml:"parents"` // job → key → id

	// The expected result. If none of these is given, the case has no expectation yet.
	Payload   casePayload  `yaml:"payload"`
	Problems  caseProblems `yaml:"problems"`
	WaitsFor  caseWaits    `yaml:"waits_for"`
	Remarks   caseProblems `yaml:"remarks"`
	Cancelled string       `yaml:"cancelled"` // true

	source *config.Source
	index  map[string]config.Entry
	today  trade.Date
}

// expectationKeys are the keys that `--record` writes, in this order.
var expectationKeys = []string{"cancelled", "payload", "problems", "waits_for", "remarks"}

type (
	caseRow      map[string]erp.Value
	casePayload  map[string]string // JSON text by field
	caseProblems []caseProblem
	caseWaits    []caseWait
)

// caseProblem is an expected problem. Keys that are left out are not compared.
type caseProblem struct {
	Field  string  `yaml:"field"` // required
	Rule   string  `yaml:"rule"`  // required
	Column *string `yaml:"column"`
	Value  *string `yaml:"value"`
	Detail *string `yaml:"detail"`
}

// caseWait is one thing that the row is expected to wait for.
type caseWait struct {
	Ref  string `yaml:"ref"`
	Code string `yaml:"code"`
	Job  string `yaml:"job"`
	Key  string `yaml:"key"`
}

// LoadCase reads a case as strictly as the configuration. The error is a *[config.Error].
func LoadCase(path string) (*CaseFile, error) {
	source, err := config.ReadSource(path)
	if err != nil {
		return nil, err
	}
	source.Masked = source.Lines // a case contains no secrets
	if strings.TrimSpace(source.Text) == "" {
		return nil, source.Refuse(0, 0, "is empty; `safrasync test --from JOB KEY` makes a case from a row of the ERP")
	}
	root, err := source.Parse()
	if err != nil {
		return nil, err
	}
	d := config.NewDecoder(source)
	c := &CaseFile{source: source, index: d.Index, today: caseToday}
	d.Structure(d.Walk(root), c)
	d.Require("", map[string]bool{"job": c.Job == "", "row": len(c.Row) == 0})
	if c.Today != "" {
		c.today, err = trade.ParseDate(c.Today)
		if err != nil {
			d.Fault("today", "must be a day, as in 2026-07-01")
		}
	}
	if c.Cancelled != "" {
		d.OneOf("cancelled", c.Cancelled, "true", "false")
	}
	if c.Payload != nil && len(c.Problems)+len(c.WaitsFor) > 0 {
		d.Fault("payload", "a row that is sent has no problems and waits for nothing; keep one of the two")
	}
	return c, d.Err()
}

// input returns the case without its expectation, for the engine.
func (c *CaseFile) input() dryrun.Case {
	normal := func(tables map[string]config.ValueMap) map[string]map[string]string {
		out := map[string]map[string]string{}
		for name, table := range tables {
			out[name] = map[string]string{}
			for code, id := range table {
				out[name][mapping.NormalCode(code)] = id
			}
		}
		return out
	}
	return dryrun.Case{Row: c.Row, References: normal(c.Refs), Parents: normal(c.Parents), Today: c.today}
}

func (c *CaseFile) hasExpectation() bool {
	return c.Payload != nil || len(c.Problems)+len(c.WaitsFor)+len(c.Remarks) > 0 || c.Cancelled != ""
}

// The forms of values that need no quotes.
var (
	caseInteger   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	caseNumber    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)\.[0-9]+$`)
	caseDate      = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	caseTimestamp = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?$`)
	caseInstant   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?([+-]\d{2}:\d{2})$`)
	caseFloat     = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
)

// caseKinds are the kinds that a value may be given explicitly, as in {text: 2026-01-31}.
var caseKinds = map[string]erp.Kind{
	"text": erp.Text, "integer": erp.Int, "number": erp.Number, "float": erp.Float, "date": erp.Date,
	"timestamp": erp.Timestamp,
	"instant":   erp.Instant, "bool": erp.Bool, "unreadable": erp.Text,
}

var kindForms = map[erp.Kind]*regexp.Regexp{
	erp.Int: caseInteger, erp.Number: caseFloat, erp.Float: caseFloat, erp.Date: caseDate, erp.Timestamp: caseTimestamp,
	erp.Instant: caseInstant,
	erp.Bool:    regexp.MustCompile(`^(true|false)$`),
}

// Decode reads the columns of a row.
func (r *caseRow) Decode(d *config.Decoder, e config.Entry) {
	*r = caseRow{}
	if !d.WantMap(e) {
		return
	}
	for _, child := range e.Keys {
		if v, ok := caseValue(d, child); ok {
			(*r)[child.Name] = v
		}
	}
}

// caseValue reads one value of the ERP's database.
func caseValue(d *config.Decoder, e config.Entry) (erp.Value, bool) {
	if e.IsMap() {
		names := config.SortedKeys(caseKinds)
		if len(e.Keys) != 1 {
			d.Fault(e.Path, "must be one value, or one kind with its value, as in {unreadable: why}; the kinds are %s", strings.Join(names, ", "))
			return erp.Value{}, false
		}
		child := e.Keys[0]
		kind, known := caseKinds[child.Name]
		if !known {
			d.Unknown("unknown kind of value %s", e.Path, child, names)
			return erp.Value{}, false
		}
		text, ok := d.SourceText(child)
		switch {
		case !ok:
			return erp.Value{}, false
		case child.Name == "unreadable":
			return erp.Value{Kind: erp.Text, Err: phrase.Packed(text)}, true
		}
		if form := kindForms[kind]; form != nil && !form.MatchString(text) {
			d.Fault(child.Path, "%s is no %s as the reader gives it", config.ShortName(text), child.Name)
			return erp.Value{}, false
		}
		if kind == erp.Timestamp || kind == erp.Instant {
			text = strings.Replace(text, " ", "T", 1)
		}
		return erp.Value{Kind: kind, Text: text}, true
	}
	text, ok := config.ScalarText(e.Value)
	_, isNull := e.Value.(*ast.NullNode)
	_, isLiteral := e.Value.(*ast.LiteralNode)
	switch {
	case e.IsNothing():
		d.Fault(e.Path, `has no value; write null for NULL and "" for an empty text`)
		return erp.Value{}, false
	case !ok:
		d.Fault(e.Path, "must be one value")
		return erp.Value{}, false
	case isNull:
		return erp.Value{}, true
	case isLiteral, config.IsQuoted(e.Value):
		return erp.Value{Kind: erp.Text, Text: text}, true
	case caseInteger.MatchString(text):
		return erp.Value{Kind: erp.Int, Text: text}, true
	case caseNumber.MatchString(text):
		return erp.Value{Kind: erp.Number, Text: text}, true
	case isNumberNode(e.Value):
		d.Fault(e.Path, `%s may be a text or a number: write "%s" for a text, plain digits for a number`, text, text)
		return erp.Value{}, false
	case caseDate.MatchString(text):
		return erp.Value{Kind: erp.Date, Text: text}, true
	case caseTimestamp.MatchString(text):
		return erp.Value{Kind: erp.Timestamp, Text: strings.Replace(text, " ", "T", 1)}, true
	case caseInstant.MatchString(text):
		return erp.Value{Kind: erp.Instant, Text: strings.Replace(text, " ", "T", 1)}, true
	}
	if _, isBool := e.Value.(*ast.BoolNode); isBool {
		return erp.Value{Kind: erp.Bool, Text: strings.ToLower(text)}, true
	}
	return erp.Value{Kind: erp.Text, Text: text}, true
}

func isNumberNode(node ast.Node) bool {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return true
	}
	return false
}

// Decode reads an expected payload: numbers without quotes, texts with or without.
func (p *casePayload) Decode(d *config.Decoder, e config.Entry) {
	*p = casePayload{}
	if !d.WantMap(e) {
		return
	}
	for _, child := range e.Keys {
		text, ok := d.SourceText(child)
		switch {
		case !ok:
		case !config.IsQuoted(child.Value) && caseFloat.MatchString(text):
			(*p)[child.Name] = text
		case isNumberNode(child.Value):
			d.Fault(child.Path, "must be a number in plain digits, or a text in quotes")
		default:
			(*p)[child.Name] = config.JSONText(text)
		}
	}
}

// Decode reads a list of expected problems.
func (p *caseProblems) Decode(d *config.Decoder, e config.Entry) {
	for _, item := range listOf(d, e) {
		var one caseProblem
		d.Structure(item, &one)
		d.Require(item.Path, map[string]bool{"field": one.Field == "", "rule": one.Rule == ""})
		*p = append(*p, one)
	}
}

// Decode reads a list of things that the row is expected to wait for.
func (w *caseWaits) Decode(d *config.Decoder, e config.Entry) {
	for _, item := range listOf(d, e) {
		var one caseWait
		d.Structure(item, &one)
		if (one.Ref == "" || one.Code == "") == (one.Job == "" || one.Key == "") {
			d.Fault(item.Path, "must be {ref: KIND, code: CODE} or {job: JOB, key: KEY}")
		}
		*w = append(*w, one)
	}
}

func listOf(d *config.Decoder, e config.Entry) []config.Entry {
	if !e.IsList() || len(e.Items) == 0 {
		d.Fault(e.Path, "must be a list with at least one item, as in\n  - {…}")
		return nil
	}
	return e.Items
}

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
