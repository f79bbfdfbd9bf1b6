// The rows that a number counts.

package office

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Chosen returns a query with the ids of the rows that its selection names, and what each of them adds to
// the number that has this selection. The rows are those of the computation that made the number, not of
// another one. The ledger itself narrows by the season: then there may be no ids.
func (o *Office) Chosen(ctx context.Context, q trade.RowQuery) (trade.RowQuery, reconcile.Selected, error) {
	rows := reconcile.Selected{}
	if q.Of == (trade.Selection{}) || q.IDs != nil {
		return q, rows, nil
	}
	narrow := func(ids []int64) {
		among := q.IDs
		q.IDs = slices.DeleteFunc(append([]int64{}, ids...), func(id int64) bool {
			_, found := slices.BinarySearch(among, id)
			return among != nil && !found
		})
		slices.Sort(q.IDs)
	}
	of := q.Of // what neither a run nor a cause has
	of.Run = ""
	if of.Group != "" {
		of.Group, of.Kind = "", ""
	}
	// where a row may have one of several contracts, the report chooses
	if of == (trade.Selection{Harvest: of.Harvest}) && !slices.ContainsFunc(o.jobs, func(job *mapping.Job) bool {
		return job.Spec.Sends != trade.OrderCommitments && len(job.Mapping.SentBy) != 1
	}) {
		q.Facts.Season, of.Harvest = of.Harvest, ""
	}
	if of != (trade.Selection{}) {
		err := o.snapshot(ctx, reconcile.Cut{}, ReportSources{}, func(s *reconcile.Snapshot) (err error) {
			rows, err = s.Select(of, o.fixer())
			return err
		})
		if err != nil {
			return q, rows, err
		}
		narrow(rows.IDs)
	}
	if q.Of.Group != "" {
		if _, err := o.lookAt(ctx); err != nil {
			return q, rows, err
		}
		rows = reconcile.Selected{Each: map[trade.ParentKey]trade.Sums{}}
		o.blocked.Select(q.Of.Group, q.Of.Kind, func(id int64, key trade.ParentKey, adds trade.Sums) {
			rows.IDs, rows.Each[key] = append(rows.IDs, id), adds
		})
		narrow(rows.IDs)
	}
	if q.Of.Run != "" {
		id, result, _ := strings.Cut(q.Of.Run, ":")
		run, err := o.Run(ctx, id)
		if err != nil {
			return q, rows, err
		}
		found, err := o.store.RunRows(ctx, run)
		if err != nil {
			return q, rows, err
		}
		narrow(found[trade.RunResult(result)])
	}
	return q, rows, nil
}

// RowPage returns one page of the rows that a query selects.
func (o *Office) RowPage(ctx context.Context, q trade.RowQuery) (trade.RowPage, error) {
	q, _, err := o.Chosen(ctx, q)
	if err != nil {
		return trade.RowPage{}, err
	}
	return o.Reads.RowPage(ctx, q)
}

// RowSums returns the sums of the rows that a query selects, by job: with a selection, of what each of
// them adds to its number. It returns nil if the rows may be many and whole is false.
func (o *Office) RowSums(ctx context.Context, q trade.RowQuery, whole bool) (map[string]trade.Sums, error) {
	q, rows, err := o.Chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	return o.SumsOf(ctx, q, rows, whole)
}

// SumsOf is RowSums for what [Office.Chosen] returned.
func (o *Office) SumsOf(ctx context.Context, q trade.RowQuery, rows reconcile.Selected, whole bool,
) (map[string]trade.Sums, error) {
	if rows.Each == nil {
		return o.Reads.RowSums(ctx, q, whole)
	}
	q.After, q.Sort, q.Limit = "", trade.NewestFirst, len(q.IDs)
	keys, _, err := o.store.RowKeys(ctx, q)
	out := map[string]trade.Sums{}
	for _, key := range keys {
		sum := out[key.Job]
		sum.Join(rows.Each[key])
		out[key.Job] = sum
	}
	return out, err
}

// CauseText says in words what a cause is that somebody can choose on the board.
func (o *Office) CauseText(ctx context.Context, key string, lang trade.Lang) string {
	stuck, err := o.Stuck(ctx, lang, false)
	if err != nil {
		return key
	}
	for _, c := range stuck.Causes {
		if c.Key == key {
			return trade.MaskDocuments(c.Advice.What)
		}
	}
	return key
}

// fixer returns a function that returns who cures what keeps a row. It knows each cause once.
func (o *Office) fixer() func(trade.Entry) trade.Fixer {
	type kept struct {
		state trade.State
		cause string
	}
	fixers := map[kept]trade.Fixer{} // as many as there are causes
	return func(e trade.Entry) trade.Fixer {
		cause, problem := pending.CauseOf(e)
		if problem != nil && problem.Rule == trade.RuleDeclared {
			cause = e.Cause // the ERP's text may be another in each row
		}
		k := kept{e.State, cause}
		if _, known := fixers[k]; !known {
			fixers[k] = o.Advice(e, o.lang).Fixer
		}
		return fixers[k]
	}
}

// snapshot calls fn with the rows of the ledger at one moment.
func (o *Office) snapshot(ctx context.Context, cut reconcile.Cut, with ReportSources,
	fn func(*reconcile.Snapshot) error,
) (err error) {
	at, err := o.store.Moment(ctx)
	if err != nil {
		return err
	}
	defer phrase.Join(&err, at.Close)
	s, err := reconcile.TakeSnapshot(ctx, reconcile.Sources{
		Ledger: at, Jobs: o.jobs, Zone: o.conf.Zone(), Now: o.now(), Program: o.version, Name: o.conf.Alerts.Name,
		Platform: with.Platform, ERP: with.erp, Progress: with.Progress,
	}, cut)
	if err != nil {
		return err
	}
	return fn(s)
}

// Season is what the pictures of a season are made of.
type Season struct {
	At      time.Time
	Seasons []*reconcile.Season // the present one first
	took    time.Duration
}

// seasonShare is how many times as long as it took a count of the season holds, so that counting takes
// at most that share of a core.
const seasonShare = 10

// Season returns the season. That of a ledger of few rows is counted for each page. A larger one is
// counted in the background: it is nil until the first count has ended, and may be some time old.
func (o *Office) Season(ctx context.Context) (*Season, error) {
	rows, err := o.rowsIn(ctx)
	if err != nil {
		return nil, err
	}
	small := rows <= o.waitFor
	o.mu.Lock()
	last, running := o.season, o.seasonCount
	fresh := !small && last != nil && o.now().Sub(last.At).Abs() < max(stuckHolds, seasonShare*last.took)
	if running == nil && !fresh {
		begun := time.Now()
		running = begin(o, "the console could not count the season", func(ctx context.Context) (*Season, error) {
			out := &Season{}
			return out, o.snapshot(ctx, reconcile.Cut{}, ReportSources{}, func(s *reconcile.Snapshot) (err error) {
				out.At = s.Head.At
				out.Seasons, err = s.Seasons(o.fixer())
				return err
			})
		}, func(w *work[*Season]) {
			o.seasonCount = nil
			if w.err == nil {
				w.answer.took = time.Since(begun)
				o.season = w.answer
			}
		})
		o.seasonCount = running
	}
	o.mu.Unlock()
	if running == nil {
		return last, nil
	}
	patience := o.patience
	if small {
		patience = o.reportPatience
	}
	over, err := running.wait(ctx, patience)
	switch {
	case err != nil:
		return nil, err
	case !over:
		return last, nil
	}
	return running.answer, running.err
}
