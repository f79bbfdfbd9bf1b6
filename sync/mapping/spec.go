// Jobs as they are configured, in plain data.

package mapping

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// JobSpec is one job as it is configured (`jobs:`), in plain data. [Compile] checks and compiles
// it.
type JobSpec struct {
	Name     string
	Sends    trade.Kind
	Show     []ShowSpec // columns displayed before the key of a row
	Schedule string     // cron, of the daemon
	Query    string     // any SELECT
	Key      []string
	// key space: the keys of jobs in two spaces are never compared; "" = the space of all jobs that
	// name none
	Identity  string
	ChangedAt string        // column; "" = every run compares all rows
	Lookback  time.Duration // overlap of the reading window
	Sweep     string        // cron: when a sweep is due
	Cancelled *CancelledSpec
	Invalid   string               // column whose text makes a row an error; "" = none
	Fields    map[string]FieldSpec // by the API's field name
	Checks    trade.Checks
	Twin      TwinCheck      // what happens to a row that equals another living row
	Hours     []string       // when it may send; none = always
	Most      *trade.Freight // what one run may send without a person's release; nil = anything
	Canary    int            // this many rows go under an unconfirmed query or mapping; 0 = all
}

// CancelledSpec defines which rows count as cancelled in the ERP.
type CancelledSpec struct {
	Column string   `yaml:"column"` // required
	Values []string `yaml:"values"` // required
}

// FieldSpec defines where one field comes from and how its text is read. Exactly one of Columns and
// Const is set.
type FieldSpec struct {
	// one column; several only with Ref or SentBy, joined to a code, perhaps with a [ConstPart]
	Columns    []string
	Const      *string           // the same text for every row
	ValuesName string            // name of the value map, "" for one defined at the field itself
	Values     map[string]string // ERP value -> API value
	Default    *string           // used if the value is missing; in the API's form
	Date       string            // YYYYMMDD, DD/MM/YYYY, … ; "" = the database's own dates and YYYY-MM-DD
	// a sample of how the ERP writes numbers: "1.234,56", "1234,56", "1,234.56", "1234.56"; "" =
	// the last of these
	Number string
	Scale  *int32   // round to this many digits after the point
	Empty  []string // values that count as missing, beside NULL and blanks
	Ref    string   // de-para kind
	// the value is the platform's id of a row of one of these jobs, for which the row waits
	SentBy []ParentSpec

	// of a price: the unit for which the ERP has it, and the field with the unit to which it is
	// converted; nil: as it is
	Per *FieldSpec `json:",omitempty"`
	In  string     `json:",omitempty"`

	// which lookup is made with the value: trade.ProducerByDocument; "" = none
	Lookup string `json:",omitempty"`
}

// ParentSpec names a job and the columns that hold the key of its row.
type ParentSpec struct {
	Job     string
	Columns []string
}

// Reads returns the columns that a field reads, without constant parts of a code.
func (s FieldSpec) Reads() []string {
	columns := slices.Clone(s.Columns)
	if s.Per != nil {
		columns = append(columns, s.Per.Columns...)
	}
	return slices.DeleteFunc(columns, func(column string) bool {
		_, constant := ConstOf(column)
		return constant
	})
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
	Text *phrase.Text
}

// SpecFault returns a fault at a place.
func SpecFault(path, format string, args ...any) *SpecError {
	return &SpecError{path, phrase.New(format, args...)}
}

// Error returns the place and what is wrong there.
func (e *SpecError) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *SpecError) Phrase() *phrase.Text { return phrase.New("%s: %w", e.Path, e.Text) }

// ReferenceSpec defines one de-para kind that is read from the ERP at the start of each run
// (`references:`).
type ReferenceSpec struct {
	Kind  string
	Query string
	Code  []string // columns that form the code
	ID    string   // column with the platform's id
	Label string   // column displayed beside the code; "" = none
}

// TwinHold is the mode of `checks.twin` beside warn and off: of two living rows with the same
// content only one is sent until a person has declared that they are two.
const TwinHold trade.Severity = "hold"

// TwinCheck defines what happens to a row that equals another living row of the ERP. It is not part
// of the mapping: changing it maps no row again.
type TwinCheck struct {
	Mode trade.Severity // hold, warn or off; "" = warn
	// Near is the mode for a row that has only the same identifying fields, and differs in its price
	// or another field
	Near trade.Severity
	Days int // rows first seen further apart are two in any case; 0 = no limit
}

// Within reports whether two rows were first seen close enough together to be one that was typed
// twice.
func (c TwinCheck) Within(a, b trade.Entry) bool {
	apart := a.FirstSeenAt.Sub(b.FirstSeenAt).Abs()
	return c.Days == 0 || apart <= time.Duration(c.Days)*24*time.Hour
}
