package office

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Dossier is everything stored about one producer: first the platform ids and the ERP's codes by
// which rows name it.
type Dossier struct {
	Made       time.Time         `json:"made"`
	IDs        []string          `json:"platform_ids"`
	Codes      []string          `json:"erp_codes"`
	References []trade.Reference `json:"references"`
	Lookups    []trade.Lookup    `json:"lookups"`
	Rows       []DossierRow      `json:"rows"`
	Blocks     []trade.Block     `json:"platform_lacks"` // what rows wait for on the platform
	Acts       []Audit           `json:"acts"`
	Closed     []DossierClosing  `json:"closed_reports"` // with rows of the producer
	Notes      []string          `json:"notes"`          // what is not in it; whoever prints it sets them

	Records []trade.AuditRecord `json:"-"` // of Acts
	Sums    DossierSums         `json:"-"`
	known   map[int64]bool
}

// DossierRow is a row about the producer.
type DossierRow struct {
	*RowDetail
	// its values have been removed and the remaining marks match, so that it is almost certainly, but
	// not provably, the producer's
	ByMark   bool            `json:"by_mark"`
	Child    bool            `json:"hangs_on_another"`
	Entry    trade.Entry     `json:"-"`
	Attempts []trade.Attempt `json:"-"`
	Erasable bool            `json:"-"` // it has values that are no longer needed
}

// Reduced reports whether the values of a row were removed earlier.
func (r DossierRow) Reduced() bool { return !r.Entry.ReducedAt.IsZero() }

// DossierClosing is a closed report with rows of the producer.
type DossierClosing struct {
	ID  string     `json:"id"`
	Day trade.Date `json:"day"`
	At  time.Time  `json:"at"`
}

// DossierSums are the numbers of a dossier, and what became of it; they are the detail of its audit record.
type DossierSums struct {
	Producer   string `json:"producer"` // as it was asked for
	Rows       int    `json:"rows"`
	References int    `json:"references"`
	Lookups    int    `json:"lookups"`
	Acts       int    `json:"acts"`
	Erasable   int    `json:"erasable"` // rows with values that are no longer needed
	Reduced    int    `json:"reduced"`  // rows whose values were removed earlier
	Needed     int    `json:"needed"`   // rows that are open, in doubt, or to be looked at
	Erased     int    `json:"erased"`
	Closed     int    `json:"closed_reports"` // they are never changed
	File       string `json:"file,omitempty"`
}

// Target returns the name of the producer in the audit.
func (s *Dossier) Target() string {
	if len(s.IDs) > 0 {
		return "producer " + s.IDs[0]
	}
	return "producer " + trade.MaskDocuments(strings.Join(s.Codes, " ")) // the audit stays for years
}

// ids returns the rows.
func (s *Dossier) ids() []int64 {
	return trade.Map(s.Rows, func(r DossierRow) int64 { return r.Entry.ID })
}

// Erase removes what the ledger stores about a producer and no longer needs, and returns the number of
// rows.
func (o *Office) Erase(ctx context.Context, s *Dossier, who trade.Person) (int, error) {
	record, err := o.recorded(who, trade.ActPurge, s.Target(), s.Sums)
	if err != nil {
		return 0, err
	}
	return o.store.Erase(ctx, s.ids(), s.IDs, o.now(), record)
}

// Purge removes what PlanRetention showed.
func (o *Office) Purge(ctx context.Context, keep state.Retention, at time.Time, who trade.Person) (state.RetentionPlan,
	error,
) {
	record, err := o.recorded(who, trade.ActPurge, "ledger", nil)
	if err != nil {
		return nil, err
	}
	return o.store.Retain(ctx, keep, at, record)
}

