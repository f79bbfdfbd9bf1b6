package state

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Each field of an entry has a column, or follows from one: what is not empty comes back as it was.
func TestAnEntryComesBackFromItsRowWithEveryField(t *testing.T) {
	at := time.Date(2026, 7, 21, 10, 30, 0, 0, time.UTC)
	cell := trade.Cell{Kind: 't', Text: " 012.345"}
	values := trade.Values{"num": cell}
	full := trade.Entry{
		ID: 7, Job: "contracts", Sends: trade.OrderCommitments, Key: "01|7",
		KeyParts: []trade.Cell{cell}, State: trade.Dismissed, Cause: "unknown", RecordID: 23,
		RemoteID: "r", MovedID: "m", Flags: trade.Flags{trade.Changed}, Generation: 2, Attempts: 3, NextAttemptAt: at,
		FirstSeenAt: at,
		UpdatedAt:   at, Error: &trade.EntryError{Kind: trade.APIError}, WaitingFor: []trade.Awaited{{Ref: "wallets"}},
		Warnings: []trade.Problem{{Field: "payday"}}, Values: values, Shown: trade.Shown{Mark: 5}, Now: values,
		Facts:      trade.Facts{Product: "SOJA", Branch: "01"},
		SourceHash: trade.HashOf([]byte("s")), MappedWith: "w", Target: "t", Payload: json.RawMessage(`{}`),
		PayloadHash: trade.HashOf([]byte("p")), Content: 11, GoneSweeps: 1, Version: 13,
		Acknowledged: trade.Flags{trade.MissingInERP}, AckValues: values,
		DecidedBy: trade.DecidedBy{RecordedBy: 17, ResentBy: 19}, Dismissal: &trade.Dismissal{From: trade.Invalid},
		DeclaredDistinct: trade.HashOf([]byte("a")),
	}
	full.Quantity = trade.Quantity{Amount: must.Get(trade.ParseDecimal("1.5"))(t), Unit: "SC"}
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		// An entry that holds something has no time at which it was reduced; its newest fingerprints,
		// what it is seen as, its ids and who decided are stored with records, and the fingerprints of
		// the payload are computed.
		elsewhere := []string{"ReducedAt", "Newest", "Sightings", "Printed"}
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains(elsewhere, name) {
			t.Errorf("this test gives field %s no value: give it one, and RowOf a column", name)
		}
	}
	both(t, func(t *testing.T, s *Store) {
		want := full
		want.MovedID = ""
		if diff := cmp.Diff(want, stored(t, s, full, full.ID)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		want.RemoteID, want.MovedID = "", full.RemoteID // another row has the record now
		if diff := cmp.Diff(want, stored(t, s, full, full.ID+1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// stored returns an entry as it is read after it was written, without what the database refuses. Its
// record has the id r and belongs to a row.
func stored(t must.T, s *Store, e trade.Entry, owner int64) trade.Entry {
	ctx := context.Background()
	columns := slices.Concat(entryColumns, bodyColumns)
	must.Get(s.db.Write.Exec(`DROP TABLE IF EXISTS kept`))(t)
	must.Get(s.db.Write.Exec(`CREATE TABLE kept AS SELECT * FROM entry JOIN body ON entry_id = id WHERE id = 0`))(t)
	must.Do(t, s.db.InTx(ctx, "test", func(t *sqldb.Tx) error {
		return t.InsertRows("kept", columns, [][]any{sqldb.Pick(entryRowOf(e, at), columns)}, "")
	}))
	record := fmt.Sprintf("LEFT JOIN (SELECT 23 AS id, %d AS entry_id, 'r' AS remote_id, 17 AS decided_by) r", owner)
	query := strings.NewReplacer(
		"FROM entry e JOIN body b", "FROM kept e JOIN kept b", "LEFT JOIN sent r", record,
	).Replace(selectEntry)
	var out []trade.Entry
	must.Do(t, s.db.All(ctx, "test", &out, query))
	return out[0]
}

func TestAnEntryAndItsRowAreTheSame(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.Custom(func(t *rapid.T) trade.Cell {
			if rapid.Bool().Draw(t, "null") {
				return trade.Cell{}
			}
			return trade.Cell{Kind: rapid.SampledFrom([]byte("tnd")).Draw(t, "kind"), Text: text(t)}
		})
		e := trade.Entry{
			ID: rapid.Int64Range(1, 1e15).Draw(t, "id"), Job: text(t), Sends: trade.OrderCommitments, Key: text(t),
			KeyParts: rapid.SliceOf(cell).Draw(t, "parts"),
			State:    rapid.SampledFrom(trade.States).Draw(t, "state"), Cause: text(t),
			Flags:      rapid.SliceOf(rapid.SampledFrom([]trade.Flag{trade.Changed, trade.Twin})).Draw(t, "flags"),
			Generation: rapid.IntRange(1, 3).Draw(t, "generation"), Attempts: rapid.IntRange(0, 9).Draw(t, "attempts"),
			FirstSeenAt: moment(t), UpdatedAt: moment(t),
			Values:     rapid.MapOf(rapid.StringMatching(`[a-z]{1,5}`), cell).Draw(t, "values"),
			SourceHash: anyHash(t), MappedWith: text(t), PayloadHash: anyHash(t), Quantity: anyQuantity(t),
			GoneSweeps: rapid.IntRange(0, 3).Draw(t, "gone"),
			Version:    rapid.Int64Range(1, 1e9).Draw(t, "version"),
		}
		if rapid.Bool().Draw(t, "next") {
			e.NextAttemptAt = moment(t)
		}
		if rapid.Bool().Draw(t, "payload") {
			e.Payload = json.RawMessage(`{"amount": 1.50, "x":"` + "ç" + `"}`)
		}
		if rapid.Bool().Draw(t, "error") {
			e.Error = &trade.EntryError{
				Kind: trade.APIError, Status: 400, Messages: []string{text(t)},
				Fields: []trade.Problem{{Field: text(t), Value: text(t)}},
				Why:    trade.Say("cause.said", "text", text(t)), Weak: true,
			}
			e.WaitingFor = []trade.Awaited{{Ref: text(t), Code: text(t)}, {Platform: "wallets", ID: text(t)}}
			e.Warnings = []trade.Problem{{Field: text(t), Severity: trade.Warning}}
		}
		got := stored(t, s, e, 0)
		if diff := cmp.Diff(e, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("entry → row → entry (-want +got):\n%s", diff)
		}
	})
}
