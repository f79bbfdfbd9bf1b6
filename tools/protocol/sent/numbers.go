package sent

// The model of two rows that enter a ledger one after the other and get its numbers. After a
// roll-back, the same number may go to another row.

// numbered is one state of that model. Rows are 1 and 2; numbers are places of the arrays.
type numbered struct {
	ledger, copied      numbers
	journal             numbers // what was sent, by the number that the row had then
	platform            [2]bool // by row
	taken, restored, up bool    // up: the journal is replayed
}

// numbers has the row that a number is for, and whether it is accepted.
type numbers struct {
	row      [2]int8
	accepted [2]bool
}

// enter gives a row the next number and returns it.
func (l *numbers) enter(row int8) int {
	for no, r := range l.row {
		if r == row {
			return no
		}
		if r == 0 {
			l.row[no] = row
			return no
		}
	}
	return 0
}

func (w numbered) fault() string {
	for no, row := range w.ledger.row {
		if row > 0 && w.ledger.accepted[no] && !w.platform[row-1] {
			return noRecord
		}
	}
	for i, there := range w.platform {
		no := 0
		for k, row := range w.ledger.row {
			if row == int8(i+1) {
				no = k + 1
			}
		}
		if there && (!w.restored || w.up) && (no == 0 || !w.ledger.accepted[no-1]) {
			return nobody
		}
	}
	return ""
}

// numberedSteps returns the steps of that model. named is the rule that an image names its row by
// job and key.
func numberedSteps(named bool) func(numbered, push[numbered]) {
	return func(w numbered, add push[numbered]) {
		for row := int8(1); row <= 2; row++ {
			n := w
			n.ledger.enter(row)
			add(n, "row %d is found", row)
		}
		for no, row := range w.ledger.row {
			if row == 0 || w.ledger.accepted[no] || w.restored && !w.up {
				continue
			}
			n := w
			n.ledger.accepted[no], n.platform[row-1] = true, true
			n.journal.row[no], n.journal.accepted[no] = row, true
			add(n, "row %d, which has number %d, is sent and accepted", row, no+1)
		}
		n := w
		switch {
		case !w.taken:
			n.copied, n.taken = w.ledger, true
			add(n, "somebody copies the ledger")
		case !w.restored:
			n.ledger, n.restored = w.copied, true
			add(n, "somebody restores the copy")
		case !w.up:
			n.up = true
			for no, row := range w.journal.row {
				if row == 0 {
					continue
				}
				if named {
					no = n.ledger.enter(row)
				}
				n.ledger.accepted[no] = true
			}
			add(n, "the journal is replayed")
		}
	}
}
