package trade

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
)

// BrakeState is what the brakes of a job store from one reading to the next.
type BrakeState struct {
	Passed   int64     `json:"passed,omitempty"`   // id of the last entry that the brakes let pass
	Counts   []int     `json:"counts,omitempty"`   // new rows of the last readings with any, oldest first
	Identity *Identity `json:"identity,omitempty"` // in the last reading; nil before the first
	Allowed  int       `json:"allowed,omitempty"`  // new rows that a person let pass before they were read
	Released *Freight  `json:"released,omitempty"` // what a person released for one run beyond `most:`
	// fingerprint of the query and the mapping that are confirmed
	Mapping string `json:"mapping,omitempty"`
	// jobs of the same kind that no longer have what they sent, and beside which a person let this
	// job begin
	Former []string `json:"former,omitempty"`
	Canary *Canary  `json:"canary,omitempty"` // rows that were sent under an unconfirmed mapping
	// a rebuild has added rows, and lost how many were new in the readings that had found them
	Rebuilt bool `json:"rebuilt,omitempty"`
}

// Canary is what was sent under a mapping before a person confirmed it.
type Canary struct {
	Mapping string   `json:"mapping"` // fingerprint of the query and the mapping
	Rows    int      `json:"rows"`    // sent, or reserved to be sent when the process ended
	Samples []string `json:"samples"` // their keys
}

// Equal reports whether two memories are equal.
func (m BrakeState) Equal(o BrakeState) bool {
	same := m.Identity == nil && o.Identity == nil || m.Identity != nil && o.Identity != nil &&
		m.Identity.Equal(*o.Identity)
	return same && m.Passed == o.Passed && m.Allowed == o.Allowed && m.Rebuilt == o.Rebuilt &&
		slices.Equal(m.Counts, o.Counts) && m.Mapping == o.Mapping && slices.Equal(m.Former, o.Former) &&
		reflect.DeepEqual(m.Released, o.Released) && reflect.DeepEqual(m.Canary, o.Canary)
}

// Identity is what identifies a row of a job: the columns of its key, and the tables from which it
// comes.
type Identity struct {
	Key    []string `json:"key"`    // in the order of the configuration, in lower case
	Tables []string `json:"tables"` // sorted, in lower case
	// key space (`identity:`): the keys of jobs in two spaces are never compared; "" = the space of
	// all jobs that name none
	Space string `json:"space"`
}

// Equal reports whether two identities are equal.
func (i Identity) Equal(o Identity) bool { return i.SameRows(o) && i.Space == o.Space }

// SameRows reports whether two identities distinguish the rows of one job in the same way.
func (i Identity) SameRows(o Identity) bool {
	return slices.Equal(i.Key, o.Key) && slices.Equal(i.Tables, o.Tables)
}

// Brake is what a brake has found, for the people who decide whether the job goes on.
type Brake struct {
	Job     string   `json:"job"`
	Rows    int      `json:"rows"`              // new rows; retyped rows; rows that would look new
	Again   int      `json:"again,omitempty"`   // of the retyped rows: those of another job, which a release sends
	Usual   int      `json:"usual,omitempty"`   // new rows in a usual reading
	Limit   int      `json:"limit,omitempty"`   // number of rows from which the brake acts
	Known   int      `json:"known,omitempty"`   // known rows that should be found; those that got a new job's name
	Found   int      `json:"found,omitempty"`   // those of them that were found
	Samples []string `json:"samples,omitempty"` // keys of the first few rows
	// rows that were sent: those with which the samples were compared, or the first few that would
	// be gone
	Sent     []Counterpart `json:"sent,omitempty"`
	Last     int64         `json:"last,omitempty"`     // id of the last entry that a release lets pass
	Was      *Identity     `json:"was,omitempty"`      // identity before
	Identity *Identity     `json:"identity,omitempty"` // identity from now on
	Freight  *Freight      `json:"freight,omitempty"`  // what is due
	Most     *Freight      `json:"most,omitempty"`     // what one run may send
	Mapping  string        `json:"mapping,omitempty"`  // fingerprint of the mapping that a release confirms
	// of a new journal, and of absence: the ledger knows nothing that happened later
	Until time.Time `json:"until,omitzero"`
	// the pause that the job had before, and has again after a release: a person's, or, of absence,
	// another brake's
	Paused *JobStatus `json:"paused,omitempty"`
	// jobs of the same kind that are gone, or whose queries no longer return what they sent, while
	// this one is new
	Former []KnownJob `json:"former,omitempty"`
}

