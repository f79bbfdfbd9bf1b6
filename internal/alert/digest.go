package alert

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Digest is what an accountant wants to know of a time: what went, what did not, why, what to do.
type Digest struct {
	From    time.Time       `json:"from"`
	Until   time.Time       `json:"until"`
	Jobs    []DigestJob     `json:"jobs"`
	Missing []DigestMissing `json:"missing"` // references without an id
	Acts    map[string]int  `json:"acts"`    // what people decided, by the names of the acts
	Alerts  []DigestAlert   `json:"alerts"`  // open ones
	index   map[string]int  // of Jobs by name
}

// DigestJob is one job's part.
type DigestJob struct {
	Job     string              `json:"job"`
	Sends   trade.Kind          `json:"sends"`
	New     int                 `json:"new"`     // rows that the ERP had more
	Changed int                 `json:"changed"` // rows that the ERP changed
	Late    int                 `json:"late"`    // rows that only the sweep found
	Sent    []SentSum           `json:"sent"`
	Causes  []Cause             `json:"-"`
	States  map[trade.State]int `json:"states"`
	Flags   map[trade.Flag]int  `json:"flags"`
}

// SentSum is the sum of one product and, of contracts, one type: the grain of a contract to be
// fixed and of its fixation is the same grain.
type SentSum struct {
	Product   string        `json:"product"`    // "" = not known
	OrderType string        `json:"order_type"` // of contracts
	Rows      int           `json:"rows"`
	Kilograms trade.Decimal `json:"kg"`           // exactly
	Unweighed int           `json:"without_unit"` // rows without a weight
	// amount × price by currency, exactly; never added to each other
	Values   map[string]trade.Decimal `json:"values"`
	Unpriced int                      `json:"without_price"`
}

// DigestMissing is what the missing codes of one kind of reference keep from going.
type DigestMissing struct {
	Kind    string             `json:"kind"`
	Codes   int                `json:"codes"`
	Blocked map[trade.Kind]int `json:"blocked"`
}

// DigestAlert is an alert that people were told of and that is not over.
type DigestAlert struct {
	Topic   Topic     `json:"topic"`
	Subject string    `json:"subject"`
	Since   time.Time `json:"since"`
	detail  Detail
}

// firstDigest is the time that a digest tells of when there was none before.
const firstDigest = 24 * time.Hour

// digestSettles is how long before the time at which it is made a digest ends: an answer stands in
// the ledger a moment after it arrived, and one that is stored while the digest is made would be in
// none.
const digestSettles = 2 * time.Minute

// digestWhenDue makes the digest of the time since the last one, when a time of its schedule has
// come since. Times that were missed are one digest. The first start of the service is where the
// first one begins.
func (s *Service) digestWhenDue(ctx context.Context) error {
	if s.DigestAt == nil {
		return nil
	}
	now := s.now()
	until := digestUntil(now)
	last, err := s.Ledger.DigestedUntil(ctx)
	if err != nil {
		return err
	}
	// the first start; or the clock was set back: the next digest begins here
	if last.IsZero() || last.After(now.Add(firstDigest)) {
		_, err := s.Ledger.SaveDigest(ctx, last, until, nil)
		return err
	}
	if next := s.DigestAt.Next(last.Add(digestSettles)); next.IsZero() || next.After(now) {
		return nil
	}
	d, err := s.digest(ctx, last, until)
	if err != nil {
		return err
	}
	_, err = s.Ledger.SaveDigest(ctx, last, until, s.messagesFor(kindDigest, s.voice().digest(d), now))
	return err
}

// digestUntil is the end of a digest that is made now, as the ledger keeps it.
func digestUntil(now time.Time) time.Time { return now.Add(-digestSettles).Truncate(time.Millisecond) }

// Digest returns the digest that would be sent now, and its text.
func (s *Service) Digest(ctx context.Context) (Digest, string, error) {
	last, err := s.Ledger.DigestedUntil(ctx)
	if err != nil {
		return Digest{}, "", err
	}
	d, err := s.digest(ctx, last, s.now())
	if err != nil {
		return Digest{}, "", err
	}
	m := s.voice().digest(d)
	return d, m.Subject + "\n\n" + m.text(), nil
}

func (s *Service) digest(ctx context.Context, last, until time.Time) (Digest, error) {
	d := Digest{From: last, Until: until, Missing: []DigestMissing{}, Alerts: []DigestAlert{}}
	if last.IsZero() || last.After(until) {
		d.From = until.Add(-firstDigest)
	}
	for _, step := range []func(context.Context,
		*Digest) error{s.digestJobs, s.digestRuns, s.digestSent, s.digestMissing, s.digestAlerts} {
		if err := step(ctx, &d); err != nil {
			return d, err
		}
	}
	var err error
	d.Acts, err = s.Ledger.Acts(ctx, d.From, d.Until)
	return d, err
}

// digestJobs tells where the rows stand: of the configured jobs, then of those that only the ledger
// knows.
func (s *Service) digestJobs(ctx context.Context, d *Digest) error {
	f, err := s.look(ctx)
	if err != nil {
		return err
	}
	d.index = map[string]int{}
	for _, j := range f.jobs {
		job := DigestJob{Job: j.Name, Sends: j.Sends, States: map[trade.State]int{}, Flags: j.flags, Sent: []SentSum{}}
		for state, n := range j.states {
			if n > 0 {
				job.States[state] = n
			}
		}
		if s.Causes != nil {
			if job.Causes, err = s.Causes(ctx, j.Name, nil); err != nil {
				return err
			}
		}
		d.index[j.Name] = len(d.Jobs)
		d.Jobs = append(d.Jobs, job)
	}
	return nil
}

func (s *Service) digestRuns(ctx context.Context, d *Digest) error {
	return s.Ledger.RunsEnded(ctx, d.From, d.Until, func(r trade.RunReport) error {
		at, ok := d.index[r.Job]
		if !ok {
			return nil
		}
		d.Jobs[at].New += r.New
		d.Jobs[at].Changed += r.Changed
		if r.Late != nil {
			d.Jobs[at].Late += r.Late.Rows
		}
		return nil
	})
}

func (s *Service) digestMissing(ctx context.Context, d *Digest) error {
	shortages, err := s.Ledger.Shortages(ctx)
	if err != nil {
		return err
	}
	codes := map[string]int{}
	for _, short := range shortages {
		if short.Code != "" {
			codes[short.Kind]++
			continue
		}
		m := DigestMissing{Kind: short.Kind, Codes: codes[short.Kind], Blocked: map[trade.Kind]int{}}
		for kind, load := range short.Blocked {
			m.Blocked[kind] = load.Rows
		}
		if short.Kind != trade.ProducerByDocument && short.Rows() > 0 {
			d.Missing = append(d.Missing, m)
		}
	}
	return nil
}

func (s *Service) digestAlerts(ctx context.Context, d *Digest) error {
	open, err := s.Ledger.Alerts(ctx)
	if err != nil {
		return err
	}
	for _, a := range open {
		if a.RaisedAt.IsZero() || !a.GoneAt.IsZero() || Topic(a.Topic) == LateAnswer {
			continue
		}
		one := DigestAlert{Topic: Topic(a.Topic), Subject: a.Subject, Since: a.Since}
		if err := unmarshalDetail(a, &one.detail); err != nil {
			return err
		}
		d.Alerts = append(d.Alerts, one)
	}
	return nil
}
