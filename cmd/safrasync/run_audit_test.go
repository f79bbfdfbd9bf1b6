package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// C15: of several instances on one ledger each tells in the audit when its own configuration has
// changed, and not that another one's differs.
func TestC15EachInstanceTellsOfItsOwnConfiguration(t *testing.T) {
	t.Parallel()
	store, err := state.Open(t.Context(),
		state.Options{Driver: state.SQLite, DSN: filepath.Join(t.TempDir(), "state.db"), Begin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &daemon{App: &App{}, log: zap.NewNop(), store: store}
	starts := func(host, file, text string) {
		t.Helper()
		config := mustLoad(t, text)
		config.source.name = file
		d.noteConfig(t.Context(), config, host)
	}
	one, other := goodConfig, strings.Replace(goodConfig, "erp:\n", "erp:\n  statement_timeout: 7m\n", 1)
	if one == other {
		t.Fatal("both configurations are the same")
	}
	for range 3 { // started one after the other, again and again
		starts("silo", "/etc/safrasync/config.yaml", one)
		starts("matriz", "/etc/safrasync/config.yaml", other)
		starts("silo", "/srv/teste/config.yaml", other)
	}
	starts("silo", "/etc/safrasync/config.yaml", other)
	starts("silo", "/etc/safrasync/config.yaml", other)
	records, err := store.Audit(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var changes []inForce
	for i := len(records) - 1; i >= 0; i-- {
		var is inForce
		if err := json.Unmarshal([]byte(records[i].Detail), &is); err != nil || records[i].Act != actConfig {
			t.Fatalf("%+v: %v", records[i], err)
		}
		changes = append(changes, is)
	}
	if len(changes) != 4 || changes[3].Before != changes[0].Config || changes[3].Config != changes[1].Config ||
		changes[3].Host != "silo" || changes[3].File != "/etc/safrasync/config.yaml" {
		t.Fatalf("%d changes, want 4: %+v", len(changes), changes)
	}
	for i, is := range changes[:3] {
		if is.Before != "" {
			t.Errorf("the first configuration of instance %d is told as a change of %s", i, is.Before)
		}
	}
}

// What an older program kept names no instance: it is what was in force before, for each of them.
func TestAConfigurationOfAnOlderProgramIsTheOneBefore(t *testing.T) {
	t.Parallel()
	store, err := state.Open(t.Context(),
		state.Options{Driver: state.SQLite, DSN: filepath.Join(t.TempDir(), "state.db"), Begin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	record := byTheProgram()
	record.At, record.Act, record.Target, record.Detail = now(), actConfig, "config.yaml",
		`{"program":"0.1","config":"abc"}`
	if err := store.AppendAudit(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	d := &daemon{App: &App{}, log: zap.NewNop(), store: store}
	config := mustLoad(t, goodConfig)
	for range 2 {
		d.noteConfig(t.Context(), config, "silo")
	}
	records, err := store.Audit(t.Context(), 0)
	if err != nil || len(records) != 2 || !strings.Contains(newest(records).Detail, `"before":"abc"`) {
		t.Fatalf("%+v, %v", records, err)
	}
}

// An older program that ran meanwhile, before or beside this one, names no instance: it may have
// been this one, so what is in force again is told again, once.
func TestWhatIsInForceAgainAfterAnOlderProgramIsTold(t *testing.T) {
	t.Parallel()
	store, err := state.Open(t.Context(),
		state.Options{Driver: state.SQLite, DSN: filepath.Join(t.TempDir(), "state.db"), Begin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &daemon{App: &App{}, log: zap.NewNop(), store: store}
	config := mustLoad(t, goodConfig)
	d.noteConfig(t.Context(), config, "silo")
	record := byTheProgram()
	record.At, record.Act, record.Target, record.Detail = now(), actConfig, "config.yaml",
		`{"program":"0.1","config":"abc"}`
	if err := store.AppendAudit(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.noteConfig(t.Context(), config, "silo")
	}
	records, err := store.Audit(t.Context(), 0)
	if err != nil || len(records) != 3 || !strings.Contains(newest(records).Detail, `"before":"abc"`) {
		t.Fatalf("%+v, %v", records, err)
	}
}

// newest is the one with the highest number.
func newest(records []trade.AuditRecord) (out trade.AuditRecord) {
	for _, r := range records {
		if r.Seq > out.Seq {
			out = r
		}
	}
	return out
}
