package office

import (
	"maps"
	"slices"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/trade"
)

// ColumnsInOrder returns the columns of a row, in the order of the fields to which they are mapped,
// then the columns that are mapped to none.
func ColumnsInOrder(conf *config.Config, e trade.Entry) []string {
	values := e.NewestValues()
	var out []string
	add := func(names ...string) {
		for _, name := range names {
			if _, ok := values[name]; ok && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	for _, spec := range conf.JobSpecs() {
		if spec.Name == e.Job {
			for _, rule := range trade.Rules(spec.Sends) {
				add(spec.Fields[rule.Field].Columns...)
			}
		}
	}
	add(slices.Sorted(maps.Keys(values))...)
	return out
}
