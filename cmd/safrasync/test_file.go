package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/safrasync/safrasync/erp"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// caseToday is the day of cases that name none: fixed, so that a case says the same next year.
var caseToday = trade.DateOf(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC))

// caseFile is one mapping case: a row in, and what must come out. The yaml tags are its grammar;
// docs/configuration.md explains it.
type caseFile struct {
	Job     string              `yaml:"job"`     // required
	Today   string              `yaml:"today"`   // YYYY-MM-DD; default caseToday
	Row     caseRow             `yaml:"row"`     // required
	Refs    map[string]ValueMap `yaml:"refs"`    // kind → code → id
	Parents map[string]ValueMap `yaml:"parents"` // job → key → id

	// What must come out. None of them: the case has no expectation yet.
	Payload   casePayload  `yaml:"payload"`
	Problems  caseProblems `yaml:"problems"`
	WaitsFor  caseWaits    `yaml:"waits_for"`
	Remarks   caseProblems `yaml:"remarks"`
	Cancelled string       `yaml:"cancelled"` // true

	source *configSource
	index  map[string]configEntry
	today  trade.Date
}

// expectationKeys are the keys that `--record` writes, in its order.
var expectationKeys = []string{"cancelled", "payload", "problems", "waits_for", "remarks"}

type (
	caseRow      map[string]erp.Value
	casePayload  map[string]string // JSON text by field
	caseProblems []caseProblem
	caseWaits    []caseWait
)

// caseProblem is an expected problem. Keys that it leaves out are not compared.
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

// loadCase reads a case as strictly as the configuration. The error is a *[ConfigError].
func loadCase(path string) (*caseFile, error) {
	source, err := readConfigSource(path)
	if err != nil {
		return nil, err
	}
	source.masked = source.lines // a case has no secrets
	if strings.TrimSpace(source.text) == "" {
		return nil, source.refuse(0, 0, "is empty; `safrasync test --from JOB KEY` makes a case from a row of the ERP")
	}
	root, err := source.parse()
	if err != nil {
		return nil, err
	}
	d := &configDecoder{
		source: source, index: map[string]configEntry{}, given: map[string]bool{},
		written: map[string]string{}, meant: map[string]bool{},
	}
	c := &caseFile{source: source, index: d.index, today: caseToday}
	d.structure(d.walk(root), c)
	d.require("", map[string]bool{"job": c.Job == "", "row": len(c.Row) == 0})
	if c.Today != "" {
		if c.today, err = trade.ParseDate(c.Today); err != nil {
			d.fault("today", "must be a day, as in 2026-07-01")
		}
	}
	if c.Cancelled != "" {
		d.oneOf("cancelled", c.Cancelled, "true", "false")
	}
	if c.Payload != nil && len(c.Problems)+len(c.WaitsFor) > 0 {
		d.fault("payload", "a row that goes has no problems and waits for nothing; keep one of them")
	}
	return c, d.err()
}

// input is the case without its expectation.
func (c *caseFile) input() engine.Case {
	in := engine.Case{
		Row: c.Row, References: map[string]map[string]string{}, Parents: map[string]map[string]string{},
		Today: c.today,
	}
	for kind, table := range c.Refs {
		in.References[kind] = map[string]string{}
		for code, id := range table {
			in.References[kind][normalCode(code)] = id
		}
	}
	for job, table := range c.Parents {
		in.Parents[job] = map[string]string{}
		for key, id := range table {
			in.Parents[job][normalCode(key)] = id
		}
	}
	return in
}

// hasExpectation tells whether the case says what must come out.
func (c *caseFile) hasExpectation() bool {
	return c.Payload != nil || len(c.Problems)+len(c.WaitsFor)+len(c.Remarks) > 0 || c.Cancelled != ""
}

// annotate gives faults of the engine their line of the case.
func (c *caseFile) annotate(err error) error {
	specs := specErrors(err)
	if len(specs) == 0 {
		return err
	}
	out := &ConfigError{cause: err}
	for _, s := range specs {
		out.Faults = append(out.Faults, faultAt(c.source, c.index, s.Path, s.Text))
	}
	sortFaults(out.Faults)
	return out
}

