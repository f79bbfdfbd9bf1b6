package office

import (
	"errors"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

func TestAnOrderIsRefusedToWhoseRoleTheTableOfActsDoesNotAllowIt(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o, ctx := open(), t.Context()
	const job, key = "contracts", "01|000000"
	on := func(act string, keys ...string) acts.Order { return acts.Order{Act: act, Job: job, Keys: keys} }
	orders := map[string]func(acts.Person) error{
		acts.ActDismiss: func(who acts.Person) error {
			plan, err := o.Plan(ctx, on(acts.ActDismiss, key))
			if err == nil {
				_, err = o.DoShown(ctx, plan, who)
			}
			return err
		},
		acts.ActReopen: func(who acts.Person) error {
			plan, err := o.Plan(ctx, on(acts.ActReopen, key))
			if err == nil {
				_, err = o.Do(ctx, on(acts.ActReopen, key), plan.Mark(), who)
			}
			return err
		},
		acts.ActPause: func(who acts.Person) error {
			plan, err := o.PlanJob(ctx, on(acts.ActPause), who)
			if err == nil {
				_, err = o.DoJob(ctx, on(acts.ActPause), plan.Mark(), who)
			}
			return err
		},
		acts.ActResync: func(who acts.Person) error {
			_, err := o.OrderResync(ctx, ResyncPlan{Order: on(acts.ActResync)}, who)
			return err
		},
		acts.ActSetCode: func(who acts.Person) error {
			_, _, err := o.SetReferences(ctx, "wallets",
				map[string]string{"12": "33333333-3333-4333-8333-333333333312"}, nil, acts.ActSetCode, who)
			return err
		},
	}
	for act, order := range orders {
		before := len(must.Get(o.store.Audit(ctx, 0))(t))
		for _, role := range append([]trade.Role{""}, trade.Roles...) {
			may := role.May(acts.RoleOf(act))
			err := order(acts.Person{Name: "ana", Reason: "conferido", Role: role})
			if may && err != nil || !may && !errors.Is(err, trade.ErrRole) {
				t.Errorf("%s by %q: %v, allowed is %t", act, role, err, may)
			}
			if stands := len(must.Get(o.store.Audit(ctx, 0))(t)); !may && stands != before {
				t.Errorf("%s by %q, who may not, stands in the audit", act, role)
			}
			if may {
				break // the others may as well, and the act is done
			}
		}
	}
}
