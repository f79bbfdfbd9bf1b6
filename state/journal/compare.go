package journal

import (
	"slices"
	"time"
)

// Comparison is what a journal has beyond the last record that a ledger has of it.
type Comparison struct {
	End     End
	Mark    string    // of the ledger's last record in the journal; "" if that is missing or 0
	Missing int       // records that the ledger lacks, without those that it had refused (Void)
	Intents int       // POSTs in them, and rows that were known when the journal began
	Since   time.Time // the time of the first of them
	First   Record    // the first of them
	// the records that the ledger lacks, if they have nothing but answers to what it knows of: it
	// lacks nothing that was sent, or decided
	Answers []Record
	Used    bool // the journal has more than what it began with
	// the ledger's last record is from before a snapshot, and was removed
	Older bool
	Last  string // the mark of the last record
	// the last record of each other journal of the ledger, as last written here
	Seen map[string]int64
	Term Term // likewise, what the host had confirmed of the ledger's server
}

// Compare reads a journal from a ledger's last record on. It changes nothing, and may run while
// another process writes.
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
		if r.Term != nil {
			c.Term = *r.Term
		}
		if r.Seq == seq {
			c.Mark = mark
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	last := ""
	c.End, err = Read(dir, seq, func(r Record, mark string) error {
		last = mark
		c.Used = c.Used || r.Kind == Tx || r.Base > 0
		if void[r.Seq] {
			return nil
		}
		c.Missing++
		if c.Missing == 1 {
			c.Since, c.First = r.At, r
		}
		if len(c.Answers) == c.Missing-1 && r.onlyAnswers() {
			c.Answers = append(c.Answers, r)
		}
		c.Intents += r.Open()
		if r.Kind == Base && seq < first {
			c.Intents += len(r.Rows)
		}
		return nil
	})
	c.Last = last // End.Mark may be that of a head
	if len(c.Answers) < c.Missing {
		c.Answers = nil
	}
	return c, err
}

// onlyAnswers reports whether a record has nothing but answers, or nothing about rows at all.
func (r Record) onlyAnswers() bool {
	answered := map[RowRef]bool{}
	for _, s := range r.Sent {
		if s.Attempted {
			answered[s.Row()] = true
		}
	}
	return r.Kind == Tx && r.Head == nil && r.ActName == "" && len(r.Jobs)+len(r.Moves)+r.Open() == 0 &&
		!slices.ContainsFunc(r.Rows, func(row Image) bool { return !answered[row.RowRef] })
}
