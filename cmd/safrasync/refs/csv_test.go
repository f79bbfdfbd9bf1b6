package refs

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

const (
	idA = "11111111-1111-4111-8111-11111111111a"
	idB = "11111111-1111-4111-8111-11111111111b"
)

func TestReferencesAreReadAsSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		codes map[string]string
		bad   []int // lines
	}{
		"comma": {"code,id\n1," + idA + "\n", map[string]string{"1": idA}, nil},
		"semicolon, byte order mark, CRLF": {
			"\ufeffCode;ID\r\n1;" + idA + "\r\n",
			map[string]string{"1": idA},
			nil,
		},
		"tab": {"code\tid\n1\t" + idA, map[string]string{"1": idA}, nil},
		"quotes and blanks": {
			"code,id\n\" 01 | 2 \", {" + strings.ToUpper(idA) + "} \n",
			map[string]string{"01|2": idA},
			nil,
		},
		"an escaped | stays in its part": {
			"code,id\na\\|b|c," + idA + "\n",
			map[string]string{`a\|b|c`: idA},
			nil,
		},
		"lines of blanks": {
			"code,id\n,\n\n1," + idA + "\n , \n",
			map[string]string{"1": idA},
			nil,
		},
		"the same line twice": {
			"code,id\n1," + idA + "\n1," + idA + "\n",
			map[string]string{"1": idA},
			nil,
		},
		"a code with two ids": {
			"code,id\n1," + idA + "\n1," + idB + "\n",
			map[string]string{"1": idA},
			[]int{3},
		},
		"no code": {"code,id\n |,x\n," + idA + "\n", nil, []int{2, 3}},
		"no UUID": {
			"code,id\n1,123\n2," + idA + "\n",
			map[string]string{"2": idA},
			[]int{2},
		},
		"too many columns": {"code,id\n1," + idA + ",x\n", nil, []int{2}},
		"a broken quote ends what can be read": {
			"code,id\n1," + idA + "\n\"2," + idB + "\n3," + idB + "\n",
			map[string]string{"1": idA},
			[]int{3},
		},
		"a third column has labels": {
			"code;id;label\n1;" + idA + ";Carteira Soja\n2;" + idA + "\n",
			map[string]string{"1": idA},
			[]int{3},
		},
		"a formula that was guarded on its way":  {"code,id\n'=1," + idA + "\n", map[string]string{"=1": idA}, nil},
		"an apostrophe that is part of the code": {"code,id\n'1," + idA + "\n", map[string]string{"'1": idA}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(ReadReferences(strings.NewReader(c.text), cli.Machine))(t)
			if c.codes == nil {
				c.codes = map[string]string{}
			}
			if diff := cmp.Diff(c.codes, got.Codes); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
			var lines []int
			for _, b := range got.Bad {
				lines = append(lines, b.Line)
			}
			if diff := cmp.Diff(c.bad, lines); diff != "" {
				t.Errorf("invalid lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFileThatIsNoTableIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "1," + idA + "\n", "code\n1\n", "id,code\n", "code,id\n\xe7,x\n"} {
		if _, err := ReadReferences(strings.NewReader(text), cli.Machine); err == nil {
			t.Errorf("readReferences(%q) has no error", text)
		}
	}
}

// FuzzReadReferences: no file makes the reader panic, and what it read survives an export and
// another import.
func FuzzReadReferences(f *testing.F) {
	for _, seed := range []string{
		"code,id\n1," + idA + "\n", "\ufeffcode;id\r\n'=1|2;" + idA, "code\tid\n''@x\t" + idA,
		"code,id\n\"a\nb\"," + idA + "\n", "code,id\n\\|," + idA, "code,id\n\"", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ReadReferences(strings.NewReader(text), cli.Machine)
		if err != nil {
			return
		}
		var table []trade.Reference
		for code, id := range first.Codes {
			table = append(table, trade.Reference{Code: code, ID: id, Label: first.Labels[code]})
		}
		var file bytes.Buffer
		must.Do(t, WriteReferences(&file, table))
		records := must.Get(csv.NewReader(bytes.NewReader(file.Bytes())).ReadAll())(t)
		for _, cell := range slices.Concat(records...) {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
		second, err := ReadReferences(&file, cli.Machine)
		if err != nil || len(second.Bad) > 0 {
			t.Fatalf("the export cannot be read: %v %v", err, second.Bad)
		}
		if diff := cmp.Diff(first.Codes, second.Codes); diff != "" {
			t.Errorf("an export and import changed the table (-before +after):\n%s", diff)
		}
	})
}

func TestSinceIsAnAgeADayOrATime(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*60*60)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": at.Add(-2 * time.Hour), "7d": at.AddDate(0, 0, -7),
		"2026-11-20":           time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC),
		"20/11/2026":           time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC),
		"2026-11-20T09:00:00Z": time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
	} {
		if got, ok := cli.ParseSince(text, at, zone); !ok || !got.Equal(want) {
			t.Errorf("parseSince(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-2h", "ontem", "2026-13-01"} {
		if got, ok := cli.ParseSince(text, at, zone); ok {
			t.Errorf("parseSince(%q) = %v, want none", text, got)
		}
	}
}

func TestKeysAsPeopleTypeThem(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		`01|000123`: `01|000123`, ` 01 | 000123  `: `01|000123`, `01|A\|B`: `01|A\|B`, `01|A\\B`: `01|A\\B`,
		`01|A\B`: `01|A\\B`, `01|x y`: `01|x y`,
		`01|`: `01|`, `01|A\`: `01|A\\`, `01|ção`: `01|ção`, ``: ``,
	} {
		if got := cli.CanonicalKey(typed); got != want {
			t.Errorf("canonicalKey(%q) = %q, want %q", typed, got, want)
		}
	}
}
