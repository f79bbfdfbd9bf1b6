package api

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// A list comes from anywhere. Whatever it is, it is a list or an error, and what is then read of a
// document can be sent.
func FuzzListsOfProducers(f *testing.F) {
	for _, text := range []string{
		"identity,person_type\n52998224725,PF\n",
		"\xef\xbb\xbfidentity;person_type;corporate_identity\r\nCPF 529.982.247-25;pf;\r\n",
		"identity\tperson_type\n\"a\nb\"\tPJ", "identity,person_type\n'=1+1,PF",
	} {
		f.Add([]byte(text))
	}
	v := words.Voice{Lang: trade.English, Zone: time.UTC}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := readProducers(bytes.NewReader(data), v)
		if err != nil && list != nil {
			t.Errorf("a list and an error: %v", err)
		}
		for _, p := range list {
			number, wrong := readDocument(p.identity)
			if wrong != "" {
				continue
			}
			if again, _, err := apiclient.ParseDocument(number); err != nil || again != number {
				t.Errorf("%q was read as %q, which cannot be sent: %v", p.identity, number, err)
			}
			if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(p.identity)), "CPF") && len(number) == 14 &&
				strings.Trim(number[3:], "0123456789") == "" {
				t.Errorf("%q was read as the CNPJ %q", p.identity, number)
			}
		}
	})
}
