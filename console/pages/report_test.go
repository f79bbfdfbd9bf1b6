package pages_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
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

// Several pages show one report at the same time.
func TestAPageLeavesItsReportAsItIs(t *testing.T) {
	t.Parallel()
	all := &paper.Report{
		Heading: reconcile.Heading{Head: reconcile.Head{Kind: reconcile.NowKind}},
		Sections: []paper.Table{{
			Section: paper.Section{ID: reconcile.BridgeSection, Columns: []paper.Column{{Lead: true}}},
			Rows:    []paper.Line{{Cells: []paper.Cell{{Text: "line"}}}},
		}},
	}
	shown := pages.Linked(all, view.NewVoice(trade.Portuguese, time.UTC), reconcile.Options{}, nil)
	if shown.Sections[0].Rows[0].Cells[0].Path == "" || all.Sections[0].Rows[0].Cells[0].Path != "" {
		t.Errorf("shown as %+v, of %+v", shown.Sections, all.Sections)
	}
}
