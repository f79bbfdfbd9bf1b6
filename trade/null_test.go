package trade

import (
	"testing"
	"time"
)

func TestWhatIsNotThereIsNull(t *testing.T) {
	t.Parallel()
	if OrNull("") != nil || OrNull(0) != nil || OrNull(time.Time{}) != nil || OrNull(Date{}) != nil ||
		OrNull(time.Time{}.In(time.FixedZone("-03", -3*3600))) != nil {
		t.Error("nothing is not null")
	}
	if text := OrNull("a"); text == nil || *text != "a" {
		t.Errorf("%v", text)
	}
	if at := OrNull(time.Unix(0, 0)); at == nil || at.Unix() != 0 {
		t.Errorf("%v", at)
	}
}
