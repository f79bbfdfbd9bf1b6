package reconcile

import (
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// bridge writes what the query of each job gives as the sum of its parts, in rows, grain and money.
func (p *printer) bridge(list []Summary) error {
	for _, s := range list {
		if s.Read == 0 {
			continue
		}
		write := func(id string, sums trade.Sums, role string, keys []string) error {
			currencies := slices.Sorted(maps.Keys(sums.Values))
			if len(currencies) == 0 {
				currencies = []string{""}
			}
			for i, currency := range currencies {
				row := []any{s.Job, Label{id, sentence(i18n.Key("bridge."+id), p.Lang)}, nil, nil, currency, nil, nil, Label{role, sentence(i18n.Key("bridge."+role), p.Lang)}, ""}
				if i == 0 {
					row[2], row[3], row[6], row[8] = sums.Rows, sums.Kilograms, sums.Unweighed, strings.Join(keys, ", ")
				}
				if currency != "" {
					row[5] = sums.Values[currency]
				}
				if err := p.w.Row(row); err != nil {
					return err
				}
			}
			return nil
		}
		if err := write("read", s.Bridge(), "total", nil); err != nil {
			return err
		}
		if err := write("documents", s.Documents, "part", nil); err != nil {
			return err
		}
		if s.Negative.Rows > 0 {
			if err := write("negative", s.Negative, "part", nil); err != nil {
				return err
			}
		}
		for _, b := range s.Beside {
			if err := write(string(b.Why), b.Sums, "part", b.Keys); err != nil {
				return err
			}
		}
	}
	return nil
}
