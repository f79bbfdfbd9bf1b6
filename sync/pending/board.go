// The board: what waits, kept in memory and read again by version.

package pending

import (
	"cmp"
	"context"
	"slices"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Rows is the part of the ledger that a board reads.
type Rows interface {
	run.CodeKeeper
	// Stuck returns the id and the version of each row of a job that waits for something or needs a
	// person.
	Stuck(ctx context.Context, job string) ([]trade.RowVersion, error)
	// Entries returns whole rows by their ids, in any order.
	Entries(ctx context.Context, ids []int64) ([]trade.Entry, error)
	// Parents returns what the ledger knows of rows; unknown ones are missing from the map.
	Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error)
}

// Board groups the rows that are stuck. It keeps up to a thousand bytes of each in memory. If a
// Take fails or is cancelled, what it has read stays, and the next one continues from there.
type Board struct {
	Ledger Rows
	Jobs   []*mapping.Job
	Now    func() time.Time

	mu    gosync.Mutex
	facts map[int64]*fact
	keys  map[trade.ParentKey]*fact
	words map[string]string // one copy of each text that many rows share
	look  int               // number of the last Take
}

// fact is what the board keeps of a row.
type fact struct {
	look    int // the last Take that found the row
	id      int64
	version int64
	job     *mapping.Job
	key     string
	state   trade.State
	group   string // key of the cause; "" if the row waits for other rows
	on      string // key of the cause under which it was counted last; "" = nobody need do anything
	cause   string
	problem *trade.Problem
	parents []parent // for which it waits, also if a cause of its own stands before them
	codes   []code   // of the de-para, for which it waits, whether a table has them or not
	subject string
	seen    time.Time
	retry   bool

	product  string
	fixing   bool
	weighed  bool
	kg       trade.Decimal
	currency string // "" if it has no price
	value    trade.Decimal
}

// parent is one that a row waits for.
type parent struct {
	trade.ParentKey
	early bool // it is before the cut-over, if the ledger does not have it
}

// readTogether is how many rows are read at once.
const readTogether = 500

// Take reads from the ledger what has changed, and groups what is stuck now.
func (b *Board) Take(ctx context.Context) (*View, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.facts == nil {
		b.facts, b.keys, b.words = map[int64]*fact{}, map[trade.ParentKey]*fact{}, map[string]string{}
	}
	refs, err := run.Codes(ctx, b.Ledger)
	if err != nil {
		return nil, err
	}
	b.look++
	for _, job := range b.Jobs {
		stands, err := b.Ledger.Stuck(ctx, job.Name())
		if err != nil {
			return nil, err
		}
		var anew []int64
		for _, s := range stands {
			if f := b.facts[s.ID]; f != nil && f.version == s.Version {
				f.look = b.look
				continue
			}
			anew = append(anew, s.ID)
		}
		for chunk := range slices.Chunk(anew, readTogether) {
			entries, err := b.Ledger.Entries(ctx, chunk)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				f := b.fact(job, e, refs)
				b.facts[e.ID], b.keys[trade.ParentKey{Job: e.Job, Key: e.Key}] = f, f
			}
		}
	}
	for _, f := range b.facts {
		if f.look != b.look {
			delete(b.facts, f.id)
			delete(b.keys, trade.ParentKey{Job: f.job.Name(), Key: f.key})
		}
	}
	return b.group(ctx, refs)
}

// Own returns the keys of the rows that have a cause themselves, by job, and their number, as of the last
// Take. cause is the key of a group.
func (b *Board) Own(cause string) (keys map[string][]string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	keys = map[string][]string{}
	for _, f := range b.facts {
		if f.group != "" && f.group == cause {
			keys[f.job.Name()] = append(keys[f.job.Name()], f.key)
			n++
		}
	}
	return keys, n
}

// Select calls fn for each row of a group, as of the last Take, with what it adds to the sums; kind is that
// of a selection of [Group.Kinds], or "" for all rows that have the cause themselves. The group may be
// trade.AnyCause.
func (b *Board) Select(cause, kind string, fn func(id int64, key trade.ParentKey, adds trade.Sums)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.facts {
		if (f.on == cause || cause == trade.AnyCause) && (kind == "" && f.group != "" || kind == kindName(f.job.Spec.Sends, f.fixing, f.group == "")) {
			fn(f.id, trade.ParentKey{Job: f.job.Name(), Key: f.key}, f.sums())
		}
	}
}

// one returns the same copy of a text for all equal ones.
func (b *Board) one(text string) string {
	if have, ok := b.words[text]; ok {
		return have
	}
	b.words[text] = text
	return text
}

// fact returns what the board keeps of a row.
func (b *Board) fact(job *mapping.Job, e trade.Entry, refs map[string]map[string]string) *fact {
	f := &fact{
		look: b.look, id: e.ID, version: e.Version, job: job, key: e.Key, state: e.State, cause: b.one(e.Cause),
		seen: e.FirstSeenAt,
	}
	key, problem := CauseOf(e)
	switch {
	case e.State == trade.InDoubt:
		f.group = string(trade.InDoubt)
	case ParentOf(e) == nil:
		f.group, f.problem = b.one(key), problem
	}
	for _, a := range e.WaitingFor {
		if e.State == trade.Waiting && a.Job != "" {
			f.parents = append(f.parents, parent{trade.ParentKey{Job: b.one(a.Job), Key: a.Key}, a.BeforeCutOver()})
		}
		if (e.State == trade.Waiting || e.State == trade.Invalid) && a.Ref != "" {
			f.codes = append(f.codes, code{b.one(a.Ref), b.one(a.Code)})
		}
	}
	if f.group != "" {
		f.subject = b.one(SubjectOf(e, problem, job.Spec))
	}
	f.retry = e.State == trade.Rejected && !e.Weak() && e.Payload != nil || e.State == trade.Waiting &&
		e.Payload != nil && len(e.WaitingFor) > 0 && !slices.ContainsFunc(e.WaitingFor,
		func(a trade.Awaited) bool { return a.Platform == "" })
	// a weight or price of zero or less is a typing error, which must not reduce the sums
	f.kg, f.weighed = e.Quantity.Kilograms()
	f.weighed = f.weighed && f.kg.Sign() > 0
	if e.Sends != trade.OrderCommitments {
		return f
	}
	fields := job.RowFields(e.NewestValues(), refs)
	f.product = b.one(cmp.Or(fields["product"].Text, fields["product"].ERP))
	f.fixing = fixations[trade.OrderType(fields["order_type"].Text)]
	if price, err := trade.ParseDecimal(fields["price"].Text); err == nil && f.weighed && price.Sign() > 0 {
		f.currency, f.value = b.one(fields["currency"].Text), e.Quantity.Amount.Mul(price)
	}
	return f
}

// fixations are the order types that set the price of grain that belongs to another record.
var fixations = map[trade.OrderType]bool{trade.FixacaoCompra: true, trade.FixacaoDeposito: true}