// Dossier returns everything that the ledger stores about a producer, named by the platform's id or by a
// code of the ERP.
func (o *Office) Dossier(ctx context.Context, named string) (*Dossier, error) {
	store := o.store
	s := &Dossier{
		Made: o.now(), IDs: []string{}, Codes: []string{}, References: []trade.Reference{}, Lookups: []trade.Lookup{},
		Rows: []DossierRow{}, Blocks: []trade.Block{}, Acts: []Audit{}, Closed: []DossierClosing{},
		known: map[int64]bool{},
	}
	if err := s.name(ctx, store, named); err != nil {
		return nil, err
	}
	if err := s.find(ctx, o, s.names, false); err != nil {
		return nil, err
	}
	for range trade.Kinds { // the rows that depend on them, and the rows that depend on those
		parents := parentRows{map[string]bool{}, map[string][]string{}}
		for _, r := range s.Rows {
			if r.Entry.RemoteID != "" {
				parents.ids[r.Entry.RemoteID] = true
			}
			parents.keys[r.Entry.Job] = append(parents.keys[r.Entry.Job], r.Entry.Key)
		}
		if err := s.find(ctx, o, parents.have, true); err != nil {
			return nil, err
		}
	}
	targets := map[string]bool{}
	for _, r := range s.Rows {
		targets[r.Entry.Job+" "+r.Entry.Key] = true
	}
	names := append(slices.Clone(s.IDs), s.Codes...)
	closings, err := store.Closings(ctx, trade.Date{})
	if err != nil {
		return nil, err
	}
	for _, c := range closings {
		has := false
		snapshot, err := reconcile.OpenClosed(ctx, store, c)
		if err == nil {
			err = snapshot.Each(func(r *reconcile.Row) error {
				has = targets[r.Job+" "+r.Key] ||
					slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(r.Producer, name) })
				if has {
					return run.ErrEnough
				}
				return nil
			})
		}
		switch {
		case has, errors.Is(err, trade.ErrClosingDamaged): // one that cannot be read may contain some
			s.Closed = append(s.Closed, DossierClosing{c.ID, c.Day, c.At})
		case err != nil:
			return nil, err
		}
	}
	erasable, err := store.Erasable(ctx, s.ids())
	if err != nil {
		return nil, err
	}
	s.Sums = DossierSums{
		Producer: named, Rows: len(s.Rows), References: len(s.References), Lookups: len(s.Lookups),
		Closed: len(s.Closed),
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		r.RowDetail = o.detail(r.Entry, r.Attempts, nil, Hints{})
		r.Erasable = erasable[r.Entry.ID]
		switch {
		case r.Erasable:
			s.Sums.Erasable++
		case r.Reduced():
			s.Sums.Reduced++
		default:
			s.Sums.Needed++
		}
	}
	blocks, err := store.Blocks(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if slices.ContainsFunc(strings.Fields(b.ID), func(id string) bool { return slices.Contains(s.IDs, id) }) {
			s.Blocks = append(s.Blocks, b)
		}
	}
	for _, name := range names {
		targets["producer "+name] = true
	}
	all, err := store.Audit(ctx, 0)
	for _, act := range slices.Backward(all) {
		if targets[act.Target] {
			s.Acts, s.Records = append(s.Acts, AuditOf(act)), append(s.Records, act)
		}
	}
	s.Sums.Acts = len(s.Acts)
	return s, err
}

