package refs

import (
	"context"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
)

// Proposal returns a proposed code of a de-para in the form in which it is stored until somebody
// else agrees. The mark covers the id that the code has now.
func Proposal(ctx context.Context, store *state.Store, kind, code, id string) (acts.Planned, string, error) {
	all, _, err := store.References(ctx)
	o := acts.Order{Act: acts.ActSetCode, Job: kind, Keys: []string{code}, ID: id}
	return acts.Planned{Order: o, Rows: 1}, acts.MarkOf(o, all[kind][code]), err
}

// ApprovableIn returns the act with which a proposed code is approved, on the ledger that open
// returns.
func ApprovableIn(open func(context.Context) (*state.Store, error)) acts.OtherAct {
	return acts.OtherAct{
		Mark: func(ctx context.Context, o acts.Order) (string, error) {
			store, err := open(ctx)
			if err != nil {
				return "", err
			}
			_, mark, err := Proposal(ctx, store, o.Job, o.Keys[0], o.ID)
			return mark, err
		},
		Do: func(ctx context.Context, o acts.Order, _ string, who acts.Person) (bool, error) {
			store, err := open(ctx)
			if err != nil {
				return false, err
			}
			record, err := who.Record(cli.Now(), o.Act, o.Job, nil)
			if err != nil {
				return false, err
			}
			_, _, err = store.ImportReferences(ctx, o.Job, map[string]string{o.Keys[0]: o.ID}, nil, record)
			return err == nil, err
		},
	}
}

// Approvable is ApprovableIn for the command line.
func Approvable(a *cli.App) acts.OtherAct {
	return ApprovableIn(func(ctx context.Context) (*state.Store, error) { return a.OpenLedger(ctx, cli.ToWrite) })
}
