package view

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Mask masks each CPF in a text.
func Mask(text string) string { return trade.MaskDocuments(text) }

// MaskKey masks the parts of a key that are documents.
func MaskKey(key string) string {
	parts := strings.Split(key, "|")
	for i, part := range parts {
		parts[i] = Mask(part)
	}
	return strings.Join(parts, " | ")
}

// Masked reports whether a text contains something to mask.
func Masked(text string) bool { return Mask(text) != text }
