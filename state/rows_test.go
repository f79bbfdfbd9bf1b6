package state

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// Each field of an entry has a column, or follows from one: what is not empty comes back as it was.
func TestAnEntryComesBackFromItsRowWithEveryField(t *testing.T) {
	t.Parallel()
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
		SourceHash: trade.HashOf([]byte("s")), MappedWith: "w", Target: "t", Payload: json.RawMessage(`{}`),
		PayloadHash: trade.HashOf([]byte("p")), Content: 11, GoneSweeps: 1, Version: 13,
		Acknowledged: trade.Flags{trade.MissingInERP}, AckValues: values,
		DecidedBy: trade.DecidedBy{RecordedBy: 17, ResentBy: 19}, Dismissal: &trade.Dismissal{From: trade.Invalid},
		Another: trade.HashOf([]byte("a")),
	}
	var err error
	full.Quantity = must.Get(quantityOf("1.5", "SC"))(t)
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		// An entry that holds something has no time at which it was reduced; its newest fingerprints,
		// its ids and who decided are stored with its record.
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "ReducedAt" && name != "Newest" {
			t.Errorf("this test gives field %s no value: give it one, and RowOf a column", name)
		}
	}
	row := readRow{
		entryRow: *must.Get(entryRowOf(full, at))(t), OwnID: textOrNull("r"), GivenID: textOrNull("m"),
		DecidedBy: numberOrNull(17),
	}
	got, err := row.Entry()
	if diff := cmp.Diff(full, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
