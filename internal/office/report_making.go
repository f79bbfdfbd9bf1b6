package office

import (
	"context"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// A page waits for its report for reportPatience; then it shows how far the report is, and asks again.
// A report for which nobody has asked for reportLapses is given up; once it is made, those who asked for
// it can still fetch it for reportKept.
const (
	reportPatience = time.Second
	reportLapses   = 30 * time.Second
	reportKept     = 10 * time.Second
)

// reportAge is how old the figures of a page may be that nobody asked to be made anew. The page says of
// when they are.
const reportAge = 10 * time.Minute

// ReportProgress is how far a report is.
type ReportProgress struct {
	At   time.Time // the moment of its figures; zero: it waits for its turn
	Rows int       // read so far
}

// reportJob is a report that is made for a page, in the background.
type reportJob struct {
	ReportProgress
	*work[*paper.Report]
	of    string          // its selection
	asked map[string]bool // who has asked for it, and has not got it
}

// RequestReport returns a report. If making it takes longer, it returns how far it is, and the last one that
// has this selection, or nil. Each who asks for the same one again gets it when it is ready. Unless fresh is
// set, it may be the last one.
func (o *Office) RequestReport(ctx context.Context, q ReportQuery, lang trade.Lang, most int, who string, fresh bool,
) (last *paper.Report, making *ReportProgress, err error) {
	o.mu.Lock()
	if o.kept != nil && o.kept.of == selection(q, lang, most) {
		last = o.kept.answer
		fresh = fresh || o.now().Sub(o.kept.At) >= reportAge
	}
	o.mu.Unlock()
	if last != nil && !fresh {
		return last, nil, nil
	}
	m := o.makeReport(q, lang, most, who)
	if m == nil {
		return last, &ReportProgress{}, nil
	}
	if _, err := m.wait(ctx, o.reportPatience); err != nil {
		return nil, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !m.over() {
		return last, new(m.ReportProgress), nil
	}
	if m.answer == nil && m.err == nil { // given up: the next request gets another one
		return last, &ReportProgress{}, nil
	}
	delete(m.asked, who)
	if len(m.asked) == 0 {
		o.forget(m)
	}
	return m.answer, nil, m.err
}

// selection returns what a report is made of, as a text to compare.
func selection(q ReportQuery, lang trade.Lang, most int) string {
	q.Sources = ReportSources{}
	return fmt.Sprintf("%#v %s %d", q, lang, most)
}

// makeReport returns the report with this selection that is being made, and begins it if there is none.
// If one with another selection is there, or the office ends, it returns nil.
func (o *Office) makeReport(q ReportQuery, lang trade.Lang, most int, who string) *reportJob {
	of := selection(q, lang, most)
	o.mu.Lock()
	defer o.mu.Unlock()
	if m := o.reportJob; m != nil {
		if m.of != of {
			return nil
		}
		m.asked[who] = true
		if !m.over() {
			m.lapse.Reset(reportLapses)
		}
		return m
	}
	m := &reportJob{of: of, asked: map[string]bool{who: true}}
	q.Sources.Progress = func(rows int, _ bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		m.Rows = rows
	}
	m.work = begin(o, "", func(ctx context.Context) (out *paper.Report, err error) {
		err = o.Report(ctx, q, func(s *reconcile.Snapshot) (err error) {
			o.mu.Lock()
			m.At = s.Head.At
			o.mu.Unlock()
			out, err = paper.Read(s, o.ReportOptions(q, lang), most)
			return err
		})
		return out, err
	}, func(w *work[*paper.Report]) {
		w.lapse.Reset(reportKept)
		if w.err != nil && w.canceled { // given up: who asks for it again gets another one
			w.answer, w.err = nil, nil
			o.forget(m)
		}
		if w.answer != nil && w.err == nil {
			o.kept = m
		}
	})
	if m.work == nil {
		return nil
	}
	m.lapses(o, func() { o.forget(m) })
	o.reportJob = m
	return m
}

// forget lets go of a report. The caller must hold the lock.
func (o *Office) forget(m *reportJob) {
	m.lapse.Stop()
	if o.reportJob == m {
		o.reportJob = nil
	}
}
