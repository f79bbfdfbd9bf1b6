package daemon

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config/configtest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
)

// Of several instances on one ledger each tells in the audit when its own configuration has
// changed, and not that another one's differs.
func TestEachInstanceTellsOfItsOwnConfiguration(t *testing.T) {
	t.Parallel()
	store := must.Get(state.Open(t.Context(),
		state.OpenOptions{Driver: state.SQLite, DSN: filepath.Join(t.TempDir(), "state.db"), Begin: true}))(t)
	t.Cleanup(func() { _ = store.Close() })
	d := &daemon{App: &cli.App{}, log: zap.NewNop(), store: store}
	starts := func(host, file, text string) {
		t.Helper()
		d.noteConfig(t.Context(), configtest.Load(t, file, text, "x"), host)
	}
	etc, srv := t.TempDir()+"/config.yaml", t.TempDir()+"/config.yaml"
	one := configtest.Sample(t)
	other := strings.Replace(one, "erp:\n", "erp:\n  statement_timeout: 7m\n", 1)
	if one == other {
		t.Fatal("both configurations are the same")
	}
	for range 3 { // started one after the other, again and again
		starts("silo", etc, one)
		starts("matriz", etc, other)
		starts("silo", srv, other)
	}
	starts("silo", etc, other)
	starts("silo", etc, other)
	records := must.Get(store.Audit(t.Context(), 0))(t)
	var changes []inForce
	for i := len(records) - 1; i >= 0; i-- {
		var is inForce
		if err := json.Unmarshal([]byte(records[i].Detail), &is); err != nil || records[i].Act != actConfig {
			t.Fatalf("%+v: %v", records[i], err)
		}
		changes = append(changes, is)
	}
	if len(changes) != 4 || changes[3].Before != changes[0].Config || changes[3].Config != changes[1].Config ||
		changes[3].Host != "silo" || changes[3].File != etc {
		t.Fatalf("%d changes, want 4: %+v", len(changes), changes)
	}
	for i, is := range changes[:3] {
		if is.Before != "" {
			t.Errorf("the first configuration of instance %d is told as a change of %s", i, is.Before)
		}
	}
}
