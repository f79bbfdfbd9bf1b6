package console_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// keyReader is an engine without rows that reads keys when it is told that somebody will search.
type keyReader struct {
	noDesk
	read func()
}

func (k keyReader) ExpectSearch() { k.read() }

// A search that has not come to its end says so, on the page, and the next one has all rows. Where it has, nothing of that is there.
func TestASearchThatIsNotAtItsEndSaysSo(t *testing.T) {
	s := openStore(t, state.SQLite)
	fillKeys(t, s, 4300)
	var expected gosync.WaitGroup
	w := newWorld(t, s, func(o *console.Options) {
		o.Patience = 1
		o.Desk = keyReader{read: func() {
			expected.Go(func() {
				if err := s.ReadKeys(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}}
	}).withPeople()
	t.Cleanup(expected.Wait)
	b := w.as(trade.Reader)
	const path = "/rows?q=%7C00000001" // rows 10 to 19, which are not among the newest 4,096
	b.get(path).wants(http.StatusOK, "A busca olhou 4.096 de 4.300 linhas", `<a href="/rows?q=%7C00000001">Procurar de novo</a>`)
	if strings.Contains(b.body, "Nenhuma linha com este filtro") {
		t.Error("it says that there is no such row, which it does not know")
	}
	expected.Wait()
	w.console.Patience = time.Minute
	if b.get(path).wants(http.StatusOK); strings.Contains(b.body, "A busca olhou") || strings.Count(b.body, `<th scope="row">`) != 10 {
		t.Errorf("after all was read:\n%s", b.body)
	}
}

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

// readingDesk has not read what is stuck.
type readingDesk struct{ noDesk }

func (readingDesk) Stuck(context.Context, trade.Lang, bool) (console.Stuck, error) {
	return console.Stuck{Reading: 30_000}, nil
}

func TestPendingSaysThatRowsAreBeingRead(t *testing.T) {
	t.Parallel()
	b := newWorld(t, openStore(t, state.SQLite), func(o *console.Options) { o.Desk = readingDesk{} }).withPeople().as(trade.Reader)
	b.get("/pending?fixer=erp").wants(http.StatusOK, "As 30.000 linhas paradas estão sendo lidas", `href="/pending?fixer=erp">Ver agora</a>`)
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
		page.New = append(page.New, trade.Entry{Job: "contracts", Sends: trade.OrderCommitments, Key: key, State: trade.Invalid, SourceHash: trade.Hash{Sum: key}, PayloadHash: trade.Hash{Sum: key}})
	}
	if _, err := s.Record(t.Context(), lease, page); err != nil {
		t.Fatal(err)
	}
}
