package sync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Documents of nobody, with check digits that agree.
const (
	cpfA  = "52998224725"
	cpfB  = "01234567890"
	cnpjC = "12ABC34501DE35"
)

// newLookupBench makes a bench whose contracts name their producer by document.
func newLookupBench(t *testing.T, db database, world *sandbox.World, specs ...string) *bench {
	t.Helper()
	b := newBenchOn(t, db, sandbox.Options{World: world, Faults: faults(t, specs...)})
	b.exec(`ALTER TABLE contrato ADD COLUMN documento TEXT`)
	b.spec.Query = strings.Replace(b.spec.Query, "obs,", "obs, documento,", 1)
	b.spec.Fields["producer_id"] = mapping.FieldSpec{Columns: []string{"documento"}, Lookup: trade.ProducerByDocument}
	return b
}

func (b *bench) producer(num int, document string) {
	b.t.Helper()
	b.exec(
		`INSERT INTO contrato VALUES ('01', ?, ?, 120.5, 'soja', '1', 'aprovado', ?, '2026-07-01', '', '2026-03-10 08:00:00', ?)`,
		fmt.Sprintf("%04d", num), num, contractDay(num), document)
}

// lookups counts the questions that reached the platform.
func (b *bench) lookups() int {
	n := 0
	for request, count := range b.api.Counts() {
		if strings.Contains(request, "/producers/") {
			n += count
		}
	}
	return n
}

func TestAProducerIsLookedUpByDocumentOnceForEachDocument(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		world := sandbox.OpenWorld()
		a, c := uuid.NewString(), uuid.NewString()
		world.KnowProducer(a, cpfA)
		world.KnowProducer(c, cnpjC)
		b := newLookupBench(t, db, world)
		for i := 1; i <= 5; i++ {
			b.producer(i, []string{cpfA, "529.982.247-25", "12.abc.345/01de-35"}[i%3])
		}
		b.producer(6, "529.982.247-26") // a wrong check digit
		b.producer(7, " ")
		dry, err := b.engine().Sync(t.Context(), nil, engine.Options{DryRun: true})
		if err != nil || b.lookups() != 0 || dry[0].States[trade.Waiting] != 5 {
			t.Errorf("a dry run asked %d times: %+v, %v", b.lookups(), dry, err)
		}
		r := b.sync(engine.Options{})
		if r.Sent != 5 || r.Stopped != nil || len(r.Notes) != 0 || b.lookups() != 2 {
			t.Fatalf("sent %d, %d questions, stopped %+v, notes %q", r.Sent, b.lookups(), r.Stopped, r.Notes)
		}
		for _, record := range b.api.Created() {
			want := a
			if numberOf(t, record)%3 == 2 {
				want = c
			}
			if got := record.Fields["producer_id"]; got != want {
				t.Errorf("row %d was sent with producer %v, want %s", numberOf(t, record), got, want)
			}
		}
		e := b.expect(6, trade.Invalid, "rule:producer_id")
		if p := e.Error.Fields[0]; p.Rule != trade.RuleDocument || p.Value != "" ||
			strings.Contains(e.Error.Text(), "529") {
			t.Errorf("the refusal shows the document: %+v", e.Error)
		}
		b.expect(7, trade.Invalid, "rule:producer_id")
		b.producer(8, cpfA)
		if r := b.sync(engine.Options{Sweep: true}); r.Sent != 1 || b.lookups() != 2 || len(r.Flags) != 0 {
			t.Errorf("a known document: sent %d, %d questions, flags %v", r.Sent, b.lookups(), r.Flags)
		}

		// Another document of a row that was sent is a change of it.
		b.exec(`UPDATE contrato SET documento = ? WHERE num = '0001'`, cpfB)
		if r := b.sync(engine.Options{Sweep: true}); r.Flags[trade.Changed] != 1 || b.lookups() != 2 {
			t.Errorf("flags %v, %d questions", r.Flags, b.lookups())
		}
		answers, err := b.ledger.Lookups(t.Context(), trade.ProducerByDocument)
		if err != nil || len(answers) == 0 {
			t.Fatal(len(answers), err)
		}
		all := fmt.Sprintf("%+v", answers) // all text of the ledger
		for _, e := range b.entries(trade.RowQuery{}) {
			attempts := must.Get(b.ledger.Attempts(t.Context(), e.ID))(t)
			all += fmt.Sprintf("\n%+v %s %+v %+v", e, e.Payload, e.Error, attempts)
		}
		for _, document := range []string{cpfA, "529.982.247", cpfB, cnpjC, "12.abc.345"} {
			if strings.Contains(all, document) {
				t.Errorf("the ledger shows the document %s: %s", document, all)
			}
		}
	})
}

