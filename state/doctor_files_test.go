package state

import (
	"database/sql/driver"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/sickdb"
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

// beside is a process that sends between two reads of another one.
type beside struct {
	send func()
	once sync.Once
}

func (b *beside) Call(call string, do func() error) error {
	err := do()
	if strings.Contains(call, "FROM journal") && !strings.HasPrefix(call, sickdb.FirstRow) {
		b.once.Do(b.send)
	}
	return err
}

func (b *beside) Row(string, []string, []driver.Value) {}

// A look at a ledger from which a service sends reads ledger and journal at two moments: it is no older
// copy because the service has stored something between the two.
func TestALookBesideAServiceThatSendsFindsNoOlderCopy(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		k := keep(t, b.open(t))
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		mustSend(t, k.s, lease, es[0])
		o := k.o
		o.ReadOnly = true
		o.Through = sickdb.Through(&beside{send: func() {
			mustSend(t, k.s, lease, es[1])
			mustSend(t, k.s, lease, es[2])
		}})
		look := must.Get(Open(t.Context(), o))(t)
		defer func() { must.Do(t, look.Close()) }()
		must.Get(look.JournalReport(t.Context(), o.Journal))(t)
	})
}
