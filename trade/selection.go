package trade

// Selection narrows a list to the rows that a number counts; empty parts select everything. Only
// whoever computed the number can tell which rows these are: internal/office does.
type Selection struct {
	// of a report, several joined with commas; the names are those in its rows
	Harvest, Products, Producer, Place, Branches, From, To string

	Product, Branch   string // one product, one branch; NotKnown = rows without
	Measure, Currency string // of an account
	Line              string // of that account, or of a job's bridge
	Who, Age          string // the department that cures what keeps a row, and the band of its age
	Group, Kind       string // a cause on the board, and what its rows are
	Run               string // the id of a run, a colon, and a RunResult
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

// Parts returns the parts, which may be set through it.
func (s *Selection) Parts() []SelectionPart {
	return []SelectionPart{
		{"harvest", &s.Harvest},
		{"products", &s.Products},
		{"codes", &s.Producer},
		{"place", &s.Place},
		{"branches", &s.Branches},
		{"days_from", &s.From},
		{"days_to", &s.To},
		{"grain", &s.Product},
		{"at", &s.Branch},
		{"measure", &s.Measure},
		{"currency", &s.Currency},
		{"line", &s.Line},
		{"who", &s.Who},
		{"age", &s.Age},
		{"group", &s.Group},
		{"kind", &s.Kind},
		{"of_run", &s.Run},
	}
}

// Figure is a number of an answer, and the query whose rows it counts.
type Figure struct {
	Sums
	Of RowQuery
}
