package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

func TestAStopByTheERPSaysWhichQueryFailed(t *testing.T) {
	t.Parallel()
	cause := &erp.Error{
		Code: erp.CodeUnreachable, Job: "users", Text: phrase.New("coluna \"x\" não existe"), SQLState: "42P01",
	}
	s := StopOf(&QueryError{Where: trade.Say("query.references", "kind", "users"), Err: cause})
	if want := "the ERP cannot be read: references.users: " + cause.Text.Error(); s.Text() != want {
		t.Errorf("%q, want %q", s.Text(), want)
	}
	if got, want := s.Why.In(trade.Portuguese, time.UTC), "references.users: "+cause.Text.Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s = StopOf(fmt.Errorf("a run: %w", &QueryError{
		Where: trade.Say("query.other_job", "job", "b", "other", "a"), Err: cause,
	}))
	if got := s.Why.In(trade.Portuguese, time.UTC); !strings.HasPrefix(got,
		"a rotina b é nova, e as linhas da rotina a não podem ser lidas: ") {
		t.Errorf("%q", got)
	}
}

func TestALedgerThatMayNotBeSentFromStopsAllJobs(t *testing.T) {
	t.Parallel()
	s := StopOf(errors.New("the ledger is on timeline 2"))
	if s.Code != "ledger" || !s.All || !strings.Contains(s.Text(), "timeline 2") {
		t.Errorf("%+v", s)
	}
	s = StopOf(fmt.Errorf("%w (there): silent", trade.ErrUnwitnessed)) // each job awaits it by itself
	if s.Code != "witness" || s.All || !strings.Contains(s.Text(), "silent") {
		t.Errorf("%+v", s)
	}
}
