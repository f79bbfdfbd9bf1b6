package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

// asReader calls do with the file rights of a user who may write nowhere. The thread keeps them and
// ends with its goroutine.
func asReader(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			_ = syscall.Setfsuid(65534) // it reports no error; the read below shows whether it worked
		}
		do()
	}()
	<-done
}

// A file in WAL mode that may only be read, while no program has it open: the query is not accused
// of writing, and the text says what helps.
func TestAFileInWALModeThatMayOnlyBeReadIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "erp.db")
	db := erptest.Admin(t, "sqlite", path, "PRAGMA journal_mode = WAL", "CREATE TABLE c (k INTEGER)",
		"INSERT INTO c VALUES (1)")
	must.Do(t, db.Close()) // the last connection removes the -wal and -shm files
	must.Do(t, os.Chmod(filepath.Dir(dir), 0o755))
	must.Do(t, os.Chmod(path, 0o644))
	must.Do(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { must.Do(t, os.Chmod(dir, 0o755)) })
	read := func(dsn string) (n int, err error) {
		asReader(func() {
			var s *erp.Source
			s, err = erp.Open(t.Context(), erp.SourceOptions{Driver: "sqlite", DSN: erp.Secret(dsn)})
			if err != nil {
				return
			}
			_, err = s.Read(t.Context(), erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}, erp.Window{},
				func(erp.Row) error { n++; return nil })
			_ = s.Close()
		})
		return n, err
	}
	_, err := read(path)
	erptest.WantError(t, err, erp.CodePermission, "is in WAL mode", "write in that folder", "ReadWritePaths",
		"file:"+path+"?immutable=1")
	if strings.Contains(err.Error(), "tries to write") {
		t.Errorf("the query is accused: %v", err)
	}
	if n, err := read("file:" + path + "?immutable=1"); n != 1 || err != nil {
		t.Errorf("an immutable file gives %d rows, %v", n, err)
	}
}
