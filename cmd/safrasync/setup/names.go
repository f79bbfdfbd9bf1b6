package setup

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// flagNames are words of columns that mark which rows count, in the form of nameWords.
var flagNames = []string{
	"ativo", "inativo", "active", "estornado", "estorno", "anulado", "bloqueado", "encerrado",
	"excluido", "exclusao", "deletado", "deleted", "situacao", "status", "cancelado", "canceled", "cancelled",
	"sit", "stat", "situac",
}

var camelHump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// nameWords splits a name into words, in lower case and without accents: at underscores, blanks,
// hyphens and changes from lower to upper case.
func nameWords(name string) []string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(camelHump.ReplaceAllString(name, "${1}_${2}")))
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// isProtheusDeleted reports whether a column is the deletion flag of Protheus, which its own
// programs fill in for every row.
func isProtheusDeleted(c *surveyed) bool {
	return strings.HasPrefix(strings.Join(nameWords(c.name), "_"), "d_e_l_e_t")
}
