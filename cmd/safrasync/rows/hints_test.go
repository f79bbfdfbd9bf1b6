package rows

import (
	"testing"

	engine "github.com/safrasync/safrasync/sync"
)

// A record that only comes near to what was sent is none that has this content.
func TestSeveralRecordsAreThoseThatHaveAllThatWasSent(t *testing.T) {
	t.Parallel()
	full, near := engine.Suggestion{Full: true}, engine.Suggestion{Reading: engine.Readback{Same: 15, Differ: 1}}
	for _, tt := range []struct {
		like []engine.Suggestion
		want bool
	}{
		{nil, false},
		{[]engine.Suggestion{full}, false},
		{[]engine.Suggestion{full, near}, false},
		{[]engine.Suggestion{near, near}, false},
		{[]engine.Suggestion{full, full, near}, true},
	} {
		if got := (RowHints{Like: tt.like}).Several(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.like, got, tt.want)
		}
	}
}
