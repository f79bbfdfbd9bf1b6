package office

import (
	"cmp"
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/trade"
)

// sentPage is how many sent rows are compared together.
const sentPage = 500

// Sent applies the current configuration to the accepted rows of one job, page by page, and counts
// which requests would differ. each, if not nil, is called for each row. The ERP is read only if
// askERP is set, for what was not mapped when the rows were sent. It needs an engine, and stores and
// sends nothing.
func (o *Office) Sent(ctx context.Context, name string, askERP bool,
	each func(dryrun.Difference) error,
) (*Sent, error) {
	job, err := o.engine.Job(name)
	if err != nil {
		return nil, err
	}
	compare, err := o.engine.Comparer(ctx, job, askERP)
	if err != nil {
		return nil, err
	}
	count := &Sent{
		Job: name, Summary: true, Verdicts: map[dryrun.DifferenceKind]int{}, Changes: []SentChange{},
		More: map[string]int{}, Unmapped: map[string]int{}, Problems: map[[2]string]*SentSample{},
		Waiting: map[trade.Awaited]*SentSample{}, Sums: map[trade.Unit]*SentSum{},
	}
	changes := map[dryrun.FieldChange]*SentSample{}
	var page []trade.Entry
	flush := func() error {
		found, err := compare.Compare(ctx, page)
		page = page[:0]
		if err != nil {
			return err
		}
		for _, d := range found {
			count.Rows++
			count.Verdicts[d.Verdict]++
			for _, change := range d.Changes {
				if !sampled(changes, change, d.Key) {
					count.More[change.Field]++
				}
			}
			for _, p := range d.Problems {
				id := [2]string{p.Field, p.Rule}
				if sampled(count.Problems, id, d.Key) {
					count.Problems[id].Problem = p
				}
			}
			for _, w := range d.WaitingFor {
				sampled(count.Waiting, trade.Awaited{Ref: w.Ref, Code: w.Code, Job: w.Job}, d.Key)
			}
			for _, column := range d.Unmapped {
				count.Unmapped[column]++
			}
			if d.Verdict == dryrun.NotComparable && len(d.Unmapped) == 0 {
				count.NoBody++
			} else {
				count.sumUp(d.Sent, func(s *SentSum) { s.Rows++; s.Sent = s.Sent.Add(d.Sent.Amount) })
				count.sumUp(d.Now, func(s *SentSum) { s.Now = s.Now.Add(d.Now.Amount) })
			}
			if each == nil {
				continue
			}
			if err := each(d); err != nil {
				return err
			}
		}
		return nil
	}
	err = o.store.Rows(ctx, trade.RowQuery{Jobs: []string{name}, States: []trade.State{trade.Accepted}},
		func(entry trade.Entry) error {
			page = append(page, entry)
			if len(page) < sentPage {
				return nil
			}
			return flush()
		})
	if err == nil {
		err = flush()
	}
	for change, s := range changes {
		count.Changes = append(count.Changes, SentChange{change, s.Rows, s.Keys})
	}
	slices.SortFunc(count.Changes, func(x, y SentChange) int {
		return cmp.Or(cmp.Compare(x.Field, y.Field), cmp.Compare(y.Rows, x.Rows), cmp.Compare(x.Old, y.Old),
			cmp.Compare(x.New, y.New))
	})
	return count, err
}

// Sent is what was sent of a job beside what would be sent with the configuration of now. Its memory
// is bounded.
type Sent struct {
	Job      string                        `json:"job"`
	Summary  bool                          `json:"summary"` // true: this answer is about the job
	Rows     int                           `json:"rows"`
	Verdicts map[dryrun.DifferenceKind]int `json:"verdicts"`
	Changes  []SentChange                  `json:"changes"`    // by field, most frequent first
	More     map[string]int                `json:"more"`       // rows by field, beyond these changes
	Unmapped map[string]int                `json:"unmapped"`   // by column
	NoBody   int                           `json:"no_payload"` // rows whose payload has been removed
	Problems map[[2]string]*SentSample     `json:"-"`          // by field and rule
	Waiting  map[trade.Awaited]*SentSample `json:"-"`
	Sums     map[trade.Unit]*SentSum       `json:"sums"` // of the rows that can be compared
}

// SentChange is a change of one field, and the rows that have it.
type SentChange struct {
	dryrun.FieldChange
	Rows int      `json:"rows"`
	Keys []string `json:"keys"` // the first few
}

// SentSample is how many rows have something, and the first few of them.
type SentSample struct {
	Rows    int
	Keys    []string
	Problem trade.Problem
}

// SentSum is what was sent in one unit, and what would be now.
type SentSum struct {
	Rows int           `json:"rows"`
	Sent trade.Decimal `json:"sent"`
	Now  trade.Decimal `json:"now"`
}

const (
	sentKeys = 5    // sample keys
	sentKept = 1000 // changes, problems and codes that are listed one by one
)

// sampled counts a row under a key. It returns false if there are too many keys already.
func sampled[K comparable](m map[K]*SentSample, key K, row string) bool {
	s := m[key]
	if s == nil {
		if len(m) >= sentKept {
			return false
		}
		s = &SentSample{}
		m[key] = s
	}
	s.Rows++
	if len(s.Keys) < sentKeys {
		s.Keys = append(s.Keys, row)
	}
	return true
}

func (c *Sent) sumUp(q trade.Quantity, add func(*SentSum)) {
	if c.Sums[q.Unit] == nil {
		c.Sums[q.Unit] = &SentSum{}
	}
	add(c.Sums[q.Unit])
}
