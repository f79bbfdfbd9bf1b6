package state

import (
	"path/filepath"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The pages of all connections to SQLite files come out of one piece of memory, in which each takes little more than its own size.
func TestPagesOfSQLiteComeFromOnePieceOfMemory(t *testing.T) {
	if !pagesShared {
		t.Fatal("SQLite did not take the memory for its pages")
	}
	s, err := Open(t.Context(), Options{Begin: true, Driver: SQLite, DSN: filepath.Join(t.TempDir(), "state.db"), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	tls := libc.NewTLS()
	defer tls.Close()
	used := tls.Alloc(8)
	defer tls.Free(8)
	if rc := sqlite3.Xsqlite3_status(tls, sqlite3.SQLITE_STATUS_PAGECACHE_USED, used, used+4, 0); rc != sqlite3.SQLITE_OK {
		t.Fatalf("SQLite does not tell what it uses: %d", rc)
	}
	if n := libc.GoBytes(used, 4); n[0] == 0 && n[1] == 0 {
		t.Error("an open ledger has no page there")
	}
}
