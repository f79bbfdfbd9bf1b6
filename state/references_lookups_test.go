package state

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func TestLookupsAreKeptAndAFoundOneChangesTheVersionOfTheReferences(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		version := func() string {
			t.Helper()
			_, v, err := s.References(t.Context())
			must.Do(t, err)
			return v
		}
		record := func(answers ...trade.Lookup) {
			t.Helper()
			must.Do(t, s.RecordLookups(t.Context(), trade.ProducerByDocument, answers))
		}
		before := version()
		missing := trade.Lookup{
			Code: "a", Message: "message.producer.not-found", FirstAt: at, AskedAt: at,
			NextAt: at.Add(time.Hour), Tries: 1,
		}
		record(missing)
		record()
		if version() != before {
			t.Error("an answer without an id changed the references")
		}
		found := trade.Lookup{Code: "b", ID: "x", FirstAt: at, AskedAt: at, NextAt: at.Add(time.Hour)}
		record(found)
		if version() == before {
			t.Error("an id did not change the references: the rows that wait would not be mapped again")
		}
		missing.Tries, missing.AskedAt = 2, at.Add(time.Minute)
		record(missing)
		got, err := s.Lookups(t.Context(), trade.ProducerByDocument)
		if diff := cmp.Diff(map[string]trade.Lookup{"a": missing, "b": found}, got); diff != "" || err != nil {
			t.Errorf("lookups (-want +got):\n%s%v", diff, err)
		}
		if other, err := s.Lookups(t.Context(), "other"); len(other) != 0 || err != nil {
			t.Errorf("another kind has %v, %v", other, err)
		}
	})
}

func TestEachLedgerHasItsOwnKeyForLookups(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		first, err := mustOpen(t, b.empty(t)).LookupKey(t.Context()) // the tables that tests copy have one
		if err != nil || len(first) < 32 {
			t.Fatalf("key of %d bytes, %v", len(first), err)
		}
		other, err := mustOpen(t, b.empty(t)).LookupKey(t.Context())
		if err != nil || bytes.Equal(first, other) {
			t.Errorf("two ledgers have one key (%v)", err)
		}
	})
}

func TestAwaitingFindsTheRowsThatWaitForAKind(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		mustRecord(
			t, s, lease,
			newEntry("1"),
			short("2", trade.OrderCommitments, trade.Waiting, sacas("1"), wallet("1"), producer("7")),
			short("3", trade.OrderCommitments, trade.Invalid, sacas("1"), producer("7")),
			short("4", trade.OrderCommitments, trade.Waiting, sacas("1"), wallet("producers")),
		)
		var keys []string
		err := s.Awaiting(t.Context(), "contracts", "producers", func(e trade.Entry) error {
			keys = append(keys, e.Key)
			return nil
		})
		if diff := cmp.Diff([]string{"2"}, keys); diff != "" || err != nil {
			t.Errorf("(-want +got):\n%s%v", diff, err)
		}
	})
}
