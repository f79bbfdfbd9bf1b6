package rows

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

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

// render returns an outcome as the last part of a case file.
func (o Outcome) render(kind trade.Kind) string {
	var b strings.Builder
	if o.Cancelled {
		b.WriteString("cancelled: true\n")
	}
	if o.Payload != nil {
		b.WriteString("payload:\n")
	}
	for _, field := range payloadOrder(kind, o.Payload) {
		value, text := o.Payload[field], ""
		if json.Unmarshal([]byte(value), &text) == nil { // numbers stay as they are, texts are in quotes if needed
			value = config.YAMLText(text)
		}
		fmt.Fprintf(&b, "  %s: %s\n", config.YAMLText(field), value)
	}
	list := func(title string, n int, item func(int) string) {
		if n > 0 {
			b.WriteString(title + ":\n")
		}
		for i := range n {
			b.WriteString("  - " + item(i) + "\n")
		}
	}
	list("problems", len(o.Problems), func(i int) string { return o.Problems[i].flow() })
	list("waits_for", len(o.waits), func(i int) string { return o.waits[i].flow() })
	list("remarks", len(o.remarks), func(i int) string { return o.remarks[i].flow() })
	return b.String()
}

var topLevelKey = regexp.MustCompile(`^["']?([A-Za-z_]+)["']?\s*:`)
