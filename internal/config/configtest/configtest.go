package configtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/config"
)

// Sample returns the sample cooperative's configuration, from any folder of the module.
func Sample(t testing.TB) string {
	t.Helper()
	up := "."
	for {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			break
		}
		up = filepath.Join("..", up)
	}
	text, err := os.ReadFile(filepath.Join(up, "cmd/safrasync/testdata/coop/config.yaml"))
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
