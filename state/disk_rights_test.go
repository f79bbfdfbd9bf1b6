//go:build seccomp

package state

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/sickdisk"
	"github.com/safrasync/safrasync/state/sqldb"
)

// F067: a ledger that the user may not look at, or whose folder he may not, counts as forbidden and
// not as gone: nothing is made in its place.
func TestALedgerThatMayNotBeLookedAt(t *testing.T) {
	disk := sickdisk.Own(t)
	if disk == nil {
		return
	}
	for name, there := range map[string]bool{"its file": true, "its folder": false} {
		home := filepath.Join(t.TempDir(), "home")
		must.Do(t, os.Mkdir(home, 0o700))
		o := sqldb.OpenOptions{
			Begin: true, Driver: sqldb.SQLite, DSN: filepath.Join(home, "state.db"),
			Version: "1.0.0-test",
		}
		plan := sickdisk.Plan{Under: home, At: 1, Err: syscall.EACCES}
		if there {
			must.Do(t, mustOpen(t, o).Close())
		} else {
			plan.At = 2 // the file is not there, and whether its folder is cannot be seen
		}
		before := must.Get(os.ReadDir(home))(t)
		disk.Arm(plan)
		_, openErr := Open(t.Context(), o)
		if hit, err := disk.Disarm(); hit == "" || err != nil {
			t.Fatal(hit, err)
		}
		wantCode(t, openErr, sqldb.CodePermission)
		if after, err := os.ReadDir(home); err != nil || len(after) != len(before) {
			t.Errorf("%s: %v, %v; before %v", name, after, err, before)
		}
	}
}
