package trade_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// controls are a line break, a carriage return, ESC, DEL, CSI of C1, and each bidirectional
// control.
const controls = "a\nb\rc\x1b[2Kd\x7fe\u009b2Kf\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069g\u2028\u2029"

func TestWhatSteersATerminalIsEscapedInJSONAndStaysTheSame(t *testing.T) {
	t.Parallel()
	plain := must.Get(json.Marshal(map[string]string{"Ação": controls + "é ✓ 日"}))(t)
	text := trade.EscapeJSON(append(plain, '\n'))
	if line := strings.TrimSuffix(string(text), "\n"); strings.ContainsFunc(line, trade.ControlsTerminal) {
		t.Errorf("it steers: %q", line)
	}
	var got map[string]string
	if err := json.Unmarshal(text, &got); err != nil || got["Ação"] != controls+"é ✓ 日" {
		t.Errorf("it became %q (%v)", got, err)
	}
	if plain := `{"produtor":"José — soja, 日"}`; string(trade.EscapeJSON([]byte(plain))) != plain {
		t.Error("other characters are changed")
	}
}
