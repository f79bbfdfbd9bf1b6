package i18n_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/i18n"
)

func TestWordsFollowTheNumberBeforeThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sentence string
		args     []any
		want     string
	}{
		{"%d {linha segue|linhas seguem}", []any{1}, "1 linha segue"},
		{"%d {linha segue|linhas seguem}", []any{0}, "0 linhas seguem"},
		{"%s {linha|linhas}", []any{"1"}, "1 linha"},
		{"%s {linha|linhas}", []any{"1.001"}, "1.001 linhas"},
		{"%d de %d {produtor|produtores}; %d {erro|erros}", []any{2, 1, 3}, "2 de 1 produtor; 3 erros"},
		{"%d {linha|linhas} de %s {enviada|enviadas}", []any{1, "{a|b} %d"}, "1 linha de {a|b} %d enviada"},
		{"%[2]s: %[1]d {linha|linhas}, 100 %%", []any{1, "2"}, "2: 1 linha, 100 %"},
		{"{Falta|Faltam} %d {registro|registros} de %d", []any{1, 3}, "Falta 1 registro de 3"},
		{"%s: {falta|faltam} %d", []any{"x", 1}, "x: falta 1"},
		{"{Foi|Foram} à plataforma: %s", []any{"1 contrato"}, "Foi à plataforma: 1 contrato"},
		{"%s: a|b", []any{"x"}, "x: a|b"},
		{"Parado: %s.", []any{"está montado?"}, "Parado: está montado?"},
		{"%s. Veja %s", []any{"Está montado?", "/a?.b"}, "Está montado? Veja /a?.b"},
	} {
		if got := i18n.Format(c.sentence, c.args...); got != c.want {
			t.Errorf("%q: %q, want %q", c.sentence, got, c.want)
		}
	}
}

// Nothing is written as "linha(s)", and words in braces have a number.
func TestASentenceSaysOneOrMany(t *testing.T) {
	t.Parallel()
	careless := regexp.MustCompile(`\p{L}\((s|es|m|is|ns)\)`)
	partial := regexp.MustCompile(`\{del[ae]\b`)
	for key, both := range texts(t) {
		for _, text := range []string{both.portuguese, both.english} {
			if careless.MatchString(text) {
				t.Errorf("%s: write {one|many}: %s", key, text)
			}
			if partial.MatchString(text) {
				t.Errorf("%s: one of several is one of them, delas: %s", key, text)
			}
			if strings.Contains(text, "|") && strings.Contains(text, "{") && !verb.MatchString(text) &&
				!placeholder.MatchString(text) {
				t.Errorf("%s: there is no number: %s", key, text)
			}
		}
	}
}
