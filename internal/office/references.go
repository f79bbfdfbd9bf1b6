package office

import (
	"context"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
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
			record, err := who.Record(Now(), o.Act, o.Job, nil)
			if err != nil {
				return false, err
			}
			_, _, err = store.ImportReferences(ctx, o.Job, map[string]string{o.Keys[0]: o.ID}, nil, record)
			return err == nil, err
		},
	}
}

// Source returns where a kind is stored, as in JSON: ledger, erp or platform.
func Source(conf *config.Config, kind string) string {
	if kind == trade.ProducerByDocument {
		return "platform"
	}
	if _, fromERP := conf.References[kind]; fromERP {
		return "erp"
	}
	return "ledger"
}