func TestAProducerThatThePlatformDoesNotHaveIsAskedForAtGrowingIntervals(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		world := sandbox.OpenWorld()
		a := uuid.NewString()
		world.KnowProducer(a, cpfA)
		world.Forget(sandbox.Producers, a)
		b := newLookupBench(t, db, world)
		b.producer(1, cpfA)
		b.producer(2, cpfA)
		b.producer(3, cpfB)
		asks := func(want int) trade.RunReport {
			t.Helper()
			before := b.lookups()
			r := b.sync(engine.Options{})
			if got := b.lookups() - before; got != want || r.Stopped != nil {
				t.Errorf("%d questions, want %d; stopped %+v, notes %q", got, want, r.Stopped, r.Notes)
			}
			return r
		}
		asks(2)
		b.expect(1, trade.Waiting, "ref:"+trade.ProducerByDocument)
		b.expect(3, trade.Accepted, "")
		asks(0)
		for _, wait := range []time.Duration{
			15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour,
			24 * time.Hour,
		} {
			b.clock.advance(wait - time.Minute)
			asks(0)
			b.clock.advance(2 * time.Minute)
			asks(1)
		}
		b.clock.advance(46 * 24 * time.Hour)
		asks(1)
		b.clock.advance(7*24*time.Hour - time.Minute)
		asks(0)
		world.Know(sandbox.Producers, a)
		b.clock.advance(2 * time.Minute)
		if r := asks(1); r.Sent != 2 {
			t.Errorf("sent %d after the producer was registered", r.Sent)
		}

		// An id is believed for long, not for ever.
		b.clock.advance(200 * 24 * time.Hour)
		b.producer(4, cpfA)
		if r := asks(1); r.Sent != 1 || len(r.Flags) != 0 {
			t.Errorf("sent %d, flags %v", r.Sent, r.Flags)
		}
	})
}

func TestALookupThatFailsLeavesItsRowsWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		asks  int // questions of a run, those that the client repeats by itself included
		note  string
	}{
		"the platform fails":           {"get:producers:status=500", 9, "status 500"},
		"the network fails":            {"get:producers:lost-before", 9, "not reached"},
		"the platform hangs":           {"get:producers:hang", 1, "timed out"},
		"something else answers":       {"get:producers:html,status=404", 1, "status 404"},
		"the key may not ask":          {"get:producers:status=403", 1, "status 403"},
		"an answer without a known id": {"get:producers:status=200,body={\"name\":\"x\"}", 4, "no readable id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newLookupBench(t, databases[0], nil, c.fault)
			for i, document := range []string{cpfA, cpfB, cnpjC, "11222333000181"} {
				b.producer(i+1, document)
			}
			b.producer(5, "")
			b.exec(`UPDATE contrato SET documento = NULL WHERE num = '0005'`)
			if strings.HasSuffix(c.fault, "hang") {
				b.limits.Timeout = 2 * time.Second
			}
			id := producerID
			field := b.spec.Fields["producer_id"]
			field.Default = &id
			b.spec.Fields["producer_id"] = field
			r := b.sync(engine.Options{})
			if r.Stopped != nil || r.Sent != 1 || r.States[trade.Waiting] != 4 || b.lookups() != c.asks {
				t.Errorf("sent %d, states %v, %d questions, stopped %+v", r.Sent, r.States, b.lookups(), r.Stopped)
			}
			if len(r.Notes) != 1 || !strings.Contains(r.Notes[0].String(), c.note) ||
				strings.Contains(r.Notes[0].String(), cpfA) {
				t.Errorf("notes %q, want one with %q", r.Notes, c.note)
			}
			b.api.SetFaults()
			b.clock.advance(time.Hour)
			b.wants(b.sync(engine.Options{}), "sent 4, notes 0")
		})
	}
}
