package cli

import (
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/config"
)

// CheckJobNames refuses a job that is not configured, before anything is opened.
func (a *App) CheckJobNames(config *config.Config, names []string) error {
	var have []string
	known := map[string]bool{}
	for _, job := range config.Jobs {
		have = append(have, job.Name)
		known[job.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			return a.Usage("says.no_job", name, Listed(have))
		}
	}
	return nil
}

// CheckKey returns a key as the ledger has it, and refuses one that no row of the job can have,
// because it has too few or too many parts.
func (a *App) CheckKey(config *config.Config, job, key string) (string, error) {
	if err := a.CheckJobNames(config, []string{job}); err != nil {
		return "", err
	}
	for _, j := range config.Jobs {
		if parts := strings.Join(j.Key, "|"); j.Name == job && len(CodeParts(key)) != len(j.Key) {
			return "", a.Usage("says.key_parts", key, job, parts)
		}
	}
	return CanonicalKey(key), nil
}

// CanonicalKey is a key as the ledger has it, from one that a person typed: without blanks around
// its parts, as the ERP pads them, and with a backslash before each backslash.
func CanonicalKey(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		b.WriteByte(key[i])
		if key[i] != '\\' {
			continue
		}
		if i+1 < len(key) && (key[i+1] == '|' || key[i+1] == '\\') {
			i++
			b.WriteByte(key[i])
		} else {
			b.WriteByte('\\')
		}
	}
	return NormalCode(b.String())
}

// CodeParts takes a code or key apart at its |. A | or \ inside a part stays as it is written,
// escaped with \.
func CodeParts(code string) []string {
	var parts []string
	start, escaped := 0, false
	for i := range len(code) {
		switch {
		case escaped:
			escaped = false
		case code[i] == '\\':
			escaped = true
		case code[i] == '|':
			parts = append(parts, strings.TrimSpace(code[start:i]))
			start = i + 1
		}
	}
	return append(parts, strings.TrimSpace(code[start:]))
}

// NormalCode brings a code into the form in which the engine makes it of the ERP's columns: parts
// trimmed and joined with |.
func NormalCode(code string) string { return strings.Join(CodeParts(code), "|") }

// IsBlankCode reports whether no part of a code has a text.
func IsBlankCode(code string) bool { return strings.Trim(code, "| ") == "" }
