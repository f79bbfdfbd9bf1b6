package office

import (
	"context"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// AddUser adds a user of the console. It returns trade.ErrTaken if the name is taken.
func (o *Office) AddUser(ctx context.Context, user trade.User, who acts.Person) error {
	if !who.Role.May(trade.Administrator) {
		return trade.ErrRole
	}
	record, err := who.Record(o.now(), "user add", user.Name, map[string]trade.Role{"role": user.Role})
	if err != nil {
		return err
	}
	return o.store.AddUser(ctx, user, record)
}

// ChangeUser changes a user and ends all sessions of that user. It returns false if the user was changed
// meanwhile, trade.ErrNobody if there is none, and trade.ErrLastAdministrator if no administrator would
// be left.
func (o *Office) ChangeUser(ctx context.Context, name, act string, change func(*trade.User) error,
	who acts.Person,
) (done bool, err error) {
	if !who.Role.May(trade.Administrator) {
		return false, trade.ErrRole
	}
	user, err := o.store.User(ctx, name)
	if err != nil {
		return false, err
	}
	before := user
	if err := change(&user); err != nil {
		return false, err
	}
	view := func(u trade.User) map[string]any {
		out := map[string]any{"role": u.Role, "disabled": u.Disabled}
		if u.Issuer != "" {
			out["issuer"], out["subject"] = u.Issuer, u.Subject
		}
		return out
	}
	record, err := who.Record(o.now(), act, name, map[string]any{"before": view(before), "after": view(user)})
	if err != nil {
		return false, err
	}
	return o.store.ChangeUser(ctx, user, record)
}
