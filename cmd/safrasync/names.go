package main

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// subject says which row is meant: its title and what people are shown of it, documents masked, then
// what commands take: Contratos 01/001008 · José da Silva (contracts 01|001008).
func (v voice) subject(job, key string, shown trade.Shown) string {
	name := job + " " + key
	lead, line := v.titles.Of(job), shown.Masked().Line()
	switch {
	case line != "":
		lead += " " + line
	case lead == job:
		return name
	}
	return lead + " (" + name + ")"
}

// job is the title of a job, and the name that commands take: Contratos (contracts).
func (v voice) job(name string) string {
	if title := v.titles.Of(name); title != name {
		return title + " (" + name + ")"
	}
	return name
}

// titled adds to a row in JSON what people are shown of it. Titles in JSON are English where the
// configuration gives none.
func titled(c *Config, row rowJSON, e trade.Entry) rowJSON {
	row.Title, row.Show = e.Job, e.Shown
	if c != nil {
		row.Title = c.Titles(trade.English).Of(e.Job)
	}
	return row
}

// shows tells whether people are shown something of the rows of a job; "" = of any.
func (c *Config) shows(job string) bool {
	return slices.ContainsFunc(c.Jobs, func(j JobConfig) bool {
		return (job == "" || j.Name == job) && len(j.Show) > 0
	})
}
