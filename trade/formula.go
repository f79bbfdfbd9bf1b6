package trade

import "strings"

// GuardFormula keeps a spreadsheet from running a text as a formula: it gets a ' before it.
// UnguardFormula takes exactly that away again.
func GuardFormula(text string) string {
	if isFormula(text) {
		return "'" + text
	}
	return text
}

// UnguardFormula takes away what GuardFormula put before a text.
func UnguardFormula(text string) string {
	if strings.HasPrefix(text, "'") && isFormula(text[1:]) {
		return text[1:]
	}
	return text
}

// isFormula tells whether a spreadsheet could take a text for a formula; one that is guarded already
// counts, so that the guard can be taken away.
func isFormula(text string) bool {
	rest := strings.TrimLeft(text, "'")
	return rest != "" && strings.ContainsRune("=+-@|\t\r\n＝＋－＠", []rune(rest)[0])
}
