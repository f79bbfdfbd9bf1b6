package pages_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// What no key can have is a wrong address, on both databases, and no fault of the server.
func TestAFilterThatIsNoTextIsRefused(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{state.SQLite, state.Postgres} {
		s := consoletest.OpenStore(t, driver)
		fillKeys(t, s, 1)
		b := consoletest.New(t, s).WithPeople().As(trade.Reader)
		for _, query := range []string{"q=a%00b", "q=%ff", "job=%ff", "job=a%00", "cause=%ff&state=invalid"} {
			b.Get("/rows?" + query).Wants(http.StatusBadRequest)
		}
		for _, path := range []string{
			"/routines?job=%00", "/audit?who=%ff", "/changed?job=a%00",
			"/references/wallets?q=%00",
		} {
			b.Get(path).Wants(http.StatusBadRequest)
		}
		b.Get("/runs/%00").Wants(http.StatusNotFound)
	}
}

// seen is what was read of what is stuck.
type seen office.Stuck

func (s seen) Stuck(context.Context, trade.Lang, bool) (office.Stuck, error) {
	return office.Stuck(s), nil
}

func TestPendingSaysThatRowsAreBeingRead(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	w.Pages.Sees(seen{Reading: 30_000})
	b := w.As(trade.Reader)
	b.Get("/pending?who=accounting").Wants(http.StatusOK, "Os 30.000 documentos parados estão sendo lidos",
		`href="/pending?who=accounting">Ver agora</a>`)
	if strings.Contains(b.Body, "Nada parado") {
		t.Error("it says that nothing is stuck, which it does not know")
	}
}

func TestTheFirstPageSaysOfWhenItsNumbersAre(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	w.Pages.Sees(seen{At: w.Clock.Now().Add(-30 * time.Second)})
	w.As(trade.Reader).Get("/").Wants(http.StatusOK, "Situação de ", "está sendo lida de novo")
}

// fillKeys records rows that are invalid, with numbers from 1 on.
func fillKeys(t *testing.T, s *state.Store, rows int) {
	t.Helper()
	lease := must.Get(s.AcquireLease(t.Context(), "contracts", state.Self()))(t)
	var page trade.Page
	for i := range rows {
		key := fmt.Sprintf("01|%09d", i+1)
		page.New = append(page.New, trade.Entry{
			Job: "contracts", Sends: trade.OrderCommitments, Key: key,
			State: trade.Invalid, SourceHash: trade.HashOf(key), PayloadHash: trade.HashOf(key),
		})
	}
	must.Get(s.Record(t.Context(), lease, page))(t)
}
