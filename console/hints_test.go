package console_test

import (
	"testing"

	"github.com/safrasync/safrasync/console"
)

// A record that only comes near to what was sent is none that has this content.
func TestSeveralRecordsAreThoseThatHaveAllThatWasSent(t *testing.T) {
	t.Parallel()
	full, near := console.Suggestion{Full: true}, console.Suggestion{Same: 15, Differ: 1}
	for _, tt := range []struct {
		records []console.Suggestion
		want    bool
	}{
		{nil, false},
		{[]console.Suggestion{full}, false},
		{[]console.Suggestion{full, near}, false},
		{[]console.Suggestion{near, near}, false},
		{[]console.Suggestion{full, full, near}, true},
	} {
		if got := (console.Hints{Records: tt.records}).Several(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.records, got, tt.want)
		}
	}
}
