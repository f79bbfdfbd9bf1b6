package erp

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// The hashes of rows are all there again, with a temporary file and where there can be none; nothing
// of the file is left.
func TestHashesOfRowsAreKept(t *testing.T) {
	for _, folder := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		t.Setenv("TMPDIR", folder)
		var p passedRows
		want := map[uint64]int{}
		for i := range uint64(3*passedInMemory + 7) {
			hash := i % (2 * passedInMemory) * 0x9E3779B97F4A7C15
			p.add(hash)
			want[hash]++
		}
		got, err := p.counts()
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %d hashes, want %d: %v", folder, len(got), len(want), err)
		}
		if p.noFile == (p.filed > 0) {
			t.Errorf("%s: %d hashes in the file, none possible: %v", folder, p.filed, p.noFile)
		}
		p.close()
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
	var p passedRows
	p.file, p.filed = os.NewFile(^uintptr(0), "closed"), 1
	if _, err := p.counts(); err == nil {
		t.Error("a file that cannot be read any more is no error")
	}
}
