package configtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/config"
)

// Sample returns the sample cooperative's configuration, for tests of packages that stand two folders
// below that of the module, as cmd/safrasync does, or three.
func Sample(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/coop/config.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile("../../cmd/safrasync/testdata/coop/config.yaml")
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("$API", "https://api.example.com", "dsn: state.db", "dsn: /var/lib/safrasync/state.db").
		Replace(string(text))
}

// Load writes a text to a file, creates its folder, and loads it. Every environment variable has
// the given value.
func Load(t testing.TB, file, text, value string) *config.Config {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(file, func(string) (string, bool) { return value, true })
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}
