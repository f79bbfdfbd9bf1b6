package cli

import (
	"strings"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/sync/mapping"
)

// CheckJobNames returns a usage error for a job that is not configured. It opens nothing.
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

// CheckKey returns a key in the ledger's form. It returns a usage error if no row of the job can
// have the key, because it has too few or too many parts.
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

// CanonicalKey converts a key that a person typed to the ledger's form: without blanks around its
// parts, which the ERP may pad, and with each single backslash escaped.
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

// CodeParts splits a code or key at each |. A | or \ that is escaped with \ does not split; it
// remains in its part, still escaped.
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
			parts = append(parts, mapping.NormalPart(code[start:i]))
			start = i + 1
		}
	}
	return append(parts, mapping.NormalPart(code[start:]))
}

// NormalCode converts a code to the form that the engine builds from the ERP's columns: parts in
// their normal form, joined with |.
func NormalCode(code string) string { return strings.Join(CodeParts(code), "|") }

// IsBlankCode reports whether all parts of a code are blank.
func IsBlankCode(code string) bool { return strings.Trim(code, "| ") == "" }