// name collects the platform ids, codes, references and lookups of a producer that is named by id
// or by code.
func (s *Dossier) name(ctx context.Context, store *state.Store, named string) error {
	refs, _, err := store.References(ctx)
	if err != nil {
		return err
	}
	lines, err := store.ListReferences(ctx, "producers")
	if err != nil {
		return err
	}
	labels := map[string]string{}
	for _, line := range lines {
		labels[line.Code] = line.Label
	}
	answers, err := store.Lookups(ctx, trade.ProducerByDocument)
	if err != nil {
		return err
	}
	if id, err := trade.ParseID(named); err == nil {
		s.IDs = append(s.IDs, id)
	} else {
		s.Codes = append(s.Codes, mapping.NormalCode(named))
		if id := refs["producers"][mapping.NormalCode(named)]; id != "" {
			s.IDs = append(s.IDs, canonicalID(id))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(refs["producers"])) {
		id := refs["producers"][code]
		if slices.Contains(s.IDs, canonicalID(id)) || slices.Contains(s.Codes, code) {
			s.References = append(s.References,
				trade.Reference{Kind: "producers", Code: code, ID: id, Label: labels[code]})
			if !slices.Contains(s.Codes, code) {
				s.Codes = append(s.Codes, code)
			}
		}
	}
	for _, code := range slices.Sorted(maps.Keys(answers)) {
		if l := answers[code]; slices.Contains(s.IDs, l.ID) {
			s.Lookups = append(s.Lookups, l)
			s.Codes = append(s.Codes, code)
		}
	}
	return nil
}

func canonicalID(text string) string {
	if id, err := trade.ParseID(text); err == nil {
		return id
	}
	return text
}

// find adds all rows of the ledger that belong to the producer and are not yet known. belongs gets the
// request that a row has now as the first of its attempts.
func (s *Dossier) find(ctx context.Context, o *Office,
	belongs func(mapping.JobSpec, trade.Entry, []trade.Attempt) (found, byMark bool), child bool,
) error {
	return o.store.Rows(ctx, trade.RowQuery{}, func(e trade.Entry) error {
		if s.known[e.ID] {
			return nil
		}
		attempts, err := o.store.Attempts(ctx, e.ID)
		if err != nil {
			return err
		}
		_, spec := o.job(e.Job)
		found, byMark := belongs(spec, e, slices.Insert(slices.Clone(attempts), 0, trade.Attempt{
			Target: e.Target, Payload: e.Payload,
		}))
		if found {
			s.known[e.ID] = true
			s.Rows = append(s.Rows, DossierRow{Entry: e, Attempts: attempts, Child: child, ByMark: byMark})
		}
		return nil
	})
}

// names reports whether a row names the producer: by its id in what was sent, or by its code in the
// ERP's values.
func (s *Dossier) names(spec mapping.JobSpec, e trade.Entry, attempts []trade.Attempt) (found, byMark bool) {
	for _, t := range attempts {
		if slices.Contains(s.IDs, fieldOf(t.Payload, "producer_id")) {
			return true, false
		}
	}
	field, mapped := spec.Fields["producer_id"]
	if !mapped {
		return false, false
	}
	for _, values := range []trade.Values{e.Values, e.Now, e.AckValues} {
		for _, code := range append(slices.Clone(s.Codes), s.IDs...) {
			if same, marked := hasCode(e.Key, values, field.Columns, mapping.CodeParts(code)); same {
				return true, marked
			}
		}
	}
	return false, false
}

// hasCode reports whether columns hold the parts of a code. marked means that at least one value
// has been removed, and only its mark was compared.
func hasCode(key string, values trade.Values, columns, parts []string) (same, marked bool) {
	if len(columns) == 0 || len(columns) != len(parts) {
		return false, false
	}
	for i, column := range columns {
		cell, ok := values[column]
		constant, is := mapping.ConstOf(column)
		switch {
		case is && constant == parts[i]:
		case !ok:
			return false, false
		case cell.Kind == trade.Marked:
			marked = true
			if trade.Mark(key, column, trade.Cell{Kind: 't', Text: parts[i]}) != cell {
				return false, false
			}
		case !strings.EqualFold(strings.TrimSpace(cell.Text), parts[i]):
			return false, false
		}
	}
	return true, marked
}

func fieldOf(body json.RawMessage, field string) string {
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields[field], &text) != nil {
		return ""
	}
	return text
}

// parentRows are the rows on which others may depend, by platform id, and by job and key.
type parentRows struct {
	ids  map[string]bool
	keys map[string][]string // by job
}

// have reports whether a row depends on one of the parents.
func (p parentRows) have(spec mapping.JobSpec, e trade.Entry, attempts []trade.Attempt) (found, byMark bool) {
	for _, t := range attempts {
		if p.ids[t.Target] || p.ids[fieldOf(t.Payload, "contract_id")] {
			return true, false
		}
	}
	for _, w := range e.WaitingFor {
		if w.Job != "" && slices.Contains(p.keys[w.Job], w.Key) {
			return true, false
		}
	}
	for _, field := range spec.Fields {
		for _, parent := range field.SentBy {
			for _, key := range p.keys[parent.Job] {
				if same, marked := hasCode(e.Key, e.Values, parent.Columns, mapping.CodeParts(key)); same {
					return true, marked
				}
			}
		}
	}
	return false, false
}
