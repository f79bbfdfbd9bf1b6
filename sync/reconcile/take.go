package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// takePage is how many rows are in memory while a snapshot is taken.
const takePage = 500

// takeTries is how often a snapshot begins again because a sweep ended while it was taken.
const takeTries = 3

// Cut says of when a snapshot tells.
type Cut struct {
	Day     trade.Date // documents of later days are left out; zero: none are
	Derived bool       // as things stood at the end of Day, as far as that can be told; otherwise as they stand
}

// taker goes through the ledger once.
type taker struct {
	Sources
	cut      Cut
	end      time.Time // of Day, with Derived
	head     Head
	specs    map[string]*engine.Job
	refs     map[string]map[string]string
	acts     map[string][]act // by "job key", in their order
	out      *spool
	contract *contracts
}

// Take makes a snapshot of the ledger. The caller closes it.
func Take(ctx context.Context, src Sources, cut Cut) (*Snapshot, error) {
	for try := 1; ; try++ {
		s, swept, err := take(ctx, src, cut)
		if err != nil || !swept || try == takeTries {
			return s, err
		}
		if err := s.Close(); err != nil { // its proof would be against another sweep
			return nil, err
		}
	}
}

func take(ctx context.Context, src Sources, cut Cut) (s *Snapshot, swept bool, err error) {
	t := &taker{Sources: src, cut: cut, specs: map[string]*engine.Job{}, acts: map[string][]act{}, contract: newContracts(src.Folder)}
	t.head = Head{
		Form: formOfHead, ID: newID(), Name: src.Name, Program: src.Program, Zone: src.Zone.String(), At: src.Now.UTC().Truncate(time.Millisecond), Kind: NowKind,
		Jobs: []JobHead{}, Acts: []Act{}, Messages: []trade.SeenMessage{},
	}
	if !cut.Day.IsZero() {
		t.head.Day = cut.Day.String()
	}
	if cut.Derived {
		t.head.Kind = DerivedKind
		t.end = endOf(cut.Day, src.Zone)
	}
	if src.Platform != nil {
		t.head.Asked = &Asked{}
	}
	if t.refs, err = engine.Codes(ctx, src.Ledger); err != nil {
		return nil, false, err
	}
	if err := t.readActs(ctx); err != nil {
		return nil, false, err
	}
	jobs, err := t.order(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, t.contract.close()) }()
	if s, err = newSnapshot(src.Folder); err != nil {
		return nil, false, err
	}
	s.zone = src.Zone
	t.out = s.spool()
	for _, job := range jobs {
		if err == nil {
			err = t.job(ctx, job)
		}
	}
	if err == nil {
		t.head.Messages, err = src.Ledger.MessageKeys(ctx)
	}
	if err = errors.Join(err, t.out.close()); err == nil {
		swept, err = t.sweptMeanwhile(ctx)
	}
	if err != nil {
		return nil, false, errors.Join(err, s.Close())
	}
	s.Head = t.head
	return s, swept, nil
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString()
	}
	return id.String()
}

// endOf is the first moment after a day.
func endOf(day trade.Date, zone *time.Location) time.Time {
	at, err := time.ParseInLocation(time.DateOnly, day.String(), zone)
	if err != nil {
		return time.Time{}
	}
	return at.AddDate(0, 0, 1)
}

// order gives the jobs so that contracts come before what hangs on them: those of the configuration, then those that only the ledger knows.
func (t *taker) order(ctx context.Context) ([]JobHead, error) {
	known, err := t.Ledger.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var out []JobHead
	for _, job := range t.Jobs {
		t.specs[job.Name()] = job
		out = append(out, JobHead{Job: job.Name(), Sends: job.Spec.Sends})
	}
	for _, name := range known {
		if t.specs[name] == nil {
			sends := trade.Kind("")
			err := t.Ledger.Rows(ctx, trade.RowFilter{Job: name, Limit: 1}, func(e trade.Entry) error { sends = e.Sends; return nil })
			if err != nil {
				return nil, err
			}
			if sends != "" {
				out = append(out, JobHead{Job: name, Sends: sends})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b JobHead) int { return slices.Index(trade.Kinds, a.Sends) - slices.Index(trade.Kinds, b.Sends) })
	return out, nil
}

// job reads the rows of one job.
func (t *taker) job(ctx context.Context, job JobHead) error {
	cursor, err := t.Ledger.Cursor(ctx, job.Job)
	if err != nil {
		return err
	}
	if cursor.Sweep != nil && !cursor.SweptAt.IsZero() && !t.cut.Derived {
		at := cursor.SweptAt.UTC()
		job.SweptAt, job.InScope, job.SweepGone, job.Unreadable = &at, &cursor.Sweep.InScope, cursor.Sweep.Gone, cursor.Sweep.Unreadable
		job.Read, job.Beside = cursor.Sweep.Read, cursor.Sweep.Beside
	}
	var page []trade.Entry
	flush := func() error {
		rows, err := t.rows(ctx, job, page)
		for _, r := range rows {
			if err == nil {
				err = t.out.row(r)
			}
		}
		job.Rows += len(rows)
		t.head.Rows += len(rows)
		page = page[:0]
		if t.Progress != nil {
			t.Progress(t.head.Rows)
		}
		return err
	}
	err = t.Ledger.Rows(ctx, trade.RowFilter{Job: job.Job}, func(e trade.Entry) error {
		if page = append(page, e); len(page) < takePage {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("job %s: %w", job.Job, err)
	}
	t.head.Jobs = append(t.head.Jobs, job)
	return nil
}

// sweptMeanwhile tells whether a sweep ended since a job's rows were read.
func (t *taker) sweptMeanwhile(ctx context.Context) (bool, error) {
	for _, job := range t.head.Jobs {
		cursor, err := t.Ledger.Cursor(ctx, job.Job)
		if err != nil {
			return false, err
		}
		if job.SweptAt != nil && !cursor.SweptAt.Equal(*job.SweptAt) {
			return true, nil
		}
	}
	return false, nil
}

// rows makes the rows of a page of entries.
func (t *taker) rows(ctx context.Context, job JobHead, page []trade.Entry) ([]Row, error) {
	ids := make([]int64, 0, len(page))
	for _, e := range page {
		if e.Attempts > 0 || e.State == trade.Accepted || t.cut.Derived {
			ids = append(ids, e.ID)
		}
	}
	outcomes := map[int64][]trade.Attempt{}
	if len(ids) > 0 {
		var err error
		if outcomes, err = t.Ledger.Outcomes(ctx, ids); err != nil {
			return nil, err
		}
	}
	out := make([]Row, 0, len(page))
	bodies := make([]map[string]string, 0, len(page)) // of the rows' requests
	for _, e := range page {
		if t.cut.Derived && !e.FirstSeenAt.Before(t.end) {
			continue // nobody knew of it then
		}
		sent := sentFields(e)
		r, err := t.row(job, e, outcomes[e.ID], sent)
		if err != nil {
			return nil, err
		}
		if t.Platform != nil && r.Sends == trade.OrderCommitments && r.State == trade.Accepted && r.RemoteID != "" && !r.After {
			if err := t.ask(ctx, &r); err != nil {
				return nil, err
			}
		}
		switch r.Basis {
		case Derived:
			t.head.Derived++
		case Unknown:
			t.head.Unknown++
		}
		if r.Reduced {
			t.head.Reduced++
		}
		out, bodies = append(out, r), append(bodies, sent)
	}
	return out, t.tell(ctx, job.Sends, out, bodies)
}
