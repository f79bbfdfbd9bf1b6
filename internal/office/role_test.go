package office

import (
	"errors"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/i18n"
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
	orders := map[string]func(trade.Person) error{
		acts.ActDismiss: func(who trade.Person) error {
			plan, err := o.Plan(ctx, on(acts.ActDismiss, key))
			if err == nil {
				_, err = o.DoShown(ctx, plan, who)
			}
			return err
		},
		acts.ActReopen: func(who trade.Person) error {
			plan, err := o.PlanMany(ctx, []acts.Order{on(acts.ActReopen, key)}, nil, who)
			if err == nil {
				_, err = o.DoMany(ctx, plan.Mark, who)
			}
			return err
		},
		acts.ActPause: func(who trade.Person) error {
			plan, err := o.PlanJob(ctx, on(acts.ActPause), who)
			if err == nil {
				_, err = o.DoJob(ctx, plan, who)
			}
			return err
		},
		acts.ActResync: func(who trade.Person) error {
			_, err := o.OrderResync(ctx, ResyncPlan{Order: on(acts.ActResync)}, who)
			return err
		},
		acts.ActSetCode: func(who trade.Person) error {
			_, _, err := o.SetReferences(ctx, "wallets",
				map[string]string{"12": "33333333-3333-4333-8333-333333333312"}, nil, acts.ActSetCode, who)
			return err
		},
	}
	for act, order := range orders {
		before := len(must.Get(o.store.Audit(ctx, 0))(t))
		for _, role := range append([]trade.Role{""}, trade.Roles...) {
			may := role.May(acts.Order{Act: act}.Role())
			err := order(trade.Person{Name: "ana", Reason: "conferido", Role: role})
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

func TestAResyncToWhichOthersAgreedAsksTheRoleToo(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o, order := open(), acts.Order{Act: acts.ActResync, Job: "contracts"}
	who := trade.Person{Name: "ana", Reason: "conferido", Role: trade.Reader}
	recorded := o.RecordResync(t.Context(), ResyncPlan{Order: order}, who)
	_, done := o.Resync(t.Context(), order, "", who)
	if !errors.Is(recorded, trade.ErrRole) || !errors.Is(done, trade.ErrRole) {
		t.Errorf("recorded: %v; done: %v", recorded, done)
	}
}

// Everybody may change the own password, and nothing else of the own user.
func TestOnlyAdministratorsChangePeople(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o, ctx := open(), t.Context()
	by := func(name string, role trade.Role) trade.Person { return trade.Person{Name: name, Role: role} }
	for _, name := range []string{"ana", "lia", "rui"} {
		user := trade.User{Name: name, Role: trade.Administrator, Password: "x"}
		if err := o.AddUser(ctx, user, by(name, trade.Accountant)); !errors.Is(err, trade.ErrRole) {
			t.Errorf("an accountant adds a user: %v", err)
		}
		must.Do(t, o.AddUser(ctx, user, by("ana", trade.Administrator)))
	}
	tests := map[string]struct {
		who    trade.Person
		change func(*trade.User)
		may    bool
	}{
		"own password":        {by("lia", trade.Reader), func(u *trade.User) { u.Password = "y" }, true},
		"password of another": {by("rui", trade.Accountant), func(u *trade.User) { u.Password = "y" }, false},
		"own role":            {by("lia", trade.Accountant), func(u *trade.User) { u.Role = trade.Accountant }, false},
		"role of another":     {by("ana", trade.Administrator), func(u *trade.User) { u.Role = trade.Reader }, true},
	}
	for name, test := range tests {
		before := must.Get(o.User(ctx, "lia"))(t)
		after := before
		test.change(&after)
		done, err := o.ChangeUser(ctx, before, after, "user change", test.who)
		if done != test.may || !test.may && !errors.Is(err, trade.ErrRole) || test.may && err != nil {
			t.Errorf("%s: %t, %v", name, done, err)
		}
	}
}

func TestABrakeTellsPeopleWithABrowserNoCommand(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	one := &trade.Freight{Load: trade.Load{Rows: 1}}
	found := map[string]trade.Brake{
		"changed_key":   {Was: &trade.Identity{}, Identity: &trade.Identity{}},
		"most":          {Freight: one, Most: one},
		"new_job.space": {Was: &trade.Identity{}, Identity: &trade.Identity{Space: "old"}},
	}
	for _, name := range i18n.Sentences.Names("stop.brake_") {
		brake := found[name]
		brake.Job = "contracts"
		code, _, _ := strings.Cut("brake_"+name, ".")
		stop := trade.Stop{Code: code, Brake: &brake}
		if name == "new_job.others" {
			stop.Why = trade.Say("stop.brake_new_job.others", "job", "contracts", "other", "b", "space", "", "was", "")
		}
		for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
			told := o.AdviseStop(&stop, lang).What
			if command := "safrasync sync --record-only contracts"; name == "new_journal" {
				if !strings.Contains(told, command) { // no button does the same
					t.Errorf("%s in %s does not say what IT does: %q", name, lang, told)
				}
				told = strings.ReplaceAll(told, command, "")
			}
			if strings.HasPrefix(name, "new_rows") { // one sentence, without keys of rows or of the configuration
				if lang == trade.Portuguese && told != "0 linhas novas de uma vez; a trava age acima de 0. Nada foi enviado." {
					t.Errorf("%s: %q", name, told)
				}
				continue
			}
			if len(told) < 80 || strings.Contains(told, "`") || strings.Contains(told, "safrasync ") {
				t.Errorf("%s in %s: %q", name, lang, told)
			}
		}
	}
}
