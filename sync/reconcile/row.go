// One row of a report.

package reconcile

import (
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Basis says how a row's state at the cut-off is known.
type Basis string

// The bases.
const (
	Exact   Basis = ""        // the row has not moved since
	Derived Basis = "derived" // from attempts and audit
	// it was not on the platform; whether it was pending, waiting or invalid nobody wrote down
	Unknown Basis = "unknown"
)

// Row is one row of the ledger as a report shows it. Its JSON form is kept in closed reports:
// fields are only ever added.
type Row struct {
	Job   string     `json:"job"`
	Sends trade.Kind `json:"sends"`
	Key   string     `json:"key"`
	Standing
	Document

	ERP      Figures   `json:"erp"`                // of the newest row seen
	Sent     *Figures  `json:"sent,omitempty"`     // of what left, for rows that are on the platform or may be
	Platform *Platform `json:"platform,omitempty"` // what a GET gave; nil: nobody asked

	// in the ERP now, whether a person has dealt with it or not
	Cancelled    bool        `json:"cancelled,omitempty"`
	Acknowledged trade.Flags `json:"acknowledged,omitempty"` // what a person has dealt with, and what is so still

	Beheld
}

// Beheld is what is told of a row beside what the report sums up.
type Beheld struct {
	Show trade.Shown           `json:"show,omitzero"`  // what people are shown before its key; not kept in closed reports
	Told map[trade.Status]Told `json:"told,omitempty"` // what events told last of its record, its producer and its farm
}

// Standing is what the ledger knows of the sending of a row.
type Standing struct {
	State trade.State `json:"state"` // "" with Basis Unknown
	Basis Basis       `json:"basis,omitempty"`
	Cause string      `json:"cause,omitempty"`
	Flags trade.Flags `json:"flags,omitempty"`

	Error      *trade.EntryError `json:"error,omitempty"`
	WaitingFor []trade.Awaited   `json:"waiting_for,omitempty"`
	RemoteID   string            `json:"remote_id,omitempty"`
	Moved      bool              `json:"moved,omitempty"`   // its record went to the row under its new key
	Gone       bool              `json:"gone,omitempty"`    // the last complete sweep did not find it
	Since      bool              `json:"since,omitempty"`   // it was first seen after that sweep
	After      bool              `json:"after,omitempty"`   // its document is of a day after the cut-off
	Reduced    bool              `json:"reduced,omitempty"` // the retention has taken its values
	SentAt     *time.Time        `json:"sent_at,omitempty"`
	// the person by whose act it is on the platform; "" = the program alone
	By      string `json:"by,omitempty"`
	Version int64  `json:"version"`
}

// Document is what the ERP's document says besides quantity and price, by which people find it.
type Document struct {
	Branch    string `json:"branch,omitempty"`   // the first part of a key of several parts
	Contract  string `json:"contract,omitempty"` // key of its contract
	Parent    string `json:"contract_job,omitempty"`
	OrderType string `json:"order_type,omitempty"`
	Product   string `json:"product,omitempty"`
	Harvest   string `json:"harvest,omitempty"`
	Producer  string `json:"producer,omitempty"` // the ERP's code; the platform's id where there is none
	Place     string `json:"place,omitempty"`
	Wallet    string `json:"wallet,omitempty"`
	// of the document: order_date, delivery_date; of a traceability record that of its contract
	Day string `json:"day,omitempty"`
	CAR string `json:"car,omitempty"`
}

// Told is a status as an event named it.
type Told struct {
	Word string    `json:"word"` // "" = none that could be read
	At   time.Time `json:"at"`   // when the event came
}

// Figures are a quantity and its price.
type Figures = trade.Figures

// Platform is what the platform said of a contract.
type Platform struct {
	Found  bool   `json:"found"`
	Fault  string `json:"fault,omitempty"`  // why it could not be read; a short English text without values
	Unread bool   `json:"unread,omitempty"` // it answered, and amount and unit could not be read
	Figures
}

// weight is the weight for sums: an amount of zero or less is a typing error, and in none.
func weight(f Figures) (kg trade.Decimal, ok bool) {
	kg, ok = f.Kilograms()
	if !ok || kg.Sign() <= 0 {
		return trade.Decimal{}, false
	}
	return kg, true
}

// Entry is as much of the ledger's entry as words for the row need.
func (r Row) Entry() trade.Entry {
	return trade.Entry{
		Job: r.Job, Sends: r.Sends, Key: r.Key, State: r.State, Cause: r.Cause, Flags: r.Flags,
		Error: r.Error, WaitingFor: r.WaitingFor, RemoteID: r.RemoteID,
	}
}

// now is what the ERP has of a row that was sent: nothing, once it left or was cancelled.
func (r Row) now() Figures {
	f := r.ERP
	if r.Sent != nil && (r.Gone || r.Cancelled || r.Flags.Has(trade.Cancelled) || r.Flags.Has(trade.MissingInERP)) {
		f.Amount = &trade.Decimal{}
	}
	return f
}

// counts reports whether the row is in the totals of the ERP: it is there, is not cancelled, and
// its document is not of a later day.
func (r Row) counts() bool {
	return !r.Gone && !r.Moved && !r.After && !r.Cancelled && !r.Flags.Has(trade.Cancelled) &&
		r.State != trade.Withdrawn
}

// onPlatform reports whether the platform has it for certain.
func (r Row) onPlatform() bool { return r.State == trade.Accepted && !r.Moved && !r.After }

// unitOf brings a unit into the spelling of order commitments.
func unitOf(text string) trade.Unit { return trade.Unit(strings.ToUpper(strings.TrimSpace(text))) }

// maskingWriter masks the documents of persons in all texts of a report, whatever its form is.
type maskingWriter struct{ Writer }

func (w maskingWriter) Begin(h Heading) error {
	h.Lines = append([]string(nil), h.Lines...)
	for i, line := range h.Lines {
		h.Lines[i] = trade.MaskDocuments(line)
	}
	return w.Writer.Begin(h)
}

func (w maskingWriter) Row(cells []any) error {
	for i, cell := range cells {
		switch c := cell.(type) {
		case string:
			cells[i] = trade.MaskDocuments(c)
		case trade.Shown:
			cells[i] = c.Masked()
		case Label:
			cells[i] = Label{trade.MaskDocuments(c.ID), trade.MaskDocuments(c.Text)}
		}
	}
	return w.Writer.Row(cells)
}
