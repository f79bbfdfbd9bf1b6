package config

import (
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
)

// UnknownName returns the sentence about an unknown name: which name was probably meant, or else
// which names exist. what says so of the name, as in "unknown job %s".
func UnknownName(what, name string, known []string) *phrase.Text {
	unknown := phrase.New(what, ShortName(name))
	if meant := Closest(name, known); meant != "" {
		return phrase.New("%w; did you mean `%s`?", unknown, meant)
	}
	if len(known) == 0 {
		return phrase.New("%w; there is none yet", unknown)
	}
	return phrase.New("%w; there are %s", unknown, strings.Join(known, ", "))
}

// Closest returns the known name that a misspelled one resembles, or "". It ignores case, hyphens
// and underscores.
func Closest(name string, known []string) string {
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	wrong := []rune(plain.Replace(strings.ToLower(name)))
	if len(wrong) > 64 {
		return ""
	}
	best, bestDistance := "", len(wrong)/3+1
	for _, k := range known {
		if distance := editDistance(wrong, []rune(plain.Replace(strings.ToLower(k)))); distance < bestDistance {
			best, bestDistance = k, distance
		}
	}
	return best
}

// editDistance returns how many letters must be inserted, deleted, replaced or swapped with their
// neighbour to get from a to b.
func editDistance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
