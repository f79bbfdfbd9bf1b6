package sync_test

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
)

// What the witness says, and where it is, decide whether a ledger sends; an image of the ledger and its
// journal knows where it was.
func TestALedgerKnowsItsWitness(t *testing.T) {
	anotherPlace := func(b *bench) {
		b.parts.Witness = b.t.TempDir()
		if b.parts.DB.Ledger == state.Postgres {
			b.parts.Witness = pgtest.Database(b.t)
		}
	}
	none := func(b *bench) { b.parts.Witness = "" }
	cases := []struct {
		name     string
		change   func(b *bench, first, image func())
		decision string // "" = it sends; a stop, which a person may release; or "refused"
	}{
		{"present", func(*bench, func(), func()) {}, ""},
		{"older", func(_ *bench, first, _ func()) { first() }, ""},
		{"newer", func(_ *bench, _, image func()) { image() }, "refused"},
		{"missing", func(b *bench, _, _ func()) { b.emptyWitness() }, "witness"},
		{"elsewhere", func(b *bench, _, _ func()) { anotherPlace(b) }, "witness"},
		{"elsewhere, beside an image", func(b *bench, _, image func()) { image(); anotherPlace(b) }, "witness"},
		{"no longer configured", func(b *bench, _, _ func()) { none(b) }, "witness"},
		{"no longer configured, beside an image", func(b *bench, _, image func()) { image(); none(b) }, "witness"},
		{"elsewhere, and the ledger was rebuilt", func(b *bench, _, _ func()) { b.lostLedger(); anotherPlace(b) }, "witness"},
		{"missing, and the ledger was rebuilt", func(b *bench, _, _ func()) { b.lostLedger(); b.emptyWitness() }, "witness"},
		{"from the future", func(b *bench, _, _ func()) { b.witnessOfTomorrow() }, ""},
	}
	both(t, func(t *testing.T, db database) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				b := witnessedBench(t, db)
				b.contract(1)
				b.passes()
				first, image := b.witnessNow(), b.disk()
				b.contract(2)
				b.passes()
				must.Do(t, b.ledger.Close())
				c.change(b, first, image)
				if c.decision == "refused" {
					b.oldCopy(c.name)
					return
				}
				b.restarts()
				b.contract(3)
				made, stops := b.passes()
				if c.decision == "" {
					if made != 1 || len(stops) > 0 {
						t.Errorf("%d made, %v", made, stops)
					}
					return
				}
				if made != 0 || stops["contracts"] != c.decision {
					t.Fatalf("%d made, %v", made, stops)
				}
				reader := b.reader()
				if report := must.Get(reader.WitnessReport(t.Context()))(t); report.Fault == nil {
					t.Errorf("a check of it: %+v", report)
				}
				must.Do(t, reader.Close())
				b.release("contracts")
				if made, stops := b.passes(); made == 0 || len(stops) > 0 {
					t.Errorf("released: %d made, %v", made, stops)
				}
				b.boots()
				b.contract(4)
				b.makes(b.passes, 1, nil)
			})
		}
	})
}

// boots opens the ledger as the next process does after a start of the machine.
func (b *bench) boots() {
	b.t.Helper()
	b.byHand("DELETE FROM task WHERE name LIKE 'witness released%'")
	b.restarts()
}

// lostLedger takes the ledger away and builds it from its journal; on a server, what the ledger remembers.
func (b *bench) lostLedger() {
	b.t.Helper()
	if b.parts.DB.Ledger == state.Postgres {
		b.byHand("DELETE FROM task WHERE name LIKE 'witness %'")
		return
	}
	b.restarts()
	b.rebuilt()
	must.Do(b.t, b.ledger.Close())
}

// witnessOfTomorrow lets the line of the ledger have been written tomorrow.
func (b *bench) witnessOfTomorrow() {
	b.t.Helper()
	if !state.IsFolder(b.parts.Witness) {
		db := must.Get(sqlx.Open("postgres", b.parts.Witness))(b.t)
		must.Get(db.Exec(`UPDATE safrasync_witness SET at = at + interval '1 day'`))(b.t)
		must.Do(b.t, db.Close())
		return
	}
	file := must.Get(filepath.Glob(filepath.Join(b.parts.Witness, "witness-*.txt")))(b.t)[0]
	_, text, _ := strings.Cut(strings.TrimSpace(string(must.Get(os.ReadFile(file))(b.t))), " ")
	year := fmt.Sprintf(`"at":"%d-`, time.Now().UTC().Year())
	text = strings.Replace(text, year, strings.Replace(year, `"2`, `"3`, 1), 1)
	sum := crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
	must.Do(b.t, os.WriteFile(file, fmt.Appendf(nil, "%08x %s\n", sum, text), 0o600))
}