// sentence returns what a brake has found, and what to do.
func (b Brake) sentence(code string) Sentence {
	examples := Sentence{}
	if len(b.Samples) > 0 {
		examples = Say("brake.examples", "samples", b.Samples)
	}
	if more := b.Rows - len(b.Samples); len(b.Samples) > 0 && more > 0 {
		examples.Code = "brake.examples.more"
		examples = examples.With("more", more)
	}
	s := Say("stop."+code, "job", b.Job, "rows", b.Rows, "again", b.Again, "usual", b.Usual, "limit",
		b.Limit, "examples", examples,
		"known", b.Known, "found", b.Found, "lost", b.Known-b.Found, "until", b.Until)
	switch {
	case code == "brake_new_rows" && b.Usual == 0:
		s.Code += ".first"
	case b.Was != nil && b.Identity != nil && b.Was.Space != b.Identity.Space:
		s.Code += ".space"
		s = s.With("space", b.Identity.Space).With("was_space", b.Was.Space)
	case b.Was != nil && b.Identity != nil:
		s = s.With("now", b.Identity.Sentence()).With("was", b.Was.Sentence())
	case b.Freight != nil && b.Most != nil:
		s = s.With("due", b.Freight.sentences()).With("most", b.Most.sentences())
	case b.Again > 0:
		s.Code += ".again"
	case code == "brake_new_job":
		var former []Sentence
		advice := Say("brake.split")
		gone := slices.DeleteFunc(slices.Clone(b.Former), func(k KnownJob) bool { return k.Gone > 0 })
		for _, k := range b.Former {
			one := Say("brake.former", "job", k.Job, "accepted", k.Accepted, "doubts", k.InDoubt)
			if k.Gone > 0 {
				one.Code = "brake.gone"
				one = one.With("gone", k.Gone)
			} else if b.Known == 0 && len(gone) == 1 { // a name that has rows is given to no other job
				advice = Say("brake.renamed", "job", k.Job, "to", b.Job)
			}
			if k.Apart {
				one = Say("brake.apart", "former", one)
			}
			former = append(former, one)
		}
		s = s.With("former", former).With("advice", advice)
	}
	form := i18n.Sentences.Text(Portuguese, s.Code) + i18n.Sentences.Text(English, s.Code)
	maps.DeleteFunc(s.Args, func(name string, _ any) bool {
		return !strings.Contains(form, "{"+name+"}") && !strings.Contains(form, "{"+name+":")
	})
	return s
}

// Sentence names the key columns and the tables.
func (i Identity) Sentence() Sentence { return Say("brake.identity", "key", i.Key, "tables", i.Tables) }

// Arrivals are the entries of a job that the brakes have not judged yet. Entries that were sent
// before, which a rebuild has added again, are not counted.
type Arrivals struct {
	Before  bool // the job has earlier entries
	Rebuilt bool // there are accepted ones, which a rebuild has added
	Count   int
	Last    int64    // id of the job's last entry above the mark; 0 if there is none
	Samples []string // keys of the first few
}

// Late is what a sweep found new or changed although a window should have shown it long before.
type Late struct {
	Rows    int      `json:"rows"`
	Largest int64    `json:"largest_seconds"` // longest time from a row's time of change to this sweep
	Samples []string `json:"samples"`         // keys of the first few
	Why     Sentence `json:"why"`             // what it means and what to do
}

// StoredLate is the same as it is stored: JSON without the sentence, which is made where it is read.
type StoredLate Late

// MarshalJSON implements [json.Marshaler].
func (l Late) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		StoredLate
		Text string `json:"text"`
	}{StoredLate(l), l.Why.String()})
}

