package config

import (
	"fmt"
	"strings"
)

// UnknownName returns the text for an unknown name: which name was probably meant, or else which
// names exist.
func UnknownName(what, name string, known []string) string {
	if meant := Closest(name, known); meant != "" {
		return fmt.Sprintf("unknown %s %s; did you mean `%s`?", what, ShortName(name), meant)
	}
	if len(known) == 0 {
		return fmt.Sprintf("unknown %s %s; there is none yet", what, ShortName(name))
	}
	return fmt.Sprintf("unknown %s %s; there are %s", what, ShortName(name), strings.Join(known, ", "))
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
