package sync_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	engine "github.com/safrasync/safrasync/sync"
)

// A row without a key is counted by an audit as by a run, and keeps no other from being judged.
func TestAnAuditCountsRowsThatHaveNoKey(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		b := newBenchOn(t, db, sandbox.Options{})
		b.contracts(3)
		b.exec(`UPDATE contrato SET num = NULL WHERE num = '0002'`)
		e := b.engine()
		audit, err := e.Audit(t.Context(), e.Jobs[0], func(engine.Judgement) error { return nil })
		if err != nil || audit.Unreadable != 1 || audit.Read != 3 || audit.Ready+audit.Waiting != 2 {
			t.Errorf("%+v, %v", audit, err)
		}
	})
}

// A case with a column that the job does not use, or without one that it does, is refused by their names.
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
	_, err = e.Jobs[0].Try(c)
	for _, want := range []string{"column quantidade, which job contracts uses, is missing", "row.quantidadde", "does not use this column"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
}
