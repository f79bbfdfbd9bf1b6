package alert

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNoTextOfAMessageHasADocument(t *testing.T) {
	t.Parallel()
	const cpf = "P529.982 247/25"
	m := Message{
		Subject: cpf, Foot: cpf,
		Parts: []Paragraph{{Heading: cpf, Text: cpf, Items: []Item{{Text: cpf, More: []string{cpf}}}}},
	}
	m.mask()
	text, err := json.Marshal(m)
	if err != nil || strings.Contains(string(text), "529") || strings.Count(string(text), "***.982.247-**") != 6 {
		t.Errorf("%s (%v)", text, err)
	}
}
