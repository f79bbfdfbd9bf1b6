package trade

import "time"

// Act is one act of a person as the ledger stores it: the change and its record in the audit, both or neither.
type Act struct {
	Update *Update // the entry as it becomes; done only while it stands as it was read. nil for an act on a job
	Gives  *Update // the entry that gives its id up to this one, in the same transaction and only if it too stands as it was read; nil for every other act
	Job    *JobAct // nil for an act on an entry
	Resend *Resend // of an act that opens a generation: what must hold then. nil for every other act
	Ask    []Block // records of the platform that are asked about again at once, as if for the first time
	Audit  AuditRecord
}

// Resend is what must be true when a person orders a second sending (I14): every attempt of the entry is closed, and those that are unknown have been so
// for Least, on the clock of the boot that asks.
type Resend struct {
	Boot  string        // id of the clock, see Owner.Boot
	Ticks time.Duration // its clock now: it goes on while the machine is suspended, and nobody can set it
	Least time.Duration
}

// JobAct changes where a job stands, and what its brakes remember.
type JobAct struct {
	Job    string
	Saw    *JobStatus // done only while the job stands so; nil = wherever it stands, unless it is paused
	Status JobStatus
	Cursor *Cursor // also set; done only while no process runs the job (*LeasedError). nil = left alone
}

// Difference is one field in which the ERP's row is no longer what the platform has. Values are in the API's form, null where the field is absent.
type Difference struct {
	Field        string   `json:"field"`        // of the API; "" when only the column can be told
	Columns      []string `json:"columns"`      // of the query
	Sent         *string  `json:"sent"`         // what left
	Acknowledged *string  `json:"acknowledged"` // what a person has dealt with; null when nobody has
	Now          *string  `json:"now"`          // what would leave; null also where the ERP's value cannot be mapped
	ERPSent      string   `json:"erp_sent"`     // what the ERP had when the row left
	ERPNow       string   `json:"erp_now"`      // what it has
}

// AcknowledgedByAct are the flags that a person can deal with by an acknowledgement.
var AcknowledgedByAct = []Flag{Changed, MissingInERP, Cancelled, DeletedRemote, Contradicted, DoubleAfterDecision}
