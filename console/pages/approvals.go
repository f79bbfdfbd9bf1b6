package pages

import (
	"errors"
	"net/http"
	"slices"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// waitsShown is a waiting act, with who ordered it.
type waitsShown struct {
	trade.Approval
	acts.Planned
	Last trade.Consent // of who decided
	Row  []trade.Entry // the one that it is about; none: it is about several, or another thing
	Goes trade.Figure  // see [Pages.goesWith]; zero: it was decided
	You  bool          // the person may agree
}

// addedUp is of how many rows of a plan the list has the sums; the page of the plan has them of all.
const addedUp = 200

func (p *Pages) showApprovals(q *web.Request) error {
	page := map[bool][]waitsShown{} // by whether they wait still
	waits, err := p.office.Approvals(q.Context())
	decided, decidedErr := p.office.Decided(q.Context())
	if err := errors.Join(err, decidedErr); err != nil {
		return err
	}
	for _, a := range append(waits, decided...) {
		planned, _ := acts.PlannedOf(a) // of a damaged one what else is known is shown
		shown := waitsShown{
			Approval: a, Planned: planned, Last: a.People[len(a.People)-1], You: mayApprove(a, &q.Login.User),
		}
		if a.Outcome == trade.ApprovalLapsed {
			shown.Last = trade.Consent{At: a.Until}
		}
		open, n := a.Outcome == "", len(planned.Steps)
		if n == 1 || open && n <= addedUp {
			ids := trade.Map(planned.Steps, func(s acts.PlannedStep) int64 { return s.ID })
			shown.Row, err = p.office.Entries(q.Context(), ids)
		}
		if err == nil && open {
			shown.Goes, _, err = p.goesWith(q, planned.Order)
		}
		if err != nil {
			return err
		}
		for _, e := range shown.Row {
			shown.Goes.Join(acts.RowStep{Before: e}.Sums())
		}
		if n > 1 {
			shown.Row = nil
		}
		page[open] = append(page[open], shown)
	}
	return q.Page(http.StatusOK, "approvals", page)
}

// goesWith returns what a release lets go on, or what waits for the code of a de-para, as it is now.
func (p *Pages) goesWith(q *web.Request, o acts.Order) (out trade.Figure, frees trade.Shortage, err error) {
	switch o.Act {
	case acts.ActSetCode:
		missing, err := p.office.Shortages(q.Context())
		for _, s := range missing {
			if s.Kind == o.Job && slices.Contains(o.Keys, s.Code) {
				frees = s
			}
		}
		for _, load := range frees.Blocked {
			out.Join(trade.Sums(*load))
		}
		return out, frees, err
	case acts.ActRelease:
		out.Of = trade.RowQuery{Jobs: []string{o.Job}, States: []trade.State{trade.Pending}}
		sums, err := p.office.RowSums(q.Context(), out.Of, true)
		out.Sums = sums[o.Job]
		return out, frees, err
	}
	return out, frees, nil
}

// approvalPage is one waiting act, with the plan that the first person saw.
type approvalPage struct {
	office.Waits
	Closing *Closing   // what the first person was shown of a closing; nil: it is none
	Steps   []stepView // as they would be done now
	Then    []stepView // as they were planned, if the act is outdated or was decided
	More    int
	Frees   trade.Shortage // what waits for the code of a de-para
	Freed   []trade.Entry  // a few rows of that
	Stop    string         // why the job of a release is stopped
	Exists  []string       // what is known to exist of rows that it may make twice
	Goes    trade.Figure   // see [Pages.goesWith]
	Who     trade.Role     // the lowest role that may agree
	May     bool           // the person may agree
	Own     bool           // the person ordered it, or has agreed
	Proof   bool
	Reason  string
	Fault   string
}

func (p *Pages) approvalPage(q *web.Request) (page approvalPage, err error) {
	page.Waits, err = p.office.ReviewApproval(q.Context(), Number(q.PathValue("id")))
	if err != nil {
		return page, err
	}
	if page.Waits.Closing != nil {
		page.Closing = new(p.closingOf(q, *page.Waits.Closing, false))
	}
	page.Own = agreed(page.Approval, &q.Login.User)
	page.Who = office.RoleOfApproval(page.Approval)
	page.May = q.May(page.Who) && !page.Own && !page.Lapsed && !page.Review.Outdated &&
		page.Approval.Outcome == ""
	page.Proof = page.Approval.Act == acts.ActResend && !p.sessions.Proved(q)
	if job := page.Review.Job; job != nil && job.Before.Stop != nil {
		page.Stop = p.stopReleased(q, *job.Before.Stop)
		if job.Release != nil {
			page.Exists = p.office.Voice(q.Lang).Exists(job.Release.Exists)
		}
	}
	if page.Approval.Outcome == "" {
		page.Goes, page.Frees, err = p.goesWith(q, page.Planned.Order)
		if err == nil {
			page.Freed, err = p.office.Entries(q.Context(), page.Frees.Sample)
		}
		if err != nil {
			return page, err
		}
	}
	if page.Review.Rows != nil && !page.Review.Outdated {
		for _, s := range page.Review.Rows.Steps {
			if s.Refused != "" {
				continue
			}
			page.Goes.Join(s.Sums())
			if len(page.Steps) == stepsShown {
				continue
			}
			step, err := p.stepOf(q, s)
			if err != nil {
				return page, err
			}
			page.Steps = append(page.Steps, step)
			if page.Approval.Act != acts.ActResend {
				continue
			}
			hints, err := p.office.Hints(q.Context(), s.Before, s.Attempts)
			if err != nil {
				return page, err
			}
			if hints.Full() > 0 {
				page.Exists = append(page.Exists, step.Shown+": "+q.Voice().T("approval.doubles"))
			}
		}
	} else {
		planned := page.Planned.Steps[:min(len(page.Planned.Steps), stepsShown)]
		ids := trade.Map(planned, func(s acts.PlannedStep) int64 { return s.ID })
		entries, err := p.office.Entries(q.Context(), ids)
		if err != nil {
			return page, err
		}
		for _, s := range planned {
			for _, e := range entries {
				if e.ID == s.ID {
					after := e.As(s.To)
					after.RemoteID = s.Given
					page.Then = append(page.Then, stepView{RowStep: acts.RowStep{
						Key: s.Key, Before: e.As(s.From), After: after,
					}})
				}
			}
		}
	}
	if len(page.Steps)+len(page.Then) > 0 {
		page.More = max(0, page.Planned.Rows-stepsShown)
	}
	return page, errors.Join(p.call(q, page.Steps), p.call(q, page.Then))
}

// call finds what the ERP calls the ids of the rows, for the person who compares them.
func (p *Pages) call(q *web.Request, steps []stepView) error {
	entries := trade.Map(steps, func(s stepView) trade.Entry { return s.Before })
	sides, err := p.office.FieldsOf(q.Context(), entries)
	for i, of := range sides {
		steps[i].codes = map[string]string{}
		for _, f := range of.Fields {
			if f.Sent != nil && len(f.Columns) > 0 && !f.Secret && !f.Differs && f.Line() != *f.Sent {
				steps[i].codes[*f.Sent] = f.Line()
			}
			for _, code := range []trade.Reference{f.Code, f.NowCode} {
				if code.ID != "" {
					steps[i].codes[code.ID] = code.Shown()
				}
			}
		}
	}
	return err
}

func (p *Pages) showApproval(q *web.Request) error {
	page, err := p.approvalPage(q)
	return q.Show("approval", page, err)
}

// answerApproval answers an act that waits for consent with a person's consent or refusal, and its reason.
// The person who ordered it may refuse it, too.
func (p *Pages) answerApproval(agrees bool) func(*web.Request) error {
	return func(q *web.Request) error {
		answer, text := p.office.Decline, "approvals.declined"
		if agrees {
			answer, text = p.office.Approve, "approvals.done"
		}
		page, err := p.approvalPage(q)
		if err != nil {
			return err
		}
		page.Reason, page.Fault = Reason(q)
		if page.Fault == "" && agrees && page.Approval.Act == acts.ActResend {
			page.Fault, err = p.sessions.Prove(q, q.PostForm.Get("password"))
			if err != nil {
				return err
			}
		}
		if page.Fault != "" {
			return q.Page(http.StatusUnprocessableEntity, "approval", page)
		}
		done, err := answer(q.Context(), page.Approval.ID, q.Person(page.Reason))
		switch {
		case err != nil:
			return err
		case done.Refused == "" && done.Waits > 0 && agrees:
			text = "approvals.agreed"
		case done.Refused == "":
		case done.Refused == acts.NotAsked: // another person was first
			text = "approvals.not_asked"
		case done.Done || len(done.Approval.People) >= done.Approval.Needs: // the act no longer waits
			text = "approvals.moved"
		default:
			page.Fault = "approval.refused." + string(done.Refused)
			return q.Page(http.StatusConflict, "approval", page)
		}
		return q.Done(text, "/approvals")
	}
}
