package rows

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// open are the properties of `why --json` whose values say nothing of a person or a contract: states,
// codes, names of the configuration, numbers of our own, and times.
var open = []string{
	"acknowledged", "cause", "column", "columns", "event", "field", "flags", "generation", "job", "kind", "no",
	"outcome", "path", "reading", "ref", "rule", "sends", "seq", "severity", "state", "parent_state", "status",
	"timing", "version", "attempts", "gone_sweeps", "BytesWritten", "Duration", "FirstByteAfter", "Phase",
	"at", "finished_at", "first_seen_at", "heard_at", "next_attempt_at", "next_run", "reduced_at", "since",
	"started_at", "swept_at", "updated_at",
}

var (
	messageKey = regexp.MustCompile(`^message(\.[a-z-]+)+$`)
	digits     = regexp.MustCompile(`[0-9]`)
)

func masked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if _, tree := inner.(map[string]any); tree || !slices.Contains(open, name) {
				v[name] = masked(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = masked(v[i])
		}
	case json.Number:
		return json.Number(digits.ReplaceAllString(v.String(), "9"))
	case string:
		if !messageKey.MatchString(v) {
			return strings.Map(maskedRune, v)
		}
	}
	return v
}

// maskedRune leaves the signs between letters and digits: they are what a fault of a format is about.
func maskedRune(r rune) rune {
	switch {
	case unicode.IsLetter(r):
		return 'x'
	case unicode.IsNumber(r):
		return '9'
	}
	return r
}
