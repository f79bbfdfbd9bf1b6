package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// selectShort selects the rows that lack an id, and the rows that wait for them. Its first
// condition is that of the index entry_short, which the databases use only for exactly these words.
const selectShort = `SELECT e.id, e.job, e.key, e.sends, e.state, e.waiting_for, e.amount, e.unit FROM entry e WHERE e.waiting_for <> '[]' AND e.state IN ('waiting', 'invalid')`

// Shortages returns the references that rows wait for and that no table has, with what each of them
// blocks: the rows that wait for it, and the rows that wait for such a row (a delivery waits for
// its contract, which waits for its wallet). The codes of a kind are followed by its total, which
// counts each row once. The order is by kind, then by the number of blocked rows, the most first.
//
// The result is as of the last run, except that codes that were added since are no longer missing.
// It is cached until rows or references change; the caller must not modify it.
func (s *Store) Shortages(ctx context.Context) ([]trade.Shortage, error) {
	const op = "looking for missing references"
	var mark, refs string
	if err := s.db.Get(ctx, op, &mark, markOfStuck+s.db.D.ByStuck+`WHERE `+isStuck); err != nil {
		return nil, err
	}
	if err := s.db.Get(ctx, op, &refs, `SELECT refs_version FROM ledger`); err != nil {
		return nil, err
	}
	if known := s.missing.Load(); known != nil && known.mark == mark && known.refs == refs {
		return known.all, nil
	}
	have, refs, err := s.References(ctx)
	if err != nil {
		return nil, err
	}
	known, err := s.countShortages(ctx, have)
	if err != nil {
		return nil, s.db.Fault(ctx, op, err)
	}
	known.refs = refs
	s.missing.Store(known)
	return known.all, nil
}

// knownShortages is a cached result, with the marks of the rows and of the codes on which it is
// based.
type knownShortages struct {
	mark, refs string
	all        []trade.Shortage
}

// markOfStuck selects a text that changes with each row that waits for something or needs a person,
// since each change of a row raises its version. The text is computed from an index alone.
const markOfStuck = `SELECT CAST(COUNT(*) AS TEXT) || ' ' || CAST(COALESCE(SUM(version), 0) AS TEXT) || ' ' || CAST(COALESCE(SUM(id), 0) AS TEXT) || ' ' ||
	CAST(COALESCE(SUM((id % 100003) * ((id + 7 * version) % 99991)), 0) AS TEXT) FROM entry e `

