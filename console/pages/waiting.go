package pages

import (
	"context"
	"errors"
	"slices"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Waiting returns how many items wait on each page of the menu, by its path, from the ledger's
// sums. Of the acts that wait for consent it counts those to which the person may agree. If
// they cannot be read it returns nil: pages then have no counts, and their own reads report the fault.
func (p *Pages) Waiting(ctx context.Context, user *trade.User) map[string]int {
	waits, err := p.office.Approvals(ctx)
	changed, _, changedErr := p.office.ChangedCounts(ctx)
	pending, doubts, pendingErr := p.office.Needing(ctx)
	alerts, alertsErr := p.office.OpenAlerts(ctx)
	if errors.Join(err, changedErr, pendingErr, alertsErr) != nil {
		return nil
	}
	counts := map[string]int{"/changed": changed, "/pending": pending, "/doubts": doubts, "/alerts": alerts}
	for _, a := range waits {
		if mayApprove(a, user) {
			counts["/approvals"]++
		}
	}
	return counts
}

// mayApprove reports whether a person may agree to an act: the role allows it, and the person neither
// ordered it nor agreed already.
func mayApprove(a trade.Approval, user *trade.User) bool {
	return user != nil && user.Role.May(office.RoleOfApproval(a)) && !agreed(a, user)
}

// agreed reports whether a person ordered an act or agreed to it.
func agreed(a trade.Approval, user *trade.User) bool {
	return slices.ContainsFunc(a.People, func(c trade.Consent) bool { return c.Name == user.Name })
}

// request is an act that waits for consent, as the person sees it who reads of it.
type request struct {
	trade.Approval
	For string // whom it waits for, as a part of a phrase's key: you, accountant, administrator
	// it sends again what the platform seems to have
	Doubles bool
}

// askedFor returns the acts that wait for consent and are about a row; of the key "" those that release the
// job, or are about a code of the de-para.
func (p *Pages) askedFor(q *web.Request, job, key string) ([]request, error) {
	all, err := p.office.Approvals(q.Context())
	if err != nil {
		return nil, err
	}
	var out []request
	for _, a := range all {
		if key == "" && a.Act != acts.ActRelease && a.Act != acts.ActSetCode {
			continue
		}
		planned, _ := acts.PlannedOf(a) // a damaged one is about nothing
		if planned.Order.Job == job && (key == "" || slices.Contains(planned.Order.Keys, key)) {
			one := request{Approval: a, For: string(office.RoleOfApproval(a))}
			if mayApprove(a, &q.Login.User) {
				one.For = "you"
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// Titles returns the titles of jobs for people.
func (p *Pages) Titles(lang trade.Lang) trade.Titles { return p.office.Titles(lang) }
