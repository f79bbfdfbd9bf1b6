package acts

import (
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// areIndependent reports whether none of the people of an approval could have acted as another one: whether
// no account of theirs was created, or got another password, role or login, by another of them, or
// by an account that another one of them had so in his hands. What was changed longer before the
// order than trade.AccountsSettle does not count.
func (a *Acts) areIndependent(ctx context.Context, people []trade.Consent) (bool, error) {
	changes, err := a.Approvals.AccountChanges(ctx, people[0].At.Add(-trade.AccountsSettle))
	if err != nil {
		return false, err
	}
	for _, one := range people {
		hands := []trade.Consent{one} // whom this person could have been, in the order of time
		for _, c := range changes {
			if !slices.ContainsFunc(hands, func(h trade.Consent) bool { return didChange(h, c) }) {
				continue
			}
			taken := trade.Consent{Name: c.Target}
			for _, other := range people {
				if !samePerson(one, other) && samePerson(taken, other) {
					return false, nil
				}
			}
			hands = append(hands, taken)
		}
	}
	return true, nil
}

// didChange reports whether a person did an act: by the name, or by the account on the same host.
func didChange(c trade.Consent, r trade.AuditRecord) bool {
	from := func(s string) string { return strings.TrimPrefix(s, "--as: ") }
	return samePerson(c, trade.Consent{Name: r.Who}) ||
		c.From != "" && !strings.HasPrefix(c.From, "console ") && from(c.From) == from(r.From)
}

// samePerson reports whether two are the same person, as far as the program can know: by the name
// or the account of either.
func samePerson(a, b trade.Consent) bool {
	for _, mine := range []string{a.Name, a.Account} {
		if mine != "" && (strings.EqualFold(mine, b.Name) || strings.EqualFold(mine, b.Account)) {
			return true
		}
	}
	return false
}