// countShortages counts what is missing. The rows and their mark are read in one snapshot.
// Otherwise a row that began to wait between the two, and was gone before the next query, would be
// reported forever.
func (s *Store) countShortages(ctx context.Context, have map[string]map[string]string) (*knownShortages, error) {
	known := &knownShortages{}
	c := shortageCount{
		have: have, texts: map[string]*awaits{}, short: map[missingParent]*awaits{},
		sums: map[refCode]*trade.Shortage{}, samples: map[refCode][]int64{},
	}
	err := s.db.AtOneMoment(ctx, func(t *sqlx.Tx) (err error) {
		if err := t.GetContext(ctx, &known.mark, markOfStuck+s.db.D.ByStuck+`WHERE `+isStuck); err != nil {
			return err
		}
		rows, err := t.QueryContext(ctx, s.db.Q(selectShort))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		var r shortRow
		places := []any{&r.ID, &r.Job, &r.Key, &r.Sends, &r.State, &r.WaitingFor, &r.Amount, &r.Unit}
		for rows.Next() {
			if err := rows.Scan(places...); err != nil {
				return err
			}
			if err := c.add(r); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	c.countChildren()
	known.all = c.list()
	return known, nil
}

// shortRow is a row of selectShort, in column order.
type shortRow struct {
	ID                                               int64
	Job, Key, Sends, State, WaitingFor, Amount, Unit string
}

// refCode is one line of a de-para table. An empty code means the whole table.
type refCode struct{ kind, code string }

type missingParent struct{ job, key string }

// awaits is the content of one text of waiting_for: the references that are still missing, and the
// parents.
type awaits struct {
	codes   []refCode
	parents []missingParent
}

// waitingRow is a row that waits for other rows. It is counted when all of those are known.
type waitingRow struct {
	awaits   *awaits
	sends    trade.Kind
	quantity trade.Quantity
}

// shortageCount counts rows as they are read. It stores one text for each cause and one key for
// each row that lacks something, but not the rows.
type shortageCount struct {
	have     map[string]map[string]string
	texts    map[string]*awaits // by the text of waiting_for: the rows of one wallet share it
	short    map[missingParent]*awaits
	children []waitingRow
	sums     map[refCode]*trade.Shortage
	samples  map[refCode][]int64
}

func (c *shortageCount) add(r shortRow) error {
	w, known := c.texts[r.WaitingFor]
	if !known {
		var err error
		w, err = c.read(r.WaitingFor)
		if err != nil {
			return phrase.Errorf("row %s of job %s is damaged in column waiting_for: restore the backup", r.Key, r.Job)
		}
		if len(w.parents) == 0 { // a text that names a parent is hardly ever repeated
			c.texts[r.WaitingFor] = w
		}
	}
	if len(w.codes) == 0 && len(w.parents) == 0 {
		return nil // it waits for a record of the platform, or for a code that was added
	}
	q, err := quantityOf(r.Amount, r.Unit)
	if err != nil {
		return phrase.Errorf("an amount of job %s is damaged: it %w", r.Job, err)
	}
	switch {
	case r.State == string(trade.Invalid):
		c.count(w.codes, func(s *trade.Shortage) map[trade.Kind]*trade.Load { return s.Invalid },
			trade.Kind(r.Sends), q)
	case len(w.parents) > 0:
		c.children = append(c.children, waitingRow{w, trade.Kind(r.Sends), q})
	default:
		c.count(w.codes, blockedLoads, trade.Kind(r.Sends), q)
	}
	for _, one := range w.codes {
		c.samples[one] = trade.SampleOf(c.samples[one], r.ID)
	}
	if r.State == string(trade.Waiting) {
		c.short[missingParent{r.Job, r.Key}] = w
	}
	return nil
}

func (c *shortageCount) read(text string) (*awaits, error) {
	var all []trade.Awaited
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, err
	}
	w := &awaits{}
	for _, a := range all {
		_, there := c.have[a.Ref][a.Code]
		switch {
		case a.Job != "":
			w.parents = append(w.parents, missingParent{a.Job, a.Key})
		case a.Ref != "" && !there:
			w.codes = append(w.codes, refCode{a.Ref, a.Code})
		}
	}
	w.codes = uniqueCodes(w.codes) // one code may occur in two fields of a row
	return w, nil
}

// countChildren counts the rows that wait for rows, for every code for which those wait.
func (c *shortageCount) countChildren() {
	for _, row := range c.children {
		var codes []refCode
		seen := map[missingParent]bool{}
		next := []*awaits{row.awaits}
		for len(next) > 0 {
			w := next[len(next)-1]
			next = next[:len(next)-1]
			codes = append(codes, w.codes...)
			for _, p := range w.parents {
				if parent := c.short[p]; parent != nil && !seen[p] {
					seen[p] = true
					next = append(next, parent)
				}
			}
		}
		c.count(uniqueCodes(codes), blockedLoads, row.sends, row.quantity)
	}
}

func blockedLoads(s *trade.Shortage) map[trade.Kind]*trade.Load { return s.Blocked }

// count adds one row to each of its codes, and once to each of their kinds.
func (c *shortageCount) count(codes []refCode, side func(*trade.Shortage) map[trade.Kind]*trade.Load,
	sends trade.Kind, q trade.Quantity,
) {
	for i, one := range codes {
		c.countOne(one, side, sends, q)
		if i == 0 || codes[i-1].kind != one.kind { // they are sorted by kind
			c.countOne(refCode{kind: one.kind}, side, sends, q)
		}
	}
}

func (c *shortageCount) countOne(one refCode, side func(*trade.Shortage) map[trade.Kind]*trade.Load,
	sends trade.Kind, q trade.Quantity,
) {
	sum := c.sums[one]
	if sum == nil {
		sum = &trade.Shortage{
			Kind: one.kind, Code: one.code, Blocked: map[trade.Kind]*trade.Load{},
			Invalid: map[trade.Kind]*trade.Load{},
		}
		c.sums[one] = sum
	}
	loads := side(sum)
	if loads[sends] == nil {
		loads[sends] = &trade.Load{}
	}
	loads[sends].Add(q)
}

func (c *shortageCount) list() []trade.Shortage {
	out := make([]trade.Shortage, 0, len(c.sums))
	for one, s := range c.sums {
		s.Sample = c.samples[one]
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b trade.Shortage) int {
		total := func(s trade.Shortage) int {
			if s.Code == "" {
				return 1
			}
			return 0
		}
		return cmp.Or(strings.Compare(a.Kind, b.Kind), total(a)-total(b), b.Rows()-a.Rows(),
			trade.CompareCodes(a.Code, b.Code))
	})
	return out
}

// uniqueCodes sorts codes and removes duplicates.
func uniqueCodes(codes []refCode) []refCode {
	if len(codes) < 2 {
		return codes
	}
	slices.SortFunc(codes, func(a, b refCode) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.code, b.code))
	})
	return slices.Compact(codes)
}
