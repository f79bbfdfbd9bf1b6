package pages_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/state"
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
	b.Submit("/report/export", url.Values{"format": {"csv"}}).Wants(http.StatusServiceUnavailable)
}
