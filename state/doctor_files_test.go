package state

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

// The name of a folder is no pattern: a journal that others may read is found in a folder of any
// name.
func TestDoctorLooksIntoAFolderOfAnyName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"filial [01", "filial [01]", `filial \x`} {
		k := keep(t, backends[0].open(t))
		k.sendAll("a", 1)
		k.close()
		must.Do(t, os.Chmod(filepath.Dir(k.o.DSN), 0o700))
		parent := filepath.Join(t.TempDir(), name)
		must.Do(t, os.Rename(k.o.Journal, parent))
		k.o.Journal = parent
		must.Do(t, os.Chmod(filepath.Join(k.dir(), "0000000000000001.journal"), 0o640))
		if diff := cmp.Diff(map[string]bool{"rights mode": false}, problems(t, k.o, local())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
