package alert

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Digest is what an accountant needs to know about a period: what was sent, what was not and why,
// and what to do.
type Digest struct {
	From    time.Time       `json:"from"`
	Until   time.Time       `json:"until"`
	Jobs    []DigestJob     `json:"jobs"`
	Missing []DigestMissing `json:"missing"` // references without an id
	Acts    map[string]int  `json:"acts"`    // decisions of people, by the names of the acts
	Alerts  []DigestAlert   `json:"alerts"`  // open ones
}

// DigestJob is the part of one job.
type DigestJob struct {
	Job     string              `json:"job"`
	Sends   trade.Kind          `json:"sends"`
	New     int                 `json:"new"`     // rows that were new in the ERP
	Changed int                 `json:"changed"` // rows that changed in the ERP
	Late    int                 `json:"late"`    // rows that only the sweep found
	Sent    []SentSum           `json:"sent"`
	Causes  []Cause             `json:"causes,omitempty"` // stored, and not shown
	States  map[trade.State]int `json:"states"`
	Flags   map[trade.Flag]int  `json:"flags"`
}

// SentSum is the sum of one product and, for contracts, of one type. Types are not added to each
// other, because a contract to be fixed and its fixation are about the same grain.
type SentSum struct {
	Product   string        `json:"product"`    // "" if not known
	OrderType string        `json:"order_type"` // of contracts
	Rows      int           `json:"rows"`
	Kilograms trade.Decimal `json:"kg"`           // exact
	Unweighed int           `json:"without_unit"` // rows without a weight
	// amount × price by currency, exact; currencies are never added to each other
	Values   map[string]trade.Decimal `json:"values"`
	Unpriced int                      `json:"without_price"`
}

// DigestMissing is one kind of reference whose codes lack ids, and the number of rows that they
// block.
type DigestMissing struct {
	Kind    string             `json:"kind"`
	Codes   int                `json:"codes"`
	Blocked map[trade.Kind]int `json:"blocked"`
}

// DigestAlert is an alert that people were told about and that is not over.
type DigestAlert struct {
	Topic   Topic     `json:"topic"`
	Subject string    `json:"subject"`
	Since   time.Time `json:"since"`
	Detail  Detail    `json:"detail,omitzero"` // stored, and not shown
}

// firstDigest is the period of a digest if there was none before.
const firstDigest = 24 * time.Hour

// digestSettles is the time between the end of a digest's period and the moment when it is made. An
// answer is stored a moment after it arrives, and one that was stored while a digest was made would
// be in no digest.
const digestSettles = 2 * time.Minute

// digestWhenDue makes the digest of the period since the last one, if a scheduled time has passed
// since. Several missed times lead to one digest. The first digest begins at the first start of the
// service.
func (s *Service) digestWhenDue(ctx context.Context) error {
	if s.DigestAt == nil {
		return nil
	}
	now := s.now()
	until := now.Add(-digestSettles).Truncate(time.Millisecond) // the precision of the ledger
	last, err := s.Ledger.DigestedUntil(ctx)
	if err != nil {
		return err
	}
	// the first start, or the clock was set back: the next digest begins here
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
	_, err = s.Ledger.SaveDigest(ctx, last, until, s.messagesFor(kindDigest, notice{Digest: &d}, now))
	return err
}

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
	m := s.voice().message(notice{Digest: &d})
	for i := range d.Jobs {
		d.Jobs[i].Causes = nil
	}
	for i := range d.Alerts {
		d.Alerts[i].Detail = Detail{}
	}
	return d, m.Subject + "\n\n" + m.text(), nil
}

