package pages_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// A page that asks again for its report is answered while the file of another one is made: otherwise
// its report would be given up.
func TestAPageOfAReportDoesNotWaitForFiles(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	w.Pages.Reporting()
	b := w.As(trade.Accountant)
	b.Get("/report?show=1").Wants(http.StatusOK, "Resumo")
	b.Submit("/report/export", url.Values{"format": {"csv"}}).Wants(http.StatusTooManyRequests,
		"Outro relatório ou fechamento está sendo feito.", `action="/report/export"`, `name="format" value="csv"`)
	b.Get("/report/closings/01").Wants(http.StatusTooManyRequests, `<meta http-equiv="refresh" content="5">`,
		`href="/report/closings/01">Tentar de novo`)
	if log := w.Log.String(); log != "" {
		t.Errorf("the log has of a person who waits:\n%s", log)
	}
}

// A page of all seasons leads to pages of all seasons; what is no unit or measure is the first one.
func TestTheLinksOfAReportKeepItsSeasons(t *testing.T) {
	t.Parallel()
	b := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople().As(trade.Reader)
	b.Get("/report?show=1&to=2026-11-30&unit=kg&measure=value").Wants(http.StatusOK,
		`href="/report?harvest=&amp;measure=value&amp;to=2026-11-30&amp;unit=sc"`,
		`href="/report?harvest=&amp;measure=value&amp;to=2026-11-30&amp;unit=t" aria-current="page"`)
	b.Get("/report?harvest=2025&show=1").Wants(http.StatusOK, `href="/report?harvest=2025&amp;unit=sc"`)
}

// While the seasons are counted the page says so, and not that another report is made.
func TestAReportSaysThatTheSeasonsAreCounted(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite), func(o *consoletest.Options) {
		o.ReportPatience = time.Nanosecond
	}).WithPeople()
	began, release, given := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { // the count waits for the report of somebody else
		given <- w.Office.Report(t.Context(), office.ReportQuery{}, func(*reconcile.Snapshot) error {
			close(began)
			<-release
			return nil
		})
	}()
	<-began
	w.As(trade.Reader).Get("/report").Wants(http.StatusOK, `role="status" hx-get="/report?"`,
		"Os documentos estão sendo somados.")
	close(release)
	if err := <-given; err != nil {
		t.Error(err)
	}
}
