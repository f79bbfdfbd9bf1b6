package trade

import (
	"errors"
	"strings"

	"github.com/google/uuid"
)

// ParseID normalises a UUID as ERPs keep them: blanks around it, braces and upper case go away. Everything else is refused, also forms
// that other readers would accept (no hyphens, urn:uuid:), because a wrong id is worse than a row that waits; and the UUID of zeros, which
// names nothing.
func ParseID(text string) (string, error) {
	t := strings.TrimSpace(text)
	if strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		t = t[1 : len(t)-1]
	}
	if len(t) != 36 {
		return "", errors.New("is not a UUID")
	}
	id, err := uuid.Parse(t)
	if err != nil {
		return "", errors.New("is not a UUID")
	}
	if id == uuid.Nil {
		return "", errors.New("is the UUID of nothing")
	}
	return id.String(), nil
}
