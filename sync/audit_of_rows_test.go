package sync_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/dryrun"
)

// A row without a key is counted by an audit as by a run, and keeps no other from being judged.
func TestAnAuditCountsRowsThatHaveNoKey(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.contracts(3)
		b.exec(`UPDATE contrato SET num = NULL WHERE num = '0002'`)
		e := b.engine()
		audit, err := e.Audit(t.Context(), e.Jobs[0], func(dryrun.Judgement) error { return nil })
		if err != nil || audit.Unreadable != 1 || audit.Read != 3 || audit.Ready+audit.Waiting != 2 {
			t.Errorf("%+v, %v", audit, err)
		}
	})
}

// What an audit remembers of a row are a key, a code and a value, not the text of the rows that
// came with it. (Not parallel: memory is measured.)
func TestAnAuditKeepsNothingOfTheRowsButWhatItTells(t *testing.T) {
	b := newBenchOn(t, database{state.Postgres, state.SQLite}, sandbox.Options{})
	b.spec.Key = []string{"num"}
	b.exec(
		`INSERT INTO contrato SELECT '01', 'N' || i, i, 120.5, 'trigo ' || i, 'W' || i, 'aprovado', '2026-03-10', '2026-07-01', repeat('x', 16000), '2026-03-10 08:00:00' FROM generate_series(1, 2000) i`)
	e := b.engine()
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	audit, err := e.Audit(t.Context(), e.Jobs[0], nil)
	if err != nil || len(audit.Missing) != 2000 || len(audit.Breaches) != 1 || audit.Breaches[0].Rows != 2000 {
		t.Fatalf("%d codes, %d rules, %v", len(audit.Missing), len(audit.Breaches), err)
	}
	kept := heap() - before
	t.Logf("%d KiB are kept", kept>>10)
	if kept > 4<<20 {
		t.Errorf("%d KiB are kept", kept>>10)
	}
	runtime.KeepAlive(audit)
}

// A case with a column that the job does not use, or without one that it does, is refused by their
// names.
func TestACaseThatDoesNotFitItsJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	e := b.engine()
	c, err := e.CaseOf(t.Context(), "contracts", key(1))
	if err != nil {
		t.Fatal(err)
	}
	delete(c.Row, "quantidade")
	c.Row["quantidadde"] = erp.Value{}
	_, err = dryrun.Try(e.Jobs[0], c)
	for _, want := range []string{
		"column quantidade, which job contracts uses, is missing", "row.quantidadde",
		"does not use this column",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// What is told of rows ends with the first that who asked cannot take; a case whose key is NULL is
// none.
func TestWhoCannotTakeARowAndACaseWithoutAKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(2)
	b.exec(`UPDATE contrato SET pagamento = NULL`)
	e := b.engine()
	enough, told := errors.New("enough"), 0
	_, err := e.Audit(t.Context(), e.Jobs[0], func(dryrun.Judgement) error { told++; return enough })
	if !errors.Is(err, enough) || told != 1 {
		t.Errorf("%v, told %d", err, told)
	}
	c := must.Get(e.CaseOf(t.Context(), "contracts", key(1)))(t)
	c.Row["num"] = erp.Value{}
	if _, err := dryrun.Try(e.Jobs[0], c); err == nil ||
		!strings.Contains(err.Error(), "would count it as unreadable") {
		t.Errorf("%v", err)
	}
}
