package trade

import (
	"encoding/json"
	"time"
)

// Closing is a report that a person has closed: it says the same for good, whatever happens to the rows.
type Closing struct {
	ID      string // UUIDv7
	Day     Date   // the report's cut-off
	At      time.Time
	Who     string
	Reason  string
	Program string          // the version that closed it
	Head    json.RawMessage // what is not a row
	Rows    int
	Parts   int
	Hash    string // of head and parts
	Audit   int64  // number of its record in the audit
}
