package view

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Mask masks each CPF in a text.
func Mask(text string) string { return trade.MaskDocuments(text) }

// Key returns a key, the code of a reference, or a sentence about them, for people: documents are
// masked, and what is blank is said.
func (v Voice) Key(key string) string {
	return Mask(trade.SayBlanks(key, v.lang))
}

// SpacedKey is Key with spaces between the parts.
func (v Voice) SpacedKey(key string) string { return strings.ReplaceAll(v.Key(key), "|", " | ") }

// Masked reports whether a text contains something to mask.
func Masked(text string) bool { return Mask(text) != text }
