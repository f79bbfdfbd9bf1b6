package alert

import (
	"encoding/json"

	"github.com/safrasync/safrasync/trade"
)

// DigestSubject returns the subject of a stored digest.
func DigestSubject(m trade.AlertMessage, c Config) (string, error) {
	var n notice
	if err := json.Unmarshal(m.Content, &n); err != nil || n.Digest == nil {
		return "", err
	}
	return c.voice().digestSubject(*n.Digest), nil
}
