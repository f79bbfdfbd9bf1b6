package trade

import "reflect"

// Selection narrows a list to the rows that a number counts; empty parts select everything. Only
// whoever computed the number can tell which rows these are: internal/office does. The tags are the names of
// the parts in addresses.
type Selection struct {
	// Of a report; several values are joined with commas. They are those of its rows.
	Harvest  string `address:"harvest"`
	Products string `address:"products"`
	Producer string `address:"codes"`
	Place    string `address:"place"`
	Branches string `address:"branches"`
	From     string `address:"days_from"`
	To       string `address:"days_to"`

	Product  string `address:"grain"`    // one product; NotKnown = rows without
	Branch   string `address:"at"`       // one branch; NotKnown = rows without
	Measure  string `address:"measure"`  // of an account
	Currency string `address:"currency"` // of an account
	Line     string `address:"line"`     // of that account, or of a job's bridge
	Who      string `address:"who"`      // the department that cures what keeps a row
	Age      string `address:"age"`      // the band of its age
	Group    string `address:"group"`    // a cause of Pendências
	Kind     string `address:"kind"`     // what the rows of that cause are
	Run      string `address:"of_run"`   // the id of a run, a colon, and a RunResult
}

// NotKnown is the part of a Selection for rows of which it is unknown.
const NotKnown = "-"

// AnyCause is the group of all rows that are kept by a cause of their own, and not by that of a parent:
// those that need somebody.
const AnyCause = "*"

// SelectionPart is a part of a Selection, with the name that it has in addresses.
type SelectionPart struct {
	Name string
	Text *string
}

// Parts returns the parts in the order of the fields. A part may be set through its Text.
func (s *Selection) Parts() []SelectionPart {
	fields := reflect.ValueOf(s).Elem()
	out := make([]SelectionPart, fields.NumField())
	for i := range out {
		out[i].Name = fields.Type().Field(i).Tag.Get("address")
		out[i].Text, _ = fields.Field(i).Addr().Interface().(*string)
	}
	return out
}

// Figure is a number of an answer, and the query whose rows it counts.
type Figure struct {
	Sums
	Of RowQuery
}
