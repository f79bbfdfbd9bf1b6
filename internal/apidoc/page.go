package apidoc

import (
	"fmt"
	"strings"
)

const head = `# What is tested of the API's document

Written by ` + "`make api-coverage`" + ` from the tests; do not edit. Each row of the API's document stands here once, with the tests that would fail if it were wrong:
of the client against the sandbox over real HTTP, of the client alone against answers written by hand, and of the sandbox alone in plain HTTP. A row that a view
cannot prove has a dash and the reason. The rows stand in ` + "`internal/apidoc`" + `; a row without a test fails the tests, and so does this file when it is out of date.

The tests of the first two columns are in ` + "`apiclient`" + `, those of the third in ` + "`apiclient/sandbox`" + `.
`

// page writes docs/api-coverage.md.
func page(tests map[cell][]string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, s := range Sections() {
		fmt.Fprintf(&b, "\n## %s\n\n| row | states | client with sandbox | client alone | sandbox alone |\n|---|---|---|---|---|\n", s.Title)
		for _, r := range s.Rows {
			fmt.Fprintf(&b, "| %s | %s |", r.ID, r.What)
			for _, v := range Views {
				b.WriteString(" " + written(r, v, tests[cell{r.ID, v}]) + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

const between = "<br>"

func written(r Row, v View, tests []string) string {
	if reason := r.Without(v); reason != "" {
		return "– " + reason
	}
	names := make([]string, len(tests))
	for i, name := range tests {
		names[i] = "`" + name + "`"
	}
	return strings.Join(names, between)
}

// parse reads the names of tests out of a page. Rows that no longer exist are among them; page leaves them out.
func parse(text string) map[cell][]string {
	tests := map[cell][]string{}
	for line := range strings.Lines(text) {
		columns := strings.Split(strings.TrimSpace(line), "|")
		if len(columns) != len(Views)+4 { // empty, row, states, the views, empty
			continue
		}
		id := strings.TrimSpace(columns[1])
		for i, v := range Views {
			for name := range strings.SplitSeq(strings.TrimSpace(columns[3+i]), between) {
				if len(name) > 2 && strings.HasPrefix(name, "`") && strings.HasSuffix(name, "`") {
					tests[cell{id, v}] = append(tests[cell{id, v}], strings.Trim(name, "`"))
				}
			}
		}
	}
	return tests
}

// difference shows the first lines in which two pages differ.
func difference(have, want string) string {
	h, w := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range max(len(h), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(h) {
			a = h[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d is\n\t%s\nand should be\n\t%s", i+1, a, b)
		}
	}
	return ""
}
