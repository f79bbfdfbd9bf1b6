package cli

import (
	"context"
	"net/http"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/run"
)

// Unreachable stands in for an ERP that could not be opened: every reading ends with the reason. A
// run then reports and records it as what stopped its jobs, like an ERP that goes away later.
type Unreachable struct{ Err error }

var _ run.Source = Unreachable{}

// Columns returns why the ERP cannot be read.
func (u Unreachable) Columns(context.Context, string) ([]erp.Column, error) { return nil, u.Err }

// Read returns why the ERP cannot be read.
func (u Unreachable) Read(context.Context, erp.Query, erp.Window, func(erp.Row) error) (erp.Result, error) {
	return erp.Result{}, u.Err
}

// ByKeys returns why the ERP cannot be read.
func (u Unreachable) ByKeys(context.Context, erp.Query, [][]erp.Value) ([]erp.Row, error) {
	return nil, u.Err
}

// Explain returns why the ERP cannot be read.
func (u Unreachable) Explain(context.Context, erp.Query, []string) (erp.Exclusion, error) {
	return erp.Exclusion{}, u.Err
}

// Table returns why the ERP cannot be read.
func (u Unreachable) Table(context.Context, string, []string, func([]erp.Value) error) error {
	return u.Err
}

// OpenSource connects to the ERP, or stands in for it with the reason why not.
func (a *App) OpenSource(ctx context.Context) (run.Source, error) {
	source, err := a.OpenERP(ctx)
	if err != nil {
		return Unreachable{err}, err
	}
	return source, nil
}

// Passes tells whether a refusal of the webhooks says nothing about sending: the key works, only
// that module is not contracted or not there.
func Passes(e *apiclient.Error) bool {
	return e.HasMessage("message.module.not-contracted") || e.Status == http.StatusNotFound && e.APIForm()
}
