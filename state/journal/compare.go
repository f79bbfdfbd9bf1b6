package journal

import "time"

// Comparison is what a journal has beyond a ledger whose last record of it is given.
type Comparison struct {
	End     End
	Mark    string    // of the ledger's last record, as the journal has it; "" when it is not there, or 0
	Missing int       // records that the ledger lacks; those that the ledger had refused (Void) are not among them
	Intents int       // POSTs in them, and rows that were known when the journal began
	Since   time.Time // of the first of them
	First   Record    // the first of them
	// FirstMark is that of First.
	FirstMark string
	Used      bool             // the journal has more than what it began with
	Older     bool             // the ledger's last record is of before a snapshot, and no longer there
	Seen      map[string]int64 // what it says last of the ledger's other journals
}

// Compare reads a journal from a ledger's last record on. It changes nothing and may run beside a
// process that writes.
func Compare(dir string, seq int64) (Comparison, error) {
	void := map[int64]bool{}
	names, err := segments(dir)
	if err != nil {
		return Comparison{}, err
	}
	first, _ := firstOf(names[0])
	c := Comparison{Older: seq > 0 && seq < first}
	_, err = Read(dir, seq-1, func(r Record, mark string) error {
		for _, v := range r.Void {
			void[v] = true
		}
		if r.Seen != nil {
			c.Seen = r.Seen
		}
		if r.Seq == seq {
			c.Mark = mark
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	c.End, err = Read(dir, seq, func(r Record, mark string) error {
		c.Used = c.Used || r.Kind != Known
		if void[r.Seq] {
			return nil
		}
		if c.Missing++; c.Missing == 1 {
			c.Since, c.First, c.FirstMark = r.At, r, mark
		}
		c.Intents += len(r.Intents)
		if r.Kind == Known || r.Kind == Snapshot && seq < first {
			c.Intents += len(r.Facts)
		}
		return nil
	})
	return c, err
}
