package mariatest

import (
	"database/sql"
	"os"
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

func TestADatabaseIsNewAndTheServerStrict(t *testing.T) {
	t.Parallel()
	s, name := Database(t)
	db := must.Get(sql.Open("mysql", s.AdminDSN(name)))(t)
	t.Cleanup(func() { _ = db.Close() })
	var got string
	if err := db.QueryRow("SELECT CONCAT_WS(' ', DATABASE(), @@character_set_database, @@bind_address)").Scan(
		&got); err != nil || got != name+" utf8mb4 127.0.0.1" {
		t.Errorf("%q, %v", got, err)
	}
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(
		&tables); err != nil || tables != 0 {
		t.Errorf("%d tables, %v; want none", tables, err)
	}
}
