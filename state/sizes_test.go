package state

import (
	"testing"

	"github.com/safrasync/safrasync/state/sqldb"
)

func TestTheRoomOfTheLedgersFoldersIsTold(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		o := b.open(t)
		o.Journal = t.TempDir()
		tune := sqldb.DefaultTuning
		tune.Free = func(string) (uint64, bool) { return sqldb.LowSpace - 1, true }
		s := mustOpenTuned(t, o, tune)
		want := map[string]int{sqldb.SQLite: 2, sqldb.Postgres: 1}[b.name]
		spaces := s.Spaces()
		if len(spaces) != want {
			t.Fatalf("%d folders, want %d: %v", len(spaces), want, spaces)
		}
		for _, space := range spaces {
			if !space.Low || space.Free != sqldb.LowSpace-1 || space.Folder == "" {
				t.Errorf("%+v", space)
			}
		}
	})
}
