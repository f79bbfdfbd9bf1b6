// The recheck: rows are read again by their keys before they are sent (I8).

package sending

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Checker reads rows again just before their intents are stored (I8), and asks package identity what
// they are. The keys of records are read after the rows themselves, so that a row that was renumbered
// meanwhile is found under one of them.
type Checker struct {
	run   *run.Run
	known map[int64]bool // the records that the last query found
	// the number of the last record before this pass; nil: not asked yet
	before *int64
	// by a number of trade.Prints.Pairs that many records have: those that had lost their rows
	lostByPair   map[int64][]trade.Record
	edited       map[int64]bool // rows that the last recheck found otherwise than the pass had read them
	hasRow       map[int64]bool // records of those that were asked for: whether their rows stand
	askedPairs   map[int64]bool // such numbers that the ledger was asked for
	smallBuckets []trade.Record // and what it has of those that few records have
}

// NewChecker returns the checker of one run.
func NewChecker(r *run.Run) *Checker { return &Checker{run: r} }

// Rechecked is the result of a recheck (I8).
type Rechecked struct {
	Ready   []trade.Entry   // may be sent as they are now
	Updates []trade.Update  // what the recheck changed; pending ones are in Ready too
	Twins   []trade.LikeRow // rows that are like another living one
	// Known are the records that were near one of the rows, or had its key.
	Known map[int64]bool
	of    []identity.Candidate
}

// Recheck reads the rows again by their keys, in one short query. A row that changed is mapped
// again; one that is gone, doubled or cancelled is held. Then identity decides about each that is
// ready. The rows under the keys of what was sent are read after the rows themselves, so that a row
// which was renumbered meanwhile is found under one of its keys at least. ahead are rows that go
// before these; storing are intents that are being stored.
func (r *Checker) Recheck(ctx context.Context, entries, ahead, storing []trade.Entry) (Rechecked, error) {
	rows := make([]identity.ERPRow, len(entries))
	for i := range entries {
		rows[i] = RowOf(r.run.Job, &entries[i])
	}
	if _, err := r.nearRecords(ctx, rows); err != nil { // before the rows are read: it may take long
		return Rechecked{}, err
	}
	found, err := r.run.ReadAgain(ctx, r.run.Job, entries)
	if err != nil {
		return Rechecked{}, err
	}
	parents, err := r.run.ParentsOf(ctx, mapping.ValuesOfRows(found))
	if err != nil {
		return Rechecked{}, err
	}
	out := Rechecked{Ready: make([]trade.Entry, 0, len(entries))}
	r.edited = map[int64]bool{}
	for _, old := range entries {
		entry := old
		switch c := mapping.Choose(found[old.Key]); {
		case len(found[old.Key]) == 0:
			entry.Hold(trade.CauseVanished, trade.Say("held.vanished"), nil)
		case c.Cancelled():
			entry.Hold(trade.CauseVanished, trade.Say("held.vanished.cancelled"), nil)
		case c.Row == nil:
			entry.HoldDouble(c.Living)
		case old.Now != nil || c.Row.SourceHash != old.SourceHash || old.MappedWith != r.run.Eval.MappedWith ||
			r.run.Job.Mapping.Unfit(c.Row.Get, parents):
			entry = r.run.Eval.RemapRow(old, c.Row, parents)
		}
		if entry.State != old.State || entry.PayloadHash != old.PayloadHash || entry.SourceHash != old.SourceHash ||
			entry.MappedWith != old.MappedWith {
			// A row with a parent that may have changed with it waits for the next reading, which
			// reads both. It stays unchanged, so that each recheck until then sees that it differs.
			if entry.State == trade.Pending && len(r.run.Job.Mapping.SentBy) > 0 && entry.SourceHash != old.SourceHash {
				continue
			}
			entry.UpdatedAt = r.run.Env.Clock.Now()
			r.edited[entry.ID] = entry.SourceHash != old.SourceHash
			out.Updates = append(out.Updates, trade.Update{From: old.State, Entry: entry})
			entry.Version++ // once the update is stored
		}
		if entry.State == trade.Pending {
			out.Ready = append(out.Ready, entry)
		}
	}
	if len(out.Ready) == 0 {
		return out, nil
	}
	verdicts, of, err := r.Judge(ctx, out.Ready, ahead, storing, found)
	if err != nil {
		return Rechecked{}, err
	}
	out.of, out.Known = of, r.known
	if err := r.follow(ctx, &out, verdicts); err != nil {
		return Rechecked{}, err
	}
	return out, r.recheckParents(ctx, &out)
}

