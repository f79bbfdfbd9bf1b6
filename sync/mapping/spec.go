// Jobs as the configuration describes them, in plain data.

package mapping

import (
	"fmt"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// JobSpec is one job as the configuration describes it (`jobs:`), in plain data. [Compile] makes it
// executable and finds what is wrong with it.
type JobSpec struct {
	Name     string
	Sends    trade.Kind
	Title    string     // what people are shown instead of the name; "" = see trade.Titles
	Show     []ShowSpec // what people are shown before the key of a row
	Schedule string     // cron, of the daemon
	Query    string     // any SELECT
	Key      []string
	// key space: keys of jobs in two spaces are never compared; "" = that of all jobs which name
	// none
	Identity  string
	ChangedAt string        // column; "" = every run compares all rows
	Lookback  time.Duration // overlap of the reading window
	Sweep     string        // cron: how old the last sweep may be
	Cancelled *CancelledSpec
	Fields    map[string]FieldSpec // by the API's field name
	Checks    trade.Checks
	Twin      TwinCheck      // what happens to a row that another living one equals
	Hours     []string       // when it may send; none = always
	Most      *trade.Freight // what one run may send without a person's release; nil = anything
	Canary    int            // so many rows go under a query or mapping that nobody has confirmed; 0 = all
}

// CancelledSpec tells which rows count as cancelled in the ERP.
type CancelledSpec struct {
	Column string
	Values []string
}

// FieldSpec says where one field comes from and how its text is read. Exactly one of Columns and
// Const is given.
type FieldSpec struct {
	Columns    []string          // one column; several only with Ref or SentBy, joined to a code
	Const      *string           // the same text for every row
	ValuesName string            // name of the value map, "" for one that stands at the field itself
	Values     map[string]string // ERP value -> API value
	Default    *string           // stands in for a missing value, in the API's form
	Date       string            // YYYYMMDD, DD/MM/YYYY, … ; "" = the database's own dates and YYYY-MM-DD
	// a sample of how the ERP writes numbers: "1.234,56", "1234,56", "1,234.56", "1234.56"; "" =
	// the last
	Number string
	Scale  *int32       // round to so many digits after the point
	Empty  []string     // values that mean "nothing", beside NULL and blanks
	Ref    string       // de-para kind
	SentBy []ParentSpec // the value is the platform's id of a row of one of these jobs: the row waits for it

	// what the platform is asked with the value: trade.ProducerByDocument; "" = nothing
	Lookup string `json:",omitempty"`
}

// ParentSpec names a job and the columns that hold the key of its row.
type ParentSpec struct {
	Job     string
	Columns []string
}

// ParentJobs returns the names of the jobs that send the id of this field.
func (s FieldSpec) ParentJobs() []string {
	out := make([]string, len(s.SentBy))
	for i, p := range s.SentBy {
		out[i] = p.Job
	}
	return out
}

// SpecError is a fault of the configuration at a place: Path is like
// jobs.contracts.fields.price.scale.
type SpecError struct {
	Path string
	Text string
}

// Error gives the place and what is wrong with it.
func (e *SpecError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Text) }

// ReferenceSpec reads one de-para kind from the ERP at the start of each run (`references:`).
type ReferenceSpec struct {
	Kind  string
	Query string
	Code  []string // columns that make the code
	ID    string   // column with the platform's id
	Label string   // column with what people are shown beside the code; "" = none
}

// TwinHold is what `checks.twin` has beside warn and off: of two living rows with the same content
// only one goes before a person has said that they are two.
const TwinHold trade.Severity = "hold"

// TwinCheck says what happens to a row that another living row of the ERP equals. It is no part of
// the mapping: a change of it maps no row again.
type TwinCheck struct {
	Mode trade.Severity // hold, warn or off; "" = warn
	Days int            // rows that came further apart are two in any case; 0 = no limit
}

// Within reports whether two rows came close enough to be one that was typed twice.
func (c TwinCheck) Within(a, b trade.Entry) bool {
	apart := a.FirstSeenAt.Sub(b.FirstSeenAt).Abs()
	return c.Days == 0 || apart <= time.Duration(c.Days)*24*time.Hour
}
