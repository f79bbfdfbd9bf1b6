package console_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// What no key can have is a wrong address, on both databases, and no fault of the server.
func TestAFilterThatIsNoTextIsRefused(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{state.SQLite, state.Postgres} {
		s := openStore(t, driver)
		fillKeys(t, s, 1)
		b := newWorld(t, s).withPeople().as(trade.Reader)
		for _, query := range []string{"q=a%00b", "q=%ff", "job=%ff", "job=a%00", "cause=%ff&state=invalid"} {
			b.get("/rows?" + query).wants(http.StatusBadRequest)
		}
	}
}

// reading has not read what is stuck.
type reading struct{ noCauses }

func (reading) Stuck(context.Context, trade.Lang, bool) (console.Stuck, error) {
	return console.Stuck{Reading: 30_000}, nil
}

func TestPendingSaysThatRowsAreBeingRead(t *testing.T) {
	t.Parallel()
	b := newWorld(t, openStore(t, state.SQLite),
		func(o *console.Options) { o.Ports.Causes = reading{} }).withPeople().as(trade.Reader)
	b.get("/pending?fixer=erp").wants(http.StatusOK, "As 30.000 linhas paradas estão sendo lidas",
		`href="/pending?fixer=erp">Ver agora</a>`)
	if strings.Contains(b.body, "Nada parado") {
		t.Error("it says that nothing is stuck, which it does not know")
	}
}

// fillKeys records rows that are invalid, with numbers from 1 on.
func fillKeys(t *testing.T, s *state.Store, rows int) {
	t.Helper()
	lease, err := s.AcquireLease(t.Context(), "contracts", state.Self())
	if err != nil {
		t.Fatal(err)
	}
	var page trade.Page
	for i := range rows {
		key := fmt.Sprintf("01|%09d", i+1)
		page.New = append(page.New, trade.Entry{
			Job: "contracts", Sends: trade.OrderCommitments, Key: key,
			State: trade.Invalid, SourceHash: trade.HashOf(key), PayloadHash: trade.HashOf(key),
		})
	}
	if _, err := s.Record(t.Context(), lease, page); err != nil {
		t.Fatal(err)
	}
}
