package main

import "fmt"

// agreement counts the differences between the API's log, the rows of the ERP and a contestant's
// own book.
type agreement struct {
	// rows that never arrived at the API and that the book does not report as in doubt
	Lost    int `json:"lost"`
	Doubled int `json:"doubled"` // surplus POSTs
	// rows about which the book is wrong: accepted but never arrived, another id, or not accepted
	// although answered
	Wrong   int `json:"wrong"`
	InDoubt int `json:"in_doubt"`
}

// judge compares the rows from first to last. book is nil for a contestant without a book.
func judge(first, last int, s seen, book map[int32]entry) (a agreement) {
	for row := int32(first); row <= int32(last); row++ {
		ids := s.rows[row]
		if e := book[row]; len(ids) == 0 && !e.inDoubt() {
			a.Lost++
		}
		a.Doubled += max(0, len(ids)-1)
		if book == nil {
			continue
		}
		switch e := book[row]; {
		case e.inDoubt():
			a.InDoubt++
		case e.state == "accepted" && len(ids) > 0 && ids[len(ids)-1] == e.id:
		default:
			a.Wrong++
		}
	}
	return a
}

// err returns an error if rows were lost, sent twice or recorded wrongly. It is the only reason for
// a measurement to fail.
func (a agreement) err(who string) error {
	if a.Lost+a.Doubled+a.Wrong == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d rows lost, %d sent twice, %d of which its book says what is not so", who, a.Lost,
		a.Doubled, a.Wrong)
}
