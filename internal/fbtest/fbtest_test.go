package fbtest

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/throwaway"
)

func TestMain(m *testing.M) {
	code := throwaway.M{M: m}.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

func TestADatabaseHasItsCharset(t *testing.T) {
	t.Parallel()
	for _, charset := range []string{"UTF8", "WIN1252", "NONE"} {
		s, path := Database(t, charset)
		db := must.Get(sql.Open("firebirdsql", s.AdminDSN(path, charset)))(t)
		t.Cleanup(func() { _ = db.Close() })
		var got string
		if err := db.QueryRow("SELECT RDB$CHARACTER_SET_NAME FROM RDB$DATABASE").Scan(&got); err != nil ||
			strings.TrimSpace(got) != charset {
			t.Errorf("charset %q, %v; want %s", got, err, charset)
		}
	}
}