// The forms of values without quotes.
var (
	caseInteger   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	caseNumber    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)\.[0-9]+$`)
	caseDate      = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	caseTimestamp = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?$`)
	caseInstant   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?([+-]\d{2}:\d{2})$`)
	caseFloat     = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
)

// caseKinds are the names of kinds that a value may be given explicitly, as in {text: 2026-01-31}.
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

// decodeConfig reads the columns of a row.
func (r *caseRow) decodeConfig(d *configDecoder, e configEntry) {
	*r = caseRow{}
	if !d.wantMap(e) {
		return
	}
	for _, child := range e.keys {
		if v, ok := d.caseValue(child); ok {
			(*r)[child.name] = v
		}
	}
}

// caseValue reads one value of the database.
func (d *configDecoder) caseValue(e configEntry) (erp.Value, bool) {
	if e.isMap() {
		return d.typedValue(e)
	}
	text, ok := scalarText(e.value)
	_, isNull := e.value.(*ast.NullNode)
	switch {
	case e.isNothing():
		d.fault(e.path, `has no value; write null for NULL and "" for an empty text`)
		return erp.Value{}, false
	case !ok:
		d.fault(e.path, "must be one value")
		return erp.Value{}, false
	case isNull:
		return erp.Value{}, true
	case isLiteral(e.value), isQuoted(e.value):
		return erp.Value{Kind: erp.Text, Text: text}, true
	case caseInteger.MatchString(text):
		return erp.Value{Kind: erp.Int, Text: text}, true
	case caseNumber.MatchString(text):
		return erp.Value{Kind: erp.Number, Text: text}, true
	case isNumberNode(e.value):
		d.fault(e.path, fmt.Sprintf("%s may be a text or a number: write \"%s\" for a text, plain digits for a number",
			text, text))
		return erp.Value{}, false
	case caseDate.MatchString(text):
		return erp.Value{Kind: erp.Date, Text: text}, true
	case caseTimestamp.MatchString(text):
		return erp.Value{Kind: erp.Timestamp, Text: strings.Replace(text, " ", "T", 1)}, true
	case caseInstant.MatchString(text):
		return erp.Value{Kind: erp.Instant, Text: strings.Replace(text, " ", "T", 1)}, true
	}
	if _, isBool := e.value.(*ast.BoolNode); isBool {
		return erp.Value{Kind: erp.Bool, Text: strings.ToLower(text)}, true
	}
	return erp.Value{Kind: erp.Text, Text: text}, true
}

// typedValue reads {kind: value}.
func (d *configDecoder) typedValue(e configEntry) (erp.Value, bool) {
	names := sortedKeys(caseKinds)
	if len(e.keys) != 1 {
		d.fault(e.path, "must be one value, or one kind with its value, as in {unreadable: why}; the kinds are "+
			strings.Join(names, ", "))
		return erp.Value{}, false
	}
	child := e.keys[0]
	kind, known := caseKinds[child.name]
	if !known {
		d.unknown("kind of value", e.path, child, names)
		return erp.Value{}, false
	}
	text, ok := d.sourceText(child)
	switch {
	case !ok:
		return erp.Value{}, false
	case child.name == "unreadable":
		return erp.Value{Kind: erp.Text, Err: text}, true
	}
	if form := kindForms[kind]; form != nil && !form.MatchString(text) {
		d.fault(child.path, fmt.Sprintf("%s is no %s as the reader gives it", shortName(text), child.name))
		return erp.Value{}, false
	}
	if kind == erp.Timestamp || kind == erp.Instant {
		text = strings.Replace(text, " ", "T", 1)
	}
	return erp.Value{Kind: kind, Text: text}, true
}

func isLiteral(node ast.Node) bool {
	_, ok := node.(*ast.LiteralNode)
	return ok
}

func isNumberNode(node ast.Node) bool {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return true
	}
	return false
}

// decodeConfig reads an expected payload: numbers without quotes, texts with or without.
func (p *casePayload) decodeConfig(d *configDecoder, e configEntry) {
	*p = casePayload{}
	if !d.wantMap(e) {
		return
	}
	for _, child := range e.keys {
		text, ok := d.sourceText(child)
		switch {
		case !ok:
		case !isQuoted(child.value) && caseFloat.MatchString(text):
			(*p)[child.name] = text
		case isNumberNode(child.value):
			d.fault(child.path, "must be a number in plain digits, or a text in quotes")
		default:
			(*p)[child.name] = jsonText(text)
		}
	}
}

// decodeConfig reads a list of expected problems.
func (p *caseProblems) decodeConfig(d *configDecoder, e configEntry) {
	for _, item := range d.listOf(e) {
		var one caseProblem
		d.structure(item, &one)
		d.require(item.path, map[string]bool{"field": one.Field == "", "rule": one.Rule == ""})
		*p = append(*p, one)
	}
}

// decodeConfig reads a list of things that are waited for.
func (w *caseWaits) decodeConfig(d *configDecoder, e configEntry) {
	for _, item := range d.listOf(e) {
		var one caseWait
		d.structure(item, &one)
		if (one.Ref == "" || one.Code == "") == (one.Job == "" || one.Key == "") {
			d.fault(item.path, "must be {ref: KIND, code: CODE} or {job: JOB, key: KEY}")
		}
		*w = append(*w, one)
	}
}

func (d *configDecoder) listOf(e configEntry) []configEntry {
	if !e.isList() || len(e.items) == 0 {
		d.fault(e.path, "must be a list with at least one item, as in\n  - {…}")
		return nil
	}
	return e.items
}

// isExpectationKey tells what `--record --update` replaces.
func isExpectationKey(name string) bool { return slices.Contains(expectationKeys, name) }
