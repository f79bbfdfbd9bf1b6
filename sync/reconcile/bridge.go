package reconcile

import (
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// bridgeWords name the parts of what the query gives.
var bridgeWords = map[string]phrase{
	"read":                        {"linhas lidas no ERP", "rows read in the ERP"},
	"documents":                   {"documentos", "documents"},
	"negative":                    {"documentos com preço ou volume negativo", "documents with a negative price or volume"},
	string(trade.BesideCancelled): {"canceladas no ERP", "cancelled in the ERP"},
	string(trade.BesideNoKey):     {"sem número (chave inutilizável)", "without a number (no usable key)"},
	string(trade.BesideDouble):    {"com chave repetida no ERP", "with a key that stands twice in the ERP"},
	"total":                       {"total", "total"},
	"part":                        {"parcela", "part"},
}

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
				row := []any{s.Job, Label{id, bridgeWords[id].in(p.Lang)}, nil, nil, currency, nil, nil, Label{role, bridgeWords[role].in(p.Lang)}, ""}
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
