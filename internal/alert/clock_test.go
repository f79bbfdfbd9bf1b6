package alert

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// F078: a clock that stood wrong for a while, and is set back, leaves no times of the future that
// keep people from being told.
func TestF078AClockThatIsSetBackSilencesNobody(t *testing.T) {
	const wrong = 400 * 24 * time.Hour
	t.Run("a message that waits for its next try", func(t *testing.T) {
		one(t, func(t *testing.T, w *world) {
			w.mail.refuse("", 421, "not now")
			w.tick(wrong)
			w.status("contracts", trade.Stopped, "api_key")
			w.tick(time.Minute)
			w.mail.accept()
			w.tick(-wrong)
			w.tick(2 * time.Hour)
			w.wantMails(begins(Stopped, "api_key", "contracts"))
		})
	})
	t.Run("what must last before people are told", func(t *testing.T) {
		one(t, func(t *testing.T, w *world) {
			w.tick(wrong)
			doubt := w.record("contracts", w.contract("01|0001", "{}"))
			w.send("contracts", doubt[0], trade.OutcomeUnknown, "")
			w.tick(time.Minute)
			w.wantMails()
			w.tick(-wrong)
			w.tick(doubtLasts)
			w.wantMails(begins(InDoubt, "", "contracts"))
		})
	})
	t.Run("what must be gone before it is over", func(t *testing.T) {
		one(t, func(t *testing.T, w *world) {
			w.tick(wrong)
			w.status("contracts", trade.Stopped, "api_key")
			w.tick(time.Minute)
			w.wantMails(begins(Stopped, "api_key", "contracts"))
			w.status("contracts", trade.Idle, "")
			w.tick(time.Minute)
			w.tick(-wrong)
			w.tick(Settling)
			w.wantMails(ends(Stopped, "api_key", "contracts"))
		})
	})
}
