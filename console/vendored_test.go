package console_test

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// What others wrote, and the program brings along, stands in vendored.csv with its sum: a change of
// such a file is seen.
func TestWhatOthersWroteIsAsItWasTaken(t *testing.T) {
	t.Parallel()
	file := must.Get(os.Open("vendored.csv"))(t)
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil || strings.Join(all[0], ",") != "file,name,version,licence,sha256" {
		t.Fatal(all, err)
	}
	there := must.Get(filepath.Glob("view/static/vendor/*"))(t)
	there = append(there, "auth/common.txt")
	var listed []string
	for _, line := range all[1:] {
		name, version, licence, sum := line[0], line[2], line[3], line[4]
		listed = append(listed, name)
		content, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s is another file: its sum is %x", name, got)
		}
		if strings.HasPrefix(name, "view/static/") && !strings.Contains(name, "-"+version+".") {
			t.Errorf("%s is not version %s", name, version)
		}
		if kept, err := filepath.Glob("view/static/licences/*" + version + ".txt"); err != nil || len(kept) != 1 ||
			licence == "" {
			t.Errorf("the licence of %s: %q, %q (%v)", name, licence, kept, err)
		}
	}
	slices.Sort(there)
	slices.Sort(listed)
	if !slices.Equal(there, listed) {
		t.Errorf("there are %q, and listed %q", there, listed)
	}
}
