package main

import (
	"context"
	"net/http"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	engine "github.com/safrasync/safrasync/sync"
)

// unreachable stands in for an ERP that could not be opened: every reading ends with the reason. A
// run then reports and records it as what stopped its jobs, like an ERP that goes away later.
type unreachable struct{ err error }

var _ engine.Source = unreachable{}

func (u unreachable) Columns(context.Context, string) ([]erp.Column, error) { return nil, u.err }

func (u unreachable) Read(context.Context, erp.Query, erp.Window, func(erp.Row) error) (erp.Result, error) {
	return erp.Result{}, u.err
}

func (u unreachable) ByKeys(context.Context, erp.Query, [][]erp.Value) ([]erp.Row, error) {
	return nil, u.err
}

func (u unreachable) Explain(context.Context, erp.Query, []string) (erp.Exclusion, error) {
	return erp.Exclusion{}, u.err
}

func (u unreachable) Table(context.Context, string, []string, func([]erp.Value) error) error {
	return u.err
}

// openSource connects to the ERP, or stands in for it with the reason why not.
func (a *App) openSource(ctx context.Context) (engine.Source, error) {
	source, err := a.openERP(ctx)
	if err != nil {
		return unreachable{err}, err
	}
	return source, nil
}

// passes tells whether a refusal of the webhooks says nothing about sending: the key works, only
// that module is not contracted or not there.
func passes(e *apiclient.Error) bool {
	return e.HasMessage("message.module.not-contracted") || e.Status == http.StatusNotFound && e.APIForm()
}
