package config

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// ShowsConfig lists the columns that people see before the key of a row, in file order.
type ShowsConfig []mapping.ShowSpec

// Decode reads a map from labels to columns, in its order.
func (s *ShowsConfig) Decode(d *Decoder, e Entry) {
	if !e.IsMap() || len(e.Keys) == 0 {
		d.Fault(e.Path, "must be a map from labels to columns of the query, as in {contrato: num, produtor: nome}")
		return
	}
	for _, child := range e.Keys {
		if strings.ContainsFunc(child.Name, trade.Unseen) || strings.TrimSpace(child.Name) == "" {
			d.faultAt(e.Path, child.keyPos, "a label has only characters that people see")
		}
		if column, ok := d.word(child); ok {
			*s = append(*s, mapping.ShowSpec{Label: child.Name, Column: column})
		}
	}
}

// maxTitle is the longest title of a job, in characters.
const maxTitle = 60

// Titles returns the titles that people see instead of the names of jobs.
func (c *Config) Titles(lang trade.Lang) trade.Titles {
	return trade.TitlesOf(trade.Map(c.Jobs, func(j JobConfig) trade.TitledJob {
		return trade.TitledJob{Job: j.Name, Sends: trade.Kind(j.Sends), Title: j.Title}
	}), lang)
}

// Shows reports whether people see columns of the rows of a job; "" means of any job.
func (c *Config) Shows(job string) bool {
	return slices.ContainsFunc(c.Jobs, func(j JobConfig) bool {
		return (job == "" || j.Name == job) && len(j.Show) > 0
	})
}