func (s *Service) digest(ctx context.Context, last, until time.Time) (Digest, error) {
	d := Digest{From: last, Until: until, Missing: []DigestMissing{}, Alerts: []DigestAlert{}}
	if last.IsZero() || last.After(until) {
		d.From = until.Add(-firstDigest)
	}
	// first the configured jobs, then those that only the ledger knows
	f, err := s.readFacts(ctx)
	if err != nil {
		return d, err
	}
	for _, j := range f.jobs {
		job := DigestJob{Job: j.Name, Sends: j.Sends, States: map[trade.State]int{}, Flags: j.flags, Sent: []SentSum{}}
		for state, n := range j.states {
			if n > 0 {
				job.States[state] = n
			}
		}
		if s.Causes != nil {
			job.Causes, err = s.Causes(ctx, j.Name, nil)
			if err != nil {
				return d, err
			}
		}
		d.Jobs = append(d.Jobs, job)
	}
	err = s.Ledger.RunsEnded(ctx, d.From, d.Until, func(r trade.RunReport) error {
		job := d.job(r.Job)
		if job == nil {
			return nil
		}
		job.New += r.New
		job.Changed += r.Changed
		if r.Late != nil {
			job.Late += r.Late.Rows
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	if err := s.digestSent(ctx, &d); err != nil {
		return d, err
	}
	var shortages []trade.Shortage
	if s.Shortages != nil {
		shortages, err = s.Shortages(ctx)
		if err != nil {
			return d, err
		}
	}
	codes := map[string]int{}
	for _, short := range shortages {
		if short.Code != "" {
			codes[short.Kind]++
			continue
		}
		m := DigestMissing{Kind: short.Kind, Codes: codes[short.Kind], Blocked: map[trade.Kind]int{}}
		for kind, load := range trade.ByKind(short.Blocked) {
			m.Blocked[kind] = load.Rows
		}
		if short.Kind != trade.ProducerByDocument && short.Rows() > 0 {
			d.Missing = append(d.Missing, m)
		}
	}
	open, err := s.Ledger.Alerts(ctx)
	if err != nil {
		return d, err
	}
	for _, a := range open {
		if a.RaisedAt.IsZero() || !a.GoneAt.IsZero() || Topic(a.Topic) == LateAnswer {
			continue
		}
		one := DigestAlert{Topic: Topic(a.Topic), Subject: a.Subject, Since: a.Since}
		if err := unmarshalDetail(a, &one.Detail); err != nil {
			return d, err
		}
		d.Alerts = append(d.Alerts, one)
	}
	d.Acts, err = s.Ledger.Acts(ctx, d.From, d.Until)
	return d, err
}

// job returns the part of a job; nil if it has none.
func (d *Digest) job(name string) *DigestJob {
	i := slices.IndexFunc(d.Jobs, func(j DigestJob) bool { return j.Job == name })
	if i < 0 {
		return nil
	}
	return &d.Jobs[i]
}

// childPage is how many deliveries and traceability records are collected before the products of
// their contracts are read.
const childPage = 500

// digestSent sums up what the platform confirmed. The product of a delivery is that of its
// contract.
func (s *Service) digestSent(ctx context.Context, d *Digest) error {
	var children []trade.Sent
	err := s.Ledger.Sent(ctx, d.From, d.Until, func(sent trade.Sent) error {
		if sent.Sends == trade.OrderCommitments {
			fields := trade.SentFields(sent.Payload)
			d.add(sent, fields, fields["product"], fields["order_type"])
			return nil
		}
		children = append(children, sent)
		if len(children) < childPage {
			return nil
		}
		full := children
		children = nil
		return s.addChildren(ctx, d, full)
	})
	if err == nil {
		err = s.addChildren(ctx, d, children)
	}
	for i := range d.Jobs {
		slices.SortFunc(d.Jobs[i].Sent, func(a, b SentSum) int {
			return cmp.Or(unknownLast(a.Product)-unknownLast(b.Product), cmp.Compare(a.Product, b.Product),
				cmp.Compare(slices.Index(orderTypes, a.OrderType), slices.Index(orderTypes, b.OrderType)))
		})
	}
	return err
}

func unknownLast(product string) int {
	if product == "" {
		return 1
	}
	return 0
}

// orderTypes lists the types of contracts in the order in which they are shown.
var orderTypes = []string{
	string(trade.Compra), string(trade.AFixar), string(trade.FixacaoCompra),
	string(trade.FixacaoDeposito),
}

func (s *Service) addChildren(ctx context.Context, d *Digest, children []trade.Sent) error {
	if len(children) == 0 {
		return nil
	}
	sent := make([]map[string]string, len(children)) // nil: removed by retention, a row without a weight
	contract := make([]string, len(children))
	var ids []string
	for i, c := range children {
		sent[i] = trade.SentFields(c.Payload)
		contract[i] = sent[i]["contract_id"]
		if c.Sends == trade.Traceability {
			contract[i] = c.Target
		}
		if contract[i] != "" {
			ids = append(ids, contract[i])
		}
	}
	slices.Sort(ids)
	contracts, err := s.Ledger.PayloadsOf(ctx, trade.OrderCommitments, slices.Compact(ids))
	if err != nil {
		return err
	}
	for i, c := range children {
		d.add(c, sent[i], trade.SentFields(contracts[contract[i]])["product"], "")
	}
	return nil
}

// add counts one record; product is that of its contract, orderType only of contracts.
func (d *Digest) add(sent trade.Sent, fields trade.Fields, product, orderType string) {
	job := d.job(sent.Job)
	if job == nil {
		return
	}
	i := slices.IndexFunc(job.Sent, func(o SentSum) bool { return o.Product == product && o.OrderType == orderType })
	if i < 0 {
		i = len(job.Sent)
		job.Sent = append(job.Sent, SentSum{Product: product, OrderType: orderType, Values: map[string]trade.Decimal{}})
	}
	sum, figures := &job.Sent[i], trade.FiguresOf(sent.Sends, fields.Text)
	sum.Rows++
	kg, weighed := figures.Kilograms()
	sum.Kilograms = sum.Kilograms.Add(kg)
	if !weighed {
		sum.Unweighed++
	}
	value, priced := figures.Value()
	switch {
	case sent.Sends != trade.OrderCommitments:
	case !priced:
		sum.Unpriced++
	default:
		sum.Values[figures.Currency] = sum.Values[figures.Currency].Add(value)
	}
}
