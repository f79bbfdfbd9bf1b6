package trade

import "time"

// Record is what is, or may be, on the platform: one for each sending of a row that made a record,
// may have made one, or was refused in a way that proves nothing, and one for what the platform or
// a person stated. It is never deleted, and outlives its row's key, job and mapping.
type Record struct {
	ID    int64 // assigned by the ledger, in the order of the sendings
	Kind  Kind
	Space string // the identity space of the job that sent it
	// the row that it belongs to now; zero if the ledger has no such row
	Row RowRef
	// the row under which it went, and the generation: these identify it in every ledger
	Job, Key   string
	Generation int

	Certainty Certainty
	RemoteID  string // the platform's id; "" = not known
	Parent    string // the platform's id of the record under which it was sent; "" = none
	Sent      Prints // of what was sent
	// of the newest row that was read under the key of its row; equal to Sent if that is as it was
	Newest    Prints
	Sightings []Sighting // what may be its row, until somebody decides
	Kilograms Decimal    // of what was sent; zero without a unit
	At        time.Time
	Version   int64 // raised by each change
}

// RowRef is a row of the ledger, with what is needed to read it again in the ERP.
type RowRef struct {
	ID       int64
	Job, Key string
	KeyParts []Cell
	State    State
	Replaced bool      // it has the flag: its key holds another row
	SeenAt   time.Time // when it was first seen
}

// RecordQuery asks for the records of one kind that a batch of rows must be compared with.
type RecordQuery struct {
	Job    string // the job that asks
	Space  string // its identity space
	Kind   Kind
	Keys   []string // records under these keys, of any job
	Prints []Prints // records with the cells of one of these, or all its identifying fields
	// records up to the number Before with one of these numbers of [Prints.Pairs]
	Pairs  [3][]int64
	Before int64
	IDs    []int64 // these records
	Seen   []int64 // records that one of these entries may be the row of
	Rows   []int64 // records that belong to these entries
}

// Sighting is what a row holds, or held last, that may be the row of a record: it is held because of
// it, or stands under a key that another record has. It counts as a content of the record until
// somebody decides, also when its key goes.
type Sighting struct {
	Row, Record int64 // of the ledger
	Prints
}

// Certainty is how certain it is that a record exists.
type Certainty string

// The certainties.
const (
	Made   Certainty = "made"   // the platform answered with its id
	Maybe  Certainty = "maybe"  // a request for it left, or may have; no answer proves what became of it
	Stated Certainty = "stated" // a person said that it exists, or the platform did without an id
	// A person took its row out. Nothing is known of the platform, but what the row is stays out
	// under another key, too.
	LeftOut Certainty = "left_out"
	// It was proved that nothing was created, or a person took the statement back. It counts no
	// more; the next sending of the row in this generation takes its place.
	Void Certainty = "void"
)

// Counts reports whether a record keeps the same content from going again.
func (c Certainty) Counts() bool { return c != Void }
