package main

import "fmt"

// agreement is how the API's log, the rows of the ERP and a contestant's own book agree.
type agreement struct {
	// rows that never came to the API, and of which the book does not say that this may be so
	Lost    int `json:"lost"`
	Doubled int `json:"doubled"` // POSTs too many
	// rows of which the book says what is not so: accepted and never arrived, another id, not
	// accepted although answered
	Wrong   int `json:"wrong"`
	InDoubt int `json:"in_doubt"`
}

// judge compares the rows from first to last. A book of nil is that of a contestant without one.
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

// err is the only reason for which a measurement fails: a figure bought with a row.
func (a agreement) err(who string) error {
	if a.Lost+a.Doubled+a.Wrong == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d rows lost, %d sent twice, %d of which its book says what is not so", who, a.Lost,
		a.Doubled, a.Wrong)
}
