package packagetest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unit is the content of a unit and its drop-ins: each setting with its values, in order.
type unit map[string][]string

// readUnit reads a service as it is installed in a root. It supports only what this unit uses: a
// repeated setting adds a value, "" clears the setting.
func readUnit(t *testing.T, r *root, name string) unit {
	t.Helper()
	u := unit{}
	dropIns, err := filepath.Glob(r.path("/etc/systemd/system/" + name + ".d/*.conf"))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{r.read("/usr/lib/systemd/system/" + name)}
	for _, file := range dropIns {
		texts = append(texts, r.read(strings.TrimPrefix(file, r.dir)))
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			key, value, ok := strings.Cut(line, "=")
			switch {
			case line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "["):
			case !ok:
				t.Fatalf("the unit has the line %q", line)
			case value == "":
				u[key] = nil
			default:
				u[key] = append(u[key], value)
			}
		}
	}
	return u
}

// one returns the last value of a setting, which must exist.
func (u unit) one(t *testing.T, key string) string {
	t.Helper()
	if len(u[key]) == 0 {
		t.Fatalf("the unit has no %s", key)
	}
	return u[key][len(u[key])-1]
}

// words splits a command of the unit as systemd does, as far as the unit needs it.
func words(command string) []string {
	var out []string
	for at := 0; command != ""; at++ {
		command = strings.TrimLeft(command, " ")
		if rest, quoted := strings.CutPrefix(command, "'"); quoted {
			word, after, _ := strings.Cut(rest, "'")
			out, command = append(out, word), after
			continue
		}
		word, after, _ := strings.Cut(command, " ")
		if word != "" {
			out = append(out, word)
		}
		command = after
	}
	return out
}

// never reports whether an exit code is among those after which the service is not started again.
func (u unit) never(code string) bool {
	var codes []string
	for _, value := range u["RestartPreventExitStatus"] {
		codes = append(codes, strings.Fields(value)...)
	}
	return slices.Contains(codes, code)
}
