package events

import (
	"math/rand/v2"
	"testing"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// What stops at the first difference tells the same as what compares everything, for fields that
// are there on both sides, on one or on none, and written otherwise.
func TestARecordAgreesWhereItsReadingIsFull(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	forms := map[string][]string{
		"amount": {"120.5", "120.50", "121", "x"}, "price": {"1", "1.0", "2"}, "product": {"SOJA", "soja", "MILHO"},
		"order_date": {"2026-03-10", "2026-03-11"},
		"wallet_id":  {"1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01", "1F4C9F0E-3C1B-4F5E-9D5A-0D8B1E6A7C01", "other"},
	}
	agreed := 0
	for range 20_000 {
		c := trade.Candidate{ID: "1", Fields: map[string]string{}}
		sent := map[string]*string{}
		for field, texts := range forms {
			text := texts[random.IntN(len(texts))]
			if random.IntN(8) > 0 {
				c.Fields[field] = text
			}
			if random.IntN(3) == 0 {
				text = texts[random.IntN(len(texts))]
			}
			if random.IntN(8) > 0 {
				sent[field] = &text
			}
		}
		if random.IntN(10) == 0 {
			c.Unread = []string{"payday"}
		}
		r := acts.CompareReading(c.ID, sent, c.Fields)
		want := r.Same > 0 && r.Differ == 0 && len(r.Unseen) == 0 && len(c.Unread) == 0
		if got := agrees(c, sent); got != want {
			t.Fatalf("%t, want %t: %v", got, want, acts.CompareReading(c.ID, sent, c.Fields))
		}
		if want {
			agreed++
		}
	}
	if agreed < 100 {
		t.Errorf("only %d agreed: does the test still try it?", agreed)
	}
}
