package cli

import (
	"github.com/safrasync/safrasync/trade"
)

// Subject says which row is meant: its title and what people are shown of it, documents masked,
// then what commands take: Contratos 01/001008 · José da Silva (contracts 01|001008).
func (v Voice) Subject(job, key string, shown trade.Shown) string {
	name := job + " " + key
	lead, line := v.Titles.Of(job), shown.Masked().Line()
	switch {
	case line != "":
		lead += " " + line
	case lead == job:
		return name
	}
	return lead + " (" + name + ")"
}

// Job is the title of a job, and the name that commands take: Contratos (contracts).
func (v Voice) Job(name string) string {
	if title := v.Titles.Of(name); title != name {
		return title + " (" + name + ")"
	}
	return name
}
