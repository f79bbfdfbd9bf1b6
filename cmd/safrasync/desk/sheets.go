package desk

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// WriteRows writes rows to a file in which decisions can be filled in. It first records that in the
// audit.
func (r *reports) WriteRows(ctx context.Context, each func(func(trade.Entry) error) error, form string,
	filter string, lang trade.Lang, w io.Writer, who acts.Person,
) error {
	record, err := who.Record(office.Now(), "rows export", "-", map[string]string{"format": form, "filter": filter})
	if err != nil {
		return err
	}
	if err := r.g.Store.AppendAudit(ctx, record); err != nil {
		return err
	}
	return reconcile.List(ctx, reconcile.Sources{
		Ledger: r.g.Store, Jobs: r.g.Engine.Jobs, Zone: r.g.App.Config.Zone(),
	}, each, r.options(pages.ReportQuery{}, lang), reconcile.Form(form), w)
}

// sheetAdopts is how many rows one file may adopt in the console, because each one is read back
// from the platform while somebody waits.
const sheetAdopts = 50

// PlanSheet reads a file of decisions, and returns what it orders.
func (r *reports) PlanSheet(ctx context.Context, file io.Reader, lang trade.Lang) (pages.SheetPlan, error) {
	plan, _, _, err := r.planSheet(ctx, file, lang)
	return plan, err
}

// sheetWaits is how long a file waits while another one is read.
const sheetWaits = 5 * time.Second

// readSheet reads a file of decisions, unless others are read for too long.
func (r *reports) readSheet(ctx context.Context, file io.Reader, lang trade.Lang) ([]reconcile.Decision,
	[]reconcile.Fault, error,
) {
	wait, cancel := context.WithTimeout(ctx, sheetWaits)
	defer cancel()
	select {
	case r.file <- struct{}{}:
		defer func() { <-r.file }()
		return reconcile.ReadDecisions(ctx, file, reconcile.UnpackedBrowser, lang)
	case <-wait.Done():
		return nil, nil, wait.Err()
	}
}

func (r *reports) planSheet(ctx context.Context, file io.Reader, lang trade.Lang) (out pages.SheetPlan,
	people *acts.Acts, planned []reconcile.Planned, err error,
) {
	list, faults, err := r.readSheet(ctx, file, lang)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return out, nil, nil, err
	}
	if err != nil {
		//nolint:nilerr // the fault is the file's, and told to the person
		return pages.SheetPlan{Fault: err.Error()}, nil, nil, nil
	}
	adopts := 0
	list = slices.DeleteFunc(list, func(d reconcile.Decision) bool {
		if d.Act == "adopt" || d.Act == "adopt-no-id" {
			adopts++
		}
		return adopts > sheetAdopts && (d.Act == "adopt" || d.Act == "adopt-no-id")
	})
	out.LeftOut = max(0, adopts-sheetAdopts)
	people = (&work{r.g}).acts()
	planned, refused, err := reconcile.PlanDecisions(ctx, people, list)
	if err != nil {
		return out, nil, nil, err
	}
	out.Wrong = faults
	for _, no := range refused {
		why := string(no.Refusal)
		if no.OneByOne {
			why = "one_by_one"
		}
		out.Refused = append(out.Refused, pages.SheetRefusal{
			Line: no.Line, Job: no.Job, Key: no.Key, Act: reconcile.ActWord(no.Act, lang), Why: why,
		})
	}
	marks := make([]any, 0, len(planned))
	for _, p := range planned {
		out.Groups = append(out.Groups, pages.SheetGroup{
			Act: reconcile.ActWord(p.Plan.Act, lang), Job: p.Plan.Job, Reason: p.Reason, Steps: p.Plan.Steps,
		})
		out.Rows += len(p.Plan.Steps)
		marks = append(marks, []string{p.Plan.Act, p.Plan.Job, p.Reason, p.Plan.Mark()})
	}
	out.Mark = acts.MarkOf(marks...)
	return out, people, planned, nil
}

// DoSheet does what a plan with this mark showed. If the plan is another one now, it does nothing
// and sets Moved.
func (r *reports) DoSheet(ctx context.Context, file io.Reader, mark string, lang trade.Lang,
	who acts.Person,
) (pages.SheetPlan, error) {
	out, people, planned, err := r.planSheet(ctx, file, lang)
	if err != nil || out.Fault != "" {
		return out, err
	}
	if out.Moved = out.Mark != mark; out.Moved {
		return out, nil
	}
	for _, p := range planned {
		who.Reason = p.Reason
		done, err := people.Do(ctx, p.Plan, who)
		for _, s := range done.Steps {
			if s.Done {
				out.Done++
			}
		}
		if done.Asked != nil {
			out.Asked++
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