// LargestLateness returns the longest time as a duration.
func (l Late) LargestLateness() time.Duration { return time.Duration(l.Largest) * time.Second }

// sentences tells what a run would send, or may send; what has no limit is left out.
func (f Freight) sentences() (out []Sentence) {
	if f.Rows > 0 {
		out = append(out, Say("freight.rows", "rows", f.Rows))
	}
	if f.Kilograms.Sign() > 0 {
		out = append(out, Say("freight.weight", "kilograms", f.Kilograms))
	}
	for _, currency := range slices.Sorted(maps.Keys(f.Value)) {
		out = append(out, Say("freight.value", "currency", currency, "value", f.Value[currency]))
	}
	return out
}

// Freight is the rows of a run: their number, weight, and value by currency. Values of different
// currencies are never added.
type Freight struct {
	Load
	Value map[string]Decimal `json:"value,omitempty"` // of the rows with amount, price and currency, exact
	// order commitments without a value
	Unpriced int `json:"unpriced,omitempty"`
}

// Add counts one row.
func (f *Freight) Add(e Entry) {
	f.Load.Add(e.Quantity.Kilograms())
	currency, value, ok := e.Value()
	if !ok {
		if e.Sends == OrderCommitments {
			f.Unpriced++
		}
		return
	}
	if f.Value == nil {
		f.Value = map[string]Decimal{}
	}
	f.Value[currency] = f.Value[currency].Add(value)
}

// Less returns f minus o; no part becomes negative.
func (f Freight) Less(o Freight) Freight {
	left := Freight{Load: Load{
		Rows: max(0, f.Rows-o.Rows), Kilograms: f.Kilograms.Sub(o.Kilograms),
		Unweighed: max(0, f.Unweighed-o.Unweighed),
	}, Value: maps.Clone(f.Value), Unpriced: max(0, f.Unpriced-o.Unpriced)}
	if left.Kilograms.Sign() < 0 {
		left.Kilograms = Decimal{}
	}
	for currency, value := range left.Value {
		left.Value[currency] = value.Sub(o.Value[currency])
		if left.Value[currency].Sign() <= 0 {
			delete(left.Value, currency)
		}
	}
	return left
}

// Plus returns f plus o.
func (f Freight) Plus(o Freight) Freight {
	out := Freight{Load: Load{
		Rows: f.Rows + o.Rows, Kilograms: f.Kilograms.Add(o.Kilograms), Unweighed: f.Unweighed + o.Unweighed,
	}, Value: maps.Clone(f.Value), Unpriced: f.Unpriced + o.Unpriced}
	for currency, value := range o.Value {
		if out.Value == nil {
			out.Value = map[string]Decimal{}
		}
		out.Value[currency] = out.Value[currency].Add(value)
	}
	return out
}

// Within reports whether f does not exceed most. Zero rows, zero weight, or no value in a currency
// mean no limit.
func (f Freight) Within(most Freight) bool {
	if most.Rows > 0 && f.Rows > most.Rows || most.Kilograms.Sign() > 0 && f.Kilograms.Cmp(most.Kilograms) > 0 {
		return false
	}
	for currency, value := range most.Value {
		if f.Value[currency].Cmp(value) > 0 {
			return false
		}
	}
	return true
}

// And returns the limit f raised by o; what f does not limit stays without limit.
func (f Freight) And(o Freight) Freight {
	out := Freight{Load: f.Load, Value: maps.Clone(f.Value)}
	if f.Rows > 0 {
		out.Rows += o.Rows
	}
	if f.Kilograms.Sign() > 0 {
		out.Kilograms = f.Kilograms.Add(o.Kilograms)
	}
	for currency, value := range f.Value {
		out.Value[currency] = value.Add(o.Value[currency])
	}
	return out
}

// Value returns what an entry is worth: amount times price, in the currency of its payload. ok is
// false if one of the three is missing; deliveries and traceability have no price.
func (e Entry) Value() (currency string, value Decimal, ok bool) {
	var l Listing
	if e.Sends == OrderCommitments && len(e.Payload) > 0 {
		l.addPayload(e.Sends, e.Payload)
	}
	return l.Currency, l.Worth, l.Currency != ""
}
