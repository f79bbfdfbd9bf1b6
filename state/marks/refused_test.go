package marks_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/marks"
)

// The name of a folder is no pattern: the files of one whose name has brackets or stars are found,
// and those of no other.
func TestFilesAreFoundInAFolderOfAnyName(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for _, name := range []string{"filial [01", "filial [01]", "filial *", `filial \x`, "filial 0"} {
		dir := filepath.Join(parent, name)
		must.Do(t, os.Mkdir(dir, 0o700))
		want := map[string]string{"i-" + name: marks.Path(dir, "i-"+name)}
		for _, path := range []string{
			want["i-"+name], filepath.Join(dir, "wire-x"), filepath.Join(dir, "i.marks"),
			filepath.Join(dir, "l-1"),
		} {
			must.Do(t, os.WriteFile(path, nil, 0o600))
		}
		got, err := marks.Paths(dir)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if found, err := marks.Paths(filepath.Join(parent, "none")); err == nil {
		t.Errorf("a folder that is not there has %v", found)
	}
}

// What stands in the way of a file is said, and nothing that stands there is emptied.
func TestAFileThatCannotBeOursIsNotUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := marks.Use(marks.Path(filepath.Join(dir, "none"), "i"), owner); err == nil {
		t.Error("a file was made in a folder that is not there")
	}
	path := marks.Path(dir, "i")
	must.Do(t, os.WriteFile(path, []byte("of another process"), 0o600))
	other := must.Get(os.Open(path))(t)
	must.Do(t, syscall.Flock(int(other.Fd()), syscall.LOCK_EX))
	if _, err := marks.Use(path, owner); err == nil || !strings.Contains(err.Error(), "locking "+path) {
		t.Errorf("the file of a process that runs: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "of another process" || err != nil {
		t.Errorf("its file has %q, %v", text, err)
	}
	must.Do(t, other.Close())
	f := must.Get(marks.Use(path, owner))(t)
	must.Do(t, f.Close())
}

func TestWhatIsNoFileOfAProcessIsNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, path := range map[string]string{"nothing": filepath.Join(dir, "none"), "a folder": dir} {
		if r, err := marks.Read(path); err == nil || r.Ended && r.Owner != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
