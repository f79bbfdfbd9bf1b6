package apiclient

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what is shown wherever a secret stands.
const hidden = "[secret]"

// Secret is a text that no printing shows: fmt, encoding/json, encoding.TextMarshaler and log/slog all see "[secret]".
// Convert it with string(s) to use it, and only where it leaves for its destination.
//
// One way around remains: fmt cannot call methods on unexported struct fields and prints the plain string there. Keep a
// Secret in exported fields or behind a function, as [Client] does.
type Secret string

// String returns "[secret]".
func (Secret) String() string { return hidden }

// GoString returns "[secret]", for %#v.
func (Secret) GoString() string { return hidden }

// Format writes "[secret]" for every verb, %x and %q included.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// MarshalJSON returns "[secret]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText returns "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue returns "[secret]" for log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
