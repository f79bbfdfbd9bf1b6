package console

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// maskText masks each CPF in a text.
func maskText(text string) string { return trade.MaskDocuments(text) }

// maskKey masks the parts of a key that are documents.
func maskKey(key string) string {
	parts := strings.Split(key, "|")
	for i, part := range parts {
		parts[i] = maskText(part)
	}
	return strings.Join(parts, " | ")
}

// masked tells whether a text has something to mask.
func masked(text string) bool { return maskText(text) != text }
