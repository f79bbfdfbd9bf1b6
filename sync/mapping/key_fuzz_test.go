package mapping

import (
	"strings"
	"testing"
)

// FuzzCanonicalKey: a key as the ledger has it is found when it is typed as it is shown, or with
// the padding of the ERP; what is typed has one form.
func FuzzCanonicalKey(f *testing.F) {
	f.Add("01", "0001")
	f.Add(`a|b\`, `\|`)
	f.Add("\u00a0x", "\xff|")
	escape := strings.NewReplacer(`\`, `\\`, `|`, `\|`)
	f.Fuzz(func(t *testing.T, a, b string) {
		kept := escape.Replace(strings.TrimSpace(a)) + "|" + escape.Replace(strings.TrimSpace(b))
		padded := "  " + kept + " \t"
		if got := CanonicalKey(kept); got != kept {
			t.Errorf("the key %q is looked for as %q", kept, got)
		}
		if got := CanonicalKey(padded); got != kept {
			t.Errorf("the key %q, typed with blanks around it, is looked for as %q", kept, got)
		}
		if once := CanonicalKey(a); CanonicalKey(once) != once {
			t.Errorf("%q becomes %q, and that %q", a, once, CanonicalKey(once))
		}
	})
}

func TestKeysAsPeopleTypeThem(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		`01|000123`: `01|000123`, ` 01 | 000123  `: `01|000123`, `01|A\|B`: `01|A\|B`, `01|A\\B`: `01|A\\B`,
		`01|A\B`: `01|A\\B`, `01|x y`: `01|x y`,
		`01|`: `01|`, `01|A\`: `01|A\\`, `01|ção`: `01|ção`, ``: ``,
	} {
		if got := CanonicalKey(typed); got != want {
			t.Errorf("canonicalKey(%q) = %q, want %q", typed, got, want)
		}
	}
}
