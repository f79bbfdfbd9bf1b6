// One row of a report.

package reconcile

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Row is one row of the ledger in a report. Its JSON form is stored in closed reports: fields are
// only ever added.
type Row struct {
	Job   string     `json:"job"`
	Sends trade.Kind `json:"sends"`
	Key   string     `json:"key"`
	SendingState
	Document // of the newest row seen
	// of the row that was sent, if its product, season, producer, place or type is another
	SentAs *Document `json:"sent_as,omitempty"`

	ERP Figures `json:"erp"` // of the newest row seen
	// of the request, if the platform has or may have it
	Sent     *Figures  `json:"sent,omitempty"`
	Platform *Platform `json:"platform,omitempty"` // answer of a GET; nil: not asked

	// in the ERP now, acknowledged by a person or not
	Cancelled    bool        `json:"cancelled,omitempty"`
	Acknowledged trade.Flags `json:"acknowledged,omitempty"` // acknowledged, and still so

	Seen time.Time                               `json:"-"`              // when it was first seen; only now
	Show trade.Shown                             `json:"show,omitzero"`  // display columns; not in closed reports
	Told map[trade.ReportedStatus]ReportedStatus `json:"told,omitempty"` // latest statuses from events

	Number  int64             `json:"-"` // in what it was read from: id of its entry, or line
	Request map[string]string `json:"-"` // fields of what was sent; only now
}

// SendingState is what the ledger knows about the sending of a row.
type SendingState struct {
	State trade.State `json:"state"`
	Cause string      `json:"cause,omitempty"`
	Flags trade.Flags `json:"flags,omitempty"`

	Error      *trade.EntryError `json:"error,omitempty"`
	WaitingFor []trade.Awaited   `json:"waiting_for,omitempty"`
	RemoteID   string            `json:"remote_id,omitempty"`
	Moved      bool              `json:"moved,omitempty"` // record moved to the row's new key
	Gone       bool              `json:"gone,omitempty"`  // the last complete sweep did not find it
	Since      bool              `json:"since,omitempty"` // it was first seen after that sweep
	// its key was read in the ERP and is not there, and the row under its new key waits for a decision
	Renumbered bool       `json:"renumbered,omitempty"`
	After      bool       `json:"after,omitempty"`   // document dated after the cut-off
	Reduced    bool       `json:"reduced,omitempty"` // retention has removed its values
	SentAt     *time.Time `json:"sent_at,omitempty"`
	// the person by whose act it is on the platform; "" = only the program
	By      string `json:"by,omitempty"`
	Version int64  `json:"version"`
}

// Document is the ERP's document apart from quantity and price, for finding it.
type Document struct {
	Branch    string `json:"branch,omitempty"`   // the first part of a key of several parts
	Contract  string `json:"contract,omitempty"` // key of its contract
	Parent    string `json:"contract_job,omitempty"`
	OrderType string `json:"order_type,omitempty"`
	Product   string `json:"product,omitempty"`
	Harvest   string `json:"harvest,omitempty"`
	Producer  string `json:"producer,omitempty"` // the ERP's code; else the platform's id
	Place     string `json:"place,omitempty"`
	Wallet    string `json:"wallet,omitempty"`
	// day of the document (order_date, delivery_date); for a traceability record that of its
	// contract
	Day string `json:"day,omitempty"`
	CAR string `json:"car,omitempty"`
}

// ReportedStatus is a status that an event reported.
type ReportedStatus struct {
	Word string    `json:"word"` // "" = not readable
	At   time.Time `json:"at"`   // when the event came
}

// Figures are a quantity and its price.
type Figures = trade.Figures

// Platform is what the platform answered about a contract.
type Platform struct {
	Found  bool   `json:"found"`
	Fault  string `json:"fault,omitempty"`  // why it could not be read; a short English text without values
	Unread bool   `json:"unread,omitempty"` // it answered, but amount and unit could not be read
	Figures
}

// weight returns the weight for sums; ok is false for an amount of zero or less, and for a price
// below zero, which are typing errors.
func weight(f Figures) (kg trade.Decimal, ok bool) {
	kg, ok = f.Kilograms()
	if !ok || kg.Sign() <= 0 || f.Negative() {
		return trade.Decimal{}, false
	}
	return kg, true
}

// Entry returns the part of the ledger's entry that is needed to explain the row.
func (r Row) Entry() trade.Entry {
	return trade.Entry{
		Job: r.Job, Sends: r.Sends, Key: r.Key, State: r.State, Cause: r.Cause, Flags: r.Flags,
		Error: r.Error, WaitingFor: r.WaitingFor, RemoteID: r.RemoteID,
	}
}

// sentAs returns the document that was sent.
func (r *Row) sentAs() Document {
	if r.SentAs != nil {
		return *r.SentAs
	}
	return r.Document
}

// now returns what the ERP has of a row that was sent: an amount of zero if it has left or was
// cancelled.
func (r *Row) now() Figures {
	f := r.ERP
	if r.Sent != nil && (!r.living() || r.Flags.Has(trade.Cancelled) || r.Flags.Has(trade.MissingInERP)) {
		f.Amount = &trade.Decimal{}
	}
	return f
}

// living reports whether the ERP has the row as a document.
func (r *Row) living() bool { return !r.Gone && !r.Renumbered && !r.Cancelled }

// open reports whether something remains to be done about the row.
func (r *Row) open() bool {
	return !r.Gone && !r.Moved && !r.After && !slices.Contains(Settled, r.State)
}

// counts reports whether the row is in the totals of the ERP: it exists, is not cancelled, and its
// document has no day after the cut-off.
func (r *Row) counts() bool {
	return r.living() && !r.Moved && !r.After && !r.Flags.Has(trade.Cancelled) && r.State != trade.Withdrawn
}

// onPlatform reports whether the platform certainly has the row.
func (r *Row) onPlatform() bool { return r.State == trade.Accepted && !r.Moved && !r.After }

// fixing reports whether a document is only a price for grain of another one.
func (d Document) fixing() bool { return fixed(d.OrderType) && !contracted(d.OrderType) }

// maskingWriter masks the documents of persons in all texts of a report, in every format.
type maskingWriter struct{ Writer }

func (w maskingWriter) Begin(h Heading) error {
	h.Lines = trade.Map(h.Lines, trade.MaskDocuments)
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
