package office

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

// AddUser adds a user of the console. It returns trade.ErrNameTaken if the name is taken.
func (o *Office) AddUser(ctx context.Context, user trade.User, who trade.Person) error {
	if err := mayRole(who, trade.Administrator); err != nil {
		return err
	}
	return o.AddFromIssuer(ctx, user, map[string]trade.Role{"role": user.Role}, who)
}

// ChangeUser changes a user, as it was read before, and ends all sessions of that user. Everybody may
// change the own password, and administrators everything. It returns false if the user was changed
// meanwhile, trade.ErrNameTaken if another user has the subject, and trade.ErrLastAdministrator if no
// administrator would be left.
func (o *Office) ChangeUser(ctx context.Context, before, after trade.User, act string, who trade.Person,
) (done bool, err error) {
	own := before
	own.Password, own.PasswordAt = after.Password, after.PasswordAt
	own.FirstPassword = own.FirstPassword && after.FirstPassword
	if !who.Role.May(trade.Administrator) && (who.Name != before.Name || after != own) {
		return false, trade.ErrRole
	}
	view := func(u trade.User) map[string]any {
		out := map[string]any{"role": u.Role, "disabled": u.Disabled}
		if u.Issuer != "" {
			out["issuer"], out["subject"] = u.Issuer, u.Subject
		}
		return out
	}
	return o.ChangeFromIssuer(ctx, after, act, map[string]any{"before": view(before), "after": view(after)}, who)
}

// AddFromIssuer adds a user for whom the issuer of logins vouches, whoever it is; told is what it said,
// for the audit. It returns trade.ErrNameTaken if another user has the name or the subject.
func (o *Office) AddFromIssuer(ctx context.Context, user trade.User, told any, who trade.Person) error {
	record, err := who.Record(o.now(), "user add", user.Name, told)
	if err != nil {
		return err
	}
	return o.store.AddUser(ctx, user, record)
}

// ChangeFromIssuer changes a user as the issuer of logins says; told is what it said, for the audit. All
// sessions of the user end. It returns false if the user was changed meanwhile.
func (o *Office) ChangeFromIssuer(ctx context.Context, user trade.User, act string, told any, who trade.Person,
) (done bool, err error) {
	record, err := who.Record(o.now(), act, user.Name, told)
	if err != nil {
		return false, err
	}
	return o.store.ChangeUser(ctx, user, record)
}
