package office

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// SheetPlan is what a file orders, or the result.
type SheetPlan struct {
	Fault   string // why the file is not such a sheet; "" if it is
	Groups  []SheetGroup
	Rows    int // rows that would be changed
	Wrong   []reconcile.WrongRow
	Refused []reconcile.Refused // with their acts as words
	LeftOut int                 // rows to adopt beyond the limit of one file
	Mark    string

	Moved bool
	Done  int // rows with which it was done at once
	Asked int // rows of which others must agree: nothing was done with them yet
}

// SheetGroup is what is ordered for rows of a job with the same reason.
type SheetGroup struct {
	Act    string // as a word
	Job    string
	Reason string
	Steps  []acts.RowStep
}

// Shown returns the first rows of the group.
func (g SheetGroup) Shown() []acts.RowStep { return g.Steps[:min(len(g.Steps), 5)] }

// More returns the number of the others.
func (g SheetGroup) More() int { return len(g.Steps) - len(g.Shown()) }

// WriteRows writes the rows of a list to a file: as the list has them, with a title, or for decisions to be filled
// in. It first records that in the audit.
func (o *Office) WriteRows(ctx context.Context, rows []trade.Entry, form string, decisions bool, in reconcile.Selected,
	title, filter string, lang trade.Lang, w io.Writer, who trade.Person,
) error {
	err := o.Note(ctx, "rows export", "-", map[string]string{"format": form, "filter": filter}, who)
	if err != nil {
		return err
	}
	options := o.ReportOptions(ReportQuery{}, lang)
	if decisions {
		ids := trade.Map(rows, func(e trade.Entry) int64 { return e.ID })
		return o.snapshot(ctx, reconcile.Cut{}, ReportSources{}, func(s *reconcile.Snapshot) error {
			return s.Decisions(options, reconcile.Form(form), ids, w)
		})
	}
	return reconcile.List(rows, options, o.heading(title, lang), in, o.Voice(lang).Reason,
		ReportWriter(form, options, w))
}

// heading returns the heading of a list as a file.
func (o *Office) heading(title string, lang trade.Lang) (h reconcile.Heading) {
	h.Title, h.Lang, h.Zone = title, lang, o.conf.Zone()
	h.Head.ID, h.Head.At = title, o.now()
	h.Lines = []string{h.Foot()}
	return h
}

// WriteMissing writes the codes of a table that have no id to a workbook with a title, with what each blocks.
func (o *Office) WriteMissing(ctx context.Context, kind, title string, lang trade.Lang, w io.Writer) error {
	short, names, err := o.Missing(ctx, kind, workbook.SheetRows)
	if err != nil {
		return err
	}
	return reconcile.Missing(short, names, o.ReportOptions(ReportQuery{}, lang), o.heading(title, lang),
		reconcile.NewXLSX(w))
}

// sheetAdopts is how many rows one file may adopt in the console, because each one is read back
// from the platform while somebody waits.
const sheetAdopts = 50

// PlanSheet reads a file of decisions, and returns what it orders.
func (o *Office) PlanSheet(ctx context.Context, file io.Reader, lang trade.Lang) (SheetPlan, error) {
	plan, _, _, err := o.planSheet(ctx, file, lang)
	return plan, err
}

// sheetWaits is how long a file waits while another one is read.
const sheetWaits = 5 * time.Second

// readSheet reads a file of decisions, unless others are read for too long.
func (o *Office) readSheet(ctx context.Context, file io.Reader, lang trade.Lang) ([]reconcile.Decision,
	[]reconcile.WrongRow, error,
) {
	wait, cancel := context.WithTimeout(ctx, sheetWaits)
	defer cancel()
	select {
	case o.file <- struct{}{}:
		defer func() { <-o.file }()
		return reconcile.ReadDecisions(ctx, file, workbook.UnpackedBrowser, lang)
	case <-wait.Done():
		return nil, nil, wait.Err()
	}
}

func (o *Office) planSheet(ctx context.Context, file io.Reader, lang trade.Lang) (out SheetPlan,
	people *acts.Acts, planned []reconcile.Planned, err error,
) {
	list, faults, err := o.readSheet(ctx, file, lang)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return out, nil, nil, err
	}
	if err != nil {
		//nolint:nilerr // the fault is the file's, and told to the person
		return SheetPlan{Fault: err.Error()}, nil, nil, nil
	}
	adopts := 0
	list = slices.DeleteFunc(list, func(d reconcile.Decision) bool {
		if d.Act == "adopt" || d.Act == "adopt-no-id" {
			adopts++
		}
		return adopts > sheetAdopts && (d.Act == "adopt" || d.Act == "adopt-no-id")
	})
	out.LeftOut = max(0, adopts-sheetAdopts)
	people = o.acts()
	planned, refused, err := reconcile.PlanDecisions(ctx, people, list)
	if err != nil {
		return out, nil, nil, err
	}
	out.Wrong, out.Refused = faults, refused
	for i, no := range refused {
		out.Refused[i].Act = reconcile.ActWord(no.Act, lang)
	}
	marks := make([]any, 0, len(planned))
	for _, p := range planned {
		out.Groups = append(out.Groups, SheetGroup{
			Act: reconcile.ActWord(p.Plan.Act, lang), Job: p.Plan.Job, Reason: p.Reason, Steps: p.Plan.Steps,
		})
		out.Rows += len(p.Plan.Steps)
		marks = append(marks, []string{p.Plan.Act, p.Plan.Job, p.Reason, p.Plan.Mark()})
	}
	out.Mark = acts.MarkOf(marks...)
	return out, people, planned, nil
}

// PlanDecisions plans what a list of decisions orders. An engine reads the records to adopt.
func (o *Office) PlanDecisions(ctx context.Context, list []reconcile.Decision) ([]reconcile.Planned,
	[]reconcile.Refused, error,
) {
	people := o.acts()
	if people.Platform != nil {
		people.Platform = ThrottledReader{people.Platform}
	}
	return reconcile.PlanDecisions(ctx, people, list)
}

// DoSheet does what a plan with this mark showed. If the plan is another one now, it does nothing
// and sets Moved.
func (o *Office) DoSheet(ctx context.Context, file io.Reader, mark string, lang trade.Lang,
	who trade.Person,
) (SheetPlan, error) {
	out, people, planned, err := o.planSheet(ctx, file, lang)
	if err != nil || out.Fault != "" {
		return out, err
	}
	out.Moved = out.Mark != mark
	if out.Moved {
		return out, nil
	}
	for _, p := range planned {
		who.Reason = p.Reason
		if err := may(who, p.Plan.Act); err != nil {
			return out, err
		}
		done, err := people.Do(ctx, p.Plan, who)
		for _, s := range done.Steps {
			if s.Done {
				out.Done++
			}
		}
		if done.Asked != nil {
			out.Asked += p.Plan.Count()
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
