package sync_test

import (
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// shows makes people see the note of a contract.
func (b *bench) shows() {
	b.spec.Show = []mapping.ShowSpec{{Label: "contrato", Column: "num"}, {Label: "nota", Column: "obs"}}
}

// I3: what people are shown of a row never sends it, never flags it and never maps it again, in
// whatever state it is.
func TestI3AShownValueAloneNeitherSendsNorFlagsARow(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.shows()
		b.limits.MaxInFlight = 1
		b.api.SetFaults(faults(t, "lost-after@1", "status=422,empty@2")...)
		b.contracts(4)
		b.exec(`UPDATE contrato SET obs = 'Ana' || num`)
		b.exec(`UPDATE contrato SET quantidade = 0 WHERE num = '0003'`)
		b.sync(engine.Options{})
		b.api.SetFaults()
		before := map[int]trade.Entry{}
		for n := 1; n <= 4; n++ {
			before[n] = b.entry(n)
			if got := before[n].Shown.Line(); got != before[n].KeyParts[1].Text+" · Ana"+before[n].KeyParts[1].Text {
				t.Errorf("row %d is shown as %q", n, got)
			}
		}
		requests := b.api.Requests()
		b.exec(`UPDATE contrato SET obs = 'Rui' || num`)
		b.wants(b.sync(engine.Options{Sweep: true}), "sent 0, changed 0")
		for n := 1; n <= 4; n++ {
			e, old := b.entry(n), before[n]
			if !strings.Contains(e.Shown.Line(), "Rui") {
				t.Errorf("row %d is still shown as %q", n, e.Shown.Line())
			}
			if e.State != old.State || len(e.Flags) != len(old.Flags) || e.PayloadHash != old.PayloadHash ||
				e.SourceHash != old.SourceHash || e.Now != nil || !e.UpdatedAt.Equal(old.UpdatedAt) {
				t.Errorf("row %d was %s %v and is %s %v", n, old.State, old.Flags, e.State, e.Flags)
			}
		}
		if n := b.api.Requests() - requests; n > 1 { // the question before the first POST of a run
			t.Errorf("%d requests were sent", n)
		}
		version := b.entry(2).Version
		b.sync(engine.Options{Sweep: true})
		if e := b.entry(2); e.Version != version {
			t.Error("a sweep without news wrote the row again")
		}
	})
}

// What people are shown is taken with the values of a row, and does not come back by itself.
func TestF151WhatIsShownGoesWithTheValuesOfARow(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.shows()
		b.contracts(1)
		b.exec(`UPDATE contrato SET obs = 'Ana'`)
		b.sync(engine.Options{})
		erased := trade.AuditRecord{Who: "maria", From: "test", Act: "purge", Target: "producer", Reason: "her request"}
		if n, err := b.ledger.Erase(t.Context(), []int64{b.entry(1).ID}, nil, b.clock.Now(), erased); n != 1 ||
			err != nil {
			t.Fatal(n, err)
		}
		for _, name := range []string{"Ana", "Rui"} {
			b.exec(`UPDATE contrato SET obs = ?`, name)
			b.sync(engine.Options{Sweep: true})
			if e := b.entry(1); len(e.Shown.Texts) != 0 || e.ReducedAt.IsZero() || e.State != trade.Accepted {
				t.Errorf("after %s the row has %v", name, e.Shown)
			}
		}
	})
}

// I10: what people are shown of a row is in no log line and in no report of a run.
func TestI10WhatIsShownStandsInNoLog(t *testing.T) {
	b := newBench(t, sandbox.Options{})
	b.shows()
	core, seen := observer.New(zap.DebugLevel)
	b.log = zap.New(core)
	b.contracts(3)
	b.exec(`UPDATE contrato SET obs = 'segredo', quantidade = 0 WHERE num = '0002'`)
	b.exec(`UPDATE contrato SET obs = 'segredo' WHERE num = '0001'`)
	r := b.sync(engine.Options{})
	if text := b.entry(2).Error.Text(); strings.Contains(text, "segredo") {
		t.Errorf("the error says %q", text)
	}
	for _, line := range seen.All() {
		for name, value := range line.ContextMap() {
			text, _ := value.(string)
			if strings.Contains(text+line.Message, "segredo") {
				t.Errorf("the log says %s: %v", name, value)
			}
		}
	}
	if len(seen.All()) == 0 || r.Read != 3 {
		t.Error("there is no log")
	}
}
