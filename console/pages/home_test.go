package pages_test

import (
	"net/http"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// The first page is read again for the season that is shown.
func TestTheFirstPageKeepsItsSeason(t *testing.T) {
	t.Parallel()
	b := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople().As(trade.Reader)
	b.Get("/?season=2025%2F2026").Wants(http.StatusOK, `hx-get="/?season=2025%2F2026"`)
	b.Get("/").Wants(http.StatusOK, `hx-get="/"`)
}