// recheckParents keeps rows from being sent under a record that does not belong to the row which
// has their parent's key now. They wait, and are judged again in each run; usually the next reading
// of the parents resolves it.
func (r *Checker) recheckParents(ctx context.Context, out *Rechecked) error {
	jobs := r.run.Job.Mapping.SentBy
	if len(jobs) == 0 || len(out.Ready) == 0 {
		return nil
	}
	asked := map[trade.ParentKey]bool{}
	for _, e := range out.Ready {
		for _, k := range r.run.Job.Mapping.ParentKeys(nil, mapping.ColumnsIn(e.Values)) {
			asked[k] = true
		}
	}
	// what the ledger has of the parents, and what the ERP has under their keys, also in jobs that do not
	// know them yet: the row with the key may have moved into the scope of another job
	parents := map[trade.ParentKey]*parent{}
	parts := map[string][]trade.Cell{}
	var ids []int64
	var changed []string // the keys whose rows are not as they were sent
	for _, job := range r.run.Job.Mapping.SentBy {
		var keys []string
		for k := range asked {
			if k.Job == job {
				keys = append(keys, k.Key)
			}
		}
		slices.Sort(keys)
		entries, err := r.run.EntriesOf(ctx, job, keys)
		if err != nil {
			return err
		}
		for _, e := range entries {
			parents[trade.ParentKey{Job: job, Key: e.Key}], parts[e.Key] = &parent{Entry: e}, e.KeyParts
			ids = append(ids, e.ID)
			if e.Flags.Has(trade.Changed) {
				changed = append(changed, e.Key)
			}
		}
	}
	records, _, err := r.run.Ledger.Records(ctx,
		trade.RecordQuery{Kind: trade.OrderCommitments, Rows: ids, Keys: changed})
	if err != nil {
		return err
	}
	under := map[string][]*trade.Record{} // by key, of those that changed, in whichever job
	for i := range records {
		if key := records[i].Row.Key; slices.Contains(changed, key) {
			under[key] = append(under[key], &records[i])
		}
		at := trade.ParentKey{Job: records[i].Row.Job, Key: records[i].Row.Key}
		if p, ok := parents[at]; ok && records[i].RemoteID == p.RemoteID {
			p.record = &records[i]
		}
	}
	for k := range asked {
		if _, ok := parents[k]; !ok && parts[k.Key] != nil {
			parents[k] = &parent{Entry: trade.Entry{Job: k.Job, Key: k.Key, KeyParts: parts[k.Key]}}
		}
	}
	// If another contract has the number now, it does not matter whether that one is still valid:
	// all rows count if none is living. A cancelled row beside a living one is its past.
	livingOrAll := func(rows []mapping.Row) []mapping.Row {
		if living := mapping.Living(rows); len(living) > 0 {
			return living
		}
		return rows
	}
	for _, job := range r.run.Env.Jobs {
		entries := map[string]trade.Entry{}
		for k, p := range parents {
			if k.Job == job.Name() {
				entries[k.Key] = p.Entry
			}
		}
		now, _, err := r.currentContent(ctx, job, entries, nil, livingOrAll)
		if err != nil {
			return err
		}
		for key := range entries {
			parents[trade.ParentKey{Job: job.Name(), Key: key}].now = now[key]
		}
	}
	out.Ready = slices.DeleteFunc(out.Ready, func(e trade.Entry) bool {
		parent := misplaced(r.run.Job.Mapping, mapping.ColumnsIn(e.Values), parents, under)
		if parent == nil {
			return false
		}
		from := e
		e.UpdatedAt = r.run.Env.Clock.Now()
		e.Wait(trade.CauseParent, e.UpdatedAt, trade.Awaited{
			Job: parent.Job, Key: parent.Key, ParentState: parent.State, ParentCause: trade.CauseReplaced,
		})
		out.hold(from, e)
		return true
	})
	return nil
}

// parent is a row on which others depend, with its record and what the ERP has under its key now.
type parent struct {
	trade.Entry
	record *trade.Record // nil: it has none
	now    []identity.Content
}

// misplaced returns the parent that keeps a row from going, nil if none does: its key now holds another
// document, in any job, or what another record under that key was made of. While the parent's own row
// stands, only another document counts in another job, which may map the same row in another way.
func misplaced(m *mapping.Mapping, get mapping.ColumnsOf, of map[trade.ParentKey]*parent,
	under map[string][]*trade.Record,
) *trade.Entry {
	for _, specs := range m.ParentSpecs() {
		var holder *parent
		var all []identity.Content
		for _, spec := range specs {
			key, ok := mapping.ParentKey(get, spec.Columns)
			p, there := of[trade.ParentKey{Job: spec.Job, Key: key}]
			if !ok || !there {
				continue
			}
			all = append(all, p.now...)
			has := p.record != nil && !p.Flags.Has(trade.Replaced)
			// the same choice as in applyParent
			if has && (holder == nil || holder.Flags.Has(trade.Changed) && !p.Flags.Has(trade.Changed)) {
				holder = p
			}
		}
		if holder == nil {
			continue
		}
		now := all
		if len(holder.now) > 0 {
			now = slices.DeleteFunc(all, func(c identity.Content) bool {
				return !c.Known() || identity.SameDocument(holder.record, c.Prints)
			})
			now = append(now, holder.now...)
		}
		var others []*trade.Record
		if holder.Flags.Has(trade.Changed) { // else a person has dealt with the change
			others = under[holder.Key]
		}
		if identity.Misplaced(holder.record, now, others) {
			return &holder.Entry
		}
	}
	return nil
}

// hold replaces an entry's update by one that holds it, or adds that update.
func (l *Rechecked) hold(from, entry trade.Entry) {
	for i := range l.Updates {
		if l.Updates[i].Entry.ID == entry.ID {
			// Recheck raised it for the update that is replaced here
			entry.Version = from.Version - 1
			l.Updates[i].Entry = entry
			return
		}
	}
	l.Updates = append(l.Updates, trade.Update{From: from.State, Entry: entry})
}
