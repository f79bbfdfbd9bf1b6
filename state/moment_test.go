package state

import (
	"context"
	"errors"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// What is read of a moment is of that moment, while others write and read what they wrote.
func TestAMomentStandsStillWhileOthersWrite(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease, newEntry("1"))
		at := must.Get(s.Moment(t.Context()))(t)
		keys := func(from *Store) (out []string) {
			t.Helper()
			must.Do(t, from.Rows(t.Context(), trade.RowQuery{Jobs: []string{"contracts"}}, func(e trade.Entry) error {
				out = append(out, e.Key)
				return nil
			}))
			return out
		}
		if got := keys(at); len(got) != 1 {
			t.Fatalf("it has %q", got)
		}
		mustRecord(t, s, lease, newEntry("2"))
		if now, then := keys(s), keys(at); len(now) != 2 || len(then) != 1 {
			t.Errorf("the ledger has %q, the moment %q", now, then)
		}
		must.Do(t, at.Close())
		if _, err := at.KindsOf(t.Context()); err == nil {
			t.Error("it is read after its end")
		}
		if got := must.Get(s.KindsOf(t.Context()))(t)["contracts"]; len(got) != 1 || got[0] != trade.OrderCommitments {
			t.Errorf("the job has entries of %q", got)
		}
	})
}

// A moment writes nothing, and says when its time is over.
func TestAMomentOnlyReads(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx, end := context.WithCancelCause(t.Context())
		at := must.Get(s.Moment(ctx))(t)
		defer func() { must.Do(t, at.Close()) }()
		var refused *Error
		err := at.AppendAudit(t.Context(), anAct("x"))
		if !errors.As(err, &refused) || refused.Code != sqldb.CodePermission {
			t.Errorf("it writes: %v", err)
		}
		end(sqldb.TookLonger("reading", 1))
		for err = nil; err == nil; { // its transaction ends soon
			_, err = at.Jobs(t.Context())
		}
		if !errors.As(err, &refused) || refused.Code != sqldb.CodeTimeout {
			t.Errorf("it is read although its time is over: %v", err)
		}
	})
}
