package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// A page does not wait for a report that takes long: it says so, and refreshes itself, without a
// script too, until the report is there. Another report has to wait for that one.
func TestAPageThatWaitsForItsReportSaysSo(t *testing.T) {
	t.Parallel()
	store := must.Get(state.OpenMemory(t.Context()))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	w := consoletest.New(t, store,
		func(o *consoletest.Options) { o.ReportPatience = time.Nanosecond }).WithPeople()
	began, release, given := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { // the report of somebody else
		given <- w.Office.Report(t.Context(), office.ReportQuery{}, func(*reconcile.Snapshot) error {
			close(began)
			<-release
			return nil
		})
	}()
	<-began
	b := w.As(trade.Reader)
	b.Get("/report?show=1").Wants(http.StatusOK, "Outro relatório está sendo feito",
		`<meta http-equiv="refresh" content="1">`)
	b.Get("/report?show=1&product=MILHO").Wants(http.StatusOK, "Outro relatório está sendo feito",
		`<meta http-equiv="refresh" content="1">`)
	close(release)
	if err := <-given; err != nil {
		t.Fatal(err)
	}
	for b.Get("/report?show=1"); strings.Contains(b.Body, `http-equiv="refresh"`); b.Get("/report?show=1") {
		if !strings.Contains(b.Body, "Outro relatório está sendo feito") { // that one ends after its reader
			b.Wants(http.StatusOK, "Esta página se atualiza sozinha", `role="status"`)
		}
	}
	b.Wants(http.StatusOK, "Resumo")
}
