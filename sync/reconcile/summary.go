// The equation of a job: what the ERP has is the sum of what has become of it (I9).

package reconcile

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Summary is the equation of one job: what the ERP has in scope is the sum of what has become of
// it.
type Summary struct {
	Job   string
	Sends trade.Kind
	Rows  int // entries of the ledger
	// rows that the ERP has now, by the last complete sweep and later discoveries; nil: no sweep
	InScope    *int
	Unreadable int // rows of the ERP without a usable key, in no other figure

	// The summands: each row of the ERP is in exactly one of them.
	States map[trade.State]int
	Moved  int // their record was moved to the row under its new key
	After  int // documents with a day after the cut-off

	// The bridge: the query's rows are the living documents and other rows (Beside).
	Read      int // rows at the last complete sweep; 0: unknown
	Documents trade.Sums
	Negative  trade.Sums // documents whose amount or price is below zero, not in Documents
	Beside    []trade.Beside

	// Sub-counts of the above, not summands.
	Flags map[trade.Flag]int
	Open  []Part // rows that are neither sent, nor dismissed, nor withdrawn

	SweptAt *time.Time `json:",omitempty"` // of the last complete sweep

	// Rows that have left the ERP; in none of the above.
	Gone       int
	GoneStates map[trade.State]int
	GoneMoved  int
}

// Part is the rows of a job in a state, with their grain and money. Fixations are separate from
// contracts, because they are the same grain.
type Part struct {
	State  trade.State
	Fixing bool
	Sums   trade.Sums
}

// Sum returns the sum of the summands.
func (s Summary) Sum() int {
	n := s.Moved + s.After
	for _, count := range s.States {
		n += count
	}
	return n
}

// Bridge returns what the ERP has in rows, grain and money: the sum of all parts.
func (s Summary) Bridge() trade.Sums {
	var all trade.Sums
	all.Join(s.Documents)
	all.Join(s.Negative)
	for _, b := range s.Beside {
		all.Join(b.Sums)
	}
	return all
}

// Difference returns what the ERP has in scope minus the sum; nil if no sweep has shown what the
// ERP has. Anything but zero is an error of the program.
func (s Summary) Difference() *int {
	if s.InScope == nil {
		return nil
	}
	d := *s.InScope - s.Sum()
	return &d
}

// add adds a row of the job.
func (s *Summary) add(r *Row) {
	s.Rows++
	switch {
	case !r.living(): // a cancelled row was counted in Beside by the sweep
	case r.ERP.Negative():
		s.Negative.Add(r.ERP)
	default:
		s.Documents.Add(r.ERP)
	}
	switch {
	case r.Gone && r.Moved:
		s.Gone++
		s.GoneMoved++
		return
	case r.Gone:
		s.Gone++
		s.GoneStates[r.State]++
		return
	case r.Moved:
		s.Moved++
		return
	case r.After:
		s.After++
		return
	}
	s.States[r.State]++
	if r.open() {
		part := Part{State: r.State, Fixing: r.fixing()}
		i := slices.IndexFunc(s.Open, func(p Part) bool { return p.State == part.State && p.Fixing == part.Fixing })
		if i < 0 {
			i = len(s.Open)
			s.Open = append(s.Open, part)
		}
		s.Open[i].Sums.Add(r.ERP)
	}
	for _, f := range r.Flags {
		s.Flags[f]++
	}
}

// bridge writes, for each job, the rows of its query as the sum of their parts, in rows, grain and
// money.
func (p *printer) bridge() {
	for _, s := range p.sum.Summaries {
		if s.Read == 0 {
			continue
		}
		write := func(id string, sums trade.Sums, role string, keys []string) {
			currencies := slices.Sorted(maps.Keys(sums.Values))
			if len(currencies) == 0 {
				currencies = []string{""}
			}
			for i, currency := range currencies {
				row := []any{
					p.job(s.Job), p.label("bridge.", id), nil, nil, currency, nil, nil, p.label("bridge.", role), "",
				}
				if i == 0 {
					row[2], row[3], row[6], row[8] = sums.Rows, sums.Kilograms, sums.Unweighed, strings.Join(keys, ", ")
				}
				if currency != "" {
					row[5] = sums.Values[currency]
				}
				p.row(row...)
			}
		}
		write("read", s.Bridge(), "total", nil)
		write("documents", s.Documents, "part", nil)
		if s.Negative.Rows > 0 {
			write("negative", s.Negative, "part", nil)
		}
		for _, b := range s.Beside {
			write(string(b.Why), b.Sums, "part", b.Keys)
		}
	}
}
