package state

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/marks"
)

// Notes that are a day old go, and those that may be needed stay. What is none says nothing, and
// keeps nobody from his work.
func TestNotesGoWhenNobodyCanNeedThem(t *testing.T) {
	t.Parallel()
	yesterday := time.Now().Add(-25 * time.Hour)
	for name, old := range map[string]bool{"a day old": true, "of a moment ago": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := killed(t, backends[0].open(t), "wire")
			path := k.note()
			if old {
				must.Do(t, os.Chtimes(path, yesterday, yesterday))
			}
			none := marks.Path(filepath.Dir(path), k.s.db.ID+".none")
			must.Do(t, os.WriteFile(none, []byte("no notes"), 0o600))
			k.after()
			left := k.notes()
			if slices.Contains(left, path) == old {
				t.Errorf("its notes are there: %t", old)
			}
			if !slices.Contains(left, none) {
				t.Errorf("what is no note is gone: %v", left)
			}
		})
	}
}
