package commands

import (
	"testing"

	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/events"
)

// A record that only comes near to what was sent is none that has this content.
func TestSeveralRecordsAreThoseThatHaveAllThatWasSent(t *testing.T) {
	t.Parallel()
	full, near := events.Suggestion{Full: true}, events.Suggestion{Reading: acts.Readback{Same: 15, Differ: 1}}
	for _, tt := range []struct {
		like []events.Suggestion
		want int
	}{
		{nil, 0},
		{[]events.Suggestion{full}, 1},
		{[]events.Suggestion{full, near}, 1},
		{[]events.Suggestion{near, near}, 0},
		{[]events.Suggestion{full, full, near}, 2},
	} {
		if got := (office.Hints{Like: tt.like}).Full(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.like, got, tt.want)
		}
	}
}
