package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestF005_F006_SQLitePassesTheBattery(t *testing.T) {
	erptest.Battery(t, erptest.Engine{
		Name: "sqlite", Start: erptest.SQLite, Timestamp: "TIMESTAMP", Float: "REAL", Folded: strings.Clone,
		Numbers: erptest.Recursive,
	})
}

// A nightly copy takes the name of the file, or its place, while the service runs: each reading is of
// the file that has the name now.
func TestAFileThatIsReplacedOrOverwrittenIsReadAnew(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"%s", "file:%s", "file:%s?immutable=1"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "erp.db")
		write := func(name, state string) string {
			file := filepath.Join(dir, name)
			db := erptest.Admin(t, "sqlite", file, "CREATE TABLE c (k TEXT, s TEXT)",
				"INSERT INTO c VALUES ('1', '"+state+"')")
			must.Do(t, db.Close())
			return file
		}
		write("erp.db", "ABERTO")
		s := erptest.Open(t, erp.SourceOptions{Driver: "sqlite", DSN: erp.Secret(strings.Replace(form, "%s", path, 1))})
		want := func(state string) {
			t.Helper()
			rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT k, s FROM c", Key: []string{"k"}}, erp.Window{})
			if len(rows) != 1 || rows[0].Values[1].Text != state {
				t.Errorf("%s: %+v, want %s", form, rows, state)
			}
		}
		want("ABERTO")
		must.Do(t, os.Rename(write("new.db", "CANCELADO"), path))
		want("CANCELADO")
		must.Do(t, os.WriteFile(path, must.Get(os.ReadFile(write("next.db", "ENCERRADO")))(t), 0o600))
		want("ENCERRADO")
	}
}
