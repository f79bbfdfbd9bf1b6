package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Brakes say what pauses a job before anything of it leaves, until a person has looked and released it (`brakes:`).
type Brakes struct {
	NewRows      int  // so many times the usual number of new rows; 0 = never
	NewRowsLeast int  // but never fewer than this
	Retyped      int  // so many rows with the content of sent ones whose key is gone; 0 = never: each of them is held all the same
	ChangedKey   bool // a changed key, or changed tables, under which known rows look new
}

// DefaultBrakes are those of a configuration that says nothing.
func DefaultBrakes() Brakes {
	return Brakes{NewRows: 10, NewRowsLeast: 100, Retyped: 10, ChangedKey: true}
}

const (
	brakeSamples = 5  // keys that a brake shows
	brakeHistory = 20 // readings whose median is the usual number of new rows
	lostShare    = 100
)

// brake judges what the reading found, before anything leaves. What it lets pass is remembered: it is never judged again. The entries that came with a
// reading that was cut short are judged with those of the next one, because what counts is what the ledger has above the mark, not what this run saw.
func (r *jobRun) brake(ctx context.Context) error {
	cursor, err := r.ledger.Cursor(ctx, r.job.Name())
	if err != nil {
		return err
	}
	memory := cursor.Brakes
	came, err := r.ledger.Arrivals(ctx, r.job.Name(), memory.Passed, brakeSamples)
	if err != nil {
		return err
	}
	if err := r.brakeRetyped(ctx, memory, came); err != nil {
		return err
	}
	if err := r.brakeNewRows(memory, came); err != nil {
		return err
	}
	if err := r.brakeMost(ctx, &memory, came.Last); err != nil {
		return err
	}
	if err := r.canary(&memory); err != nil {
		return err
	}
	if came.Count > 0 {
		if came.Before && memory.Allowed == 0 { // the first reading, and what a person let pass, say nothing about what is usual
			memory.Counts = append(slices.Clone(memory.Counts), came.Count)
			memory.Counts = memory.Counts[max(0, len(memory.Counts)-brakeHistory):]
		}
		memory.Passed, memory.Allowed = max(memory.Passed, came.Last), 0
	}
	memory.Identity = &r.job.identity
	if memory.Equal(cursor.Brakes) {
		return nil
	}
	cursor.Brakes = memory
	return r.record(ctx, trade.Page{Cursor: &cursor})
}

// brakeNewRows pauses the job when far more rows are new than usual (F025). The first reading of a job finds everything that is in scope, and nothing is
// usual yet: a go-live is looked at with --dry-run, not braked.
func (r *jobRun) brakeNewRows(memory trade.Memory, came trade.Arrivals) error {
	if r.Brakes.NewRows == 0 || !came.Before {
		return nil
	}
	usual := median(memory.Counts)
	limit := max(r.Brakes.NewRowsLeast, r.Brakes.NewRows*usual)
	if came.Count <= limit+memory.Allowed {
		return nil
	}
	return r.braked(stopNewRows, trade.Brake{Rows: came.Count, Usual: usual, Limit: limit, Samples: came.Samples, Last: came.Last},
		fmt.Sprintf("%d rows are new, where %d are usual (%d make the brake act), such as %s", came.Count, usual, limit+1, strings.Join(came.Samples, ", ")))
}

// median is the middle of some numbers, the larger of two; 0 of none.
func median(counts []int) int {
	if len(counts) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(counts))
	return sorted[len(sorted)/2]
}

// brakeRetyped pauses the job when many rows that are new have the content of rows that were sent
// under keys which are gone (F021, F023): a key that is written in another way, or contracts that were
// numbered anew. A few are held one by one when they are about to go. Rows with the content of those
// of another job count too: two queries may return one row under two keys.
func (r *jobRun) brakeRetyped(ctx context.Context, memory trade.Memory, came trade.Arrivals) error {
	if r.Brakes.Retyped == 0 || came.Count < r.Brakes.Retyped {
		return nil
	}
	count := 0
	var samples []string
	judge := func(entries []trade.Entry) error {
		sent, err := r.findSent(ctx, entries, nil)
		if err != nil {
			return err
		}
		if err := r.readSent(ctx, sent, nil, (*Job).living); err != nil {
			return err
		}
		for _, e := range entries {
			like := likenessOf(e, sent)
			if like.moved == nil && !like.other {
				continue
			}
			if count++; len(samples) < brakeSamples {
				was := ""
				if like.moved != nil {
					was = fmt.Sprintf(" (was %s)", like.moved.Entry.Key)
				}
				samples = append(samples, e.Key+was)
			}
		}
		return nil
	}
	for after := memory.Passed; ; {
		entries, err := r.ledger.DueContents(ctx, r.job.Name(), r.now, after, pageSize)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			break
		}
		if after = entries[len(entries)-1].ID; r.dry != nil {
			entries = slices.DeleteFunc(entries, func(e trade.Entry) bool { return r.dry.judged[e.ID] })
		}
		if err := judge(entries); err != nil {
			return err
		}
	}
	if r.dry != nil {
		fresh := slices.DeleteFunc(slices.Clone(r.dry.ready), func(e trade.Entry) bool { return e.ID > 0 })
		for page := range slices.Chunk(fresh, pageSize) {
			if err := judge(page); err != nil {
				return err
			}
		}
	}
	if count < r.Brakes.Retyped {
		return nil
	}
	return r.braked(stopRetyped, trade.Brake{Rows: count, Limit: r.Brakes.Retyped, Samples: samples, Last: came.Last},
		fmt.Sprintf("%d new rows have the content of rows that were sent under other keys, and stand there no more, or in another job, such as %s", count, strings.Join(samples, ", ")))
}

// brakeIdentity looks, before anything is recorded, what a changed key or table makes of the rows that the ledger knows (F024). Where rows that are known
// would be gone, and others new in their place, the job pauses: they would go a second time.
func (r *jobRun) brakeIdentity(ctx context.Context, cursor trade.Cursor) error {
	was := cursor.Brakes.Identity
	if !r.Brakes.ChangedKey || was == nil || was.SameRows(r.job.identity) {
		return nil
	}
	b, alive, err := r.changeOfIdentity(ctx, *was)
	if err != nil {
		return err
	}
	// A few rows come and go while a configuration is changed; what is lost by the change itself is more than one in a hundred.
	if lost := b.Known - b.Found; b.Rows == 0 || lost == 0 || lost*lostShare < b.Known {
		return nil
	}
	if err := r.samplesOf(ctx, &b, alive); err != nil {
		return err
	}
	return r.braked(stopChangedKey, b, fmt.Sprintf("the configuration tells rows apart by %s now, and by %s before: of %d known rows %d would be gone, and %d would look new, such as %s",
		identityText(r.job.identity), identityText(*was), b.Known, b.Known-b.Found, b.Rows, strings.Join(b.Samples, ", ")))
}

// changeOfIdentity counts what a changed key or table makes of the rows that the ledger knows. alive are the rows that would look new; false: only cancelled ones.
func (r *jobRun) changeOfIdentity(ctx context.Context, was trade.Identity) (trade.Brake, map[keyHash]bool, error) {
	b := trade.Brake{Job: r.job.Name(), Was: &was, Identity: &r.job.identity}
	alive := map[keyHash]bool{} // the rows that the query returns now; false: only cancelled, which stands, but would never be new
	err := r.eachKey(ctx, func(key string, cancelled bool) error {
		alive[hashKey(key)] = alive[hashKey(key)] || !cancelled
		return nil
	})
	if err != nil {
		return b, nil, err
	}
	err = r.ledger.EachKnown(ctx, r.job.Name(), func(k trade.Known) error {
		_, there := alive[hashKey(k.Key)]
		delete(alive, hashKey(k.Key))
		if k.GoneSweeps == 0 && k.State != trade.Withdrawn {
			b.Known++
			if there {
				b.Found++
			}
		}
		return nil
	})
	for _, living := range alive {
		if living {
			b.Rows++
		}
	}
	return b, alive, err
}

// samplesOf names the first few rows that would look new.
func (r *jobRun) samplesOf(ctx context.Context, b *trade.Brake, alive map[keyHash]bool) error {
	err := r.eachKey(ctx, func(key string, _ bool) error {
		if alive[hashKey(key)] && !slices.Contains(b.Samples, key) {
			b.Samples = append(b.Samples, key)
		}
		if len(b.Samples) == brakeSamples {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}

// errEnough ends a reading that has found what it looked for.
var errEnough = errors.New("enough was read")

// eachKey reads the keys of all rows that the query returns now.
func (r *jobRun) eachKey(ctx context.Context, fn func(key string, cancelled bool) error) error {
	_, err := r.source.Read(ctx, r.job.query, erp.Window{}, func(row erp.Row) error {
		key, _, err := rowKey(row, r.job.Spec.Key)
		if err != nil { // told by the reading proper
			return nil //nolint:nilerr // one bad row never stops the rest
		}
		return fn(key, r.job.isCancelled(row.Get))
	})
	return err
}

func identityText(i trade.Identity) string {
	return fmt.Sprintf("key [%s] of %s", strings.Join(i.Key, ", "), strings.Join(i.Tables, ", "))
}

// braked makes the error that pauses the job.
func (r *jobRun) braked(code stopCode, b trade.Brake, text string) error {
	b.Job = r.job.Name()
	look := "them in the ERP, and correct it where they are wrong"
	if code == stopChangedKey {
		look = "the configuration, and correct it if it is wrong"
	}
	return &stopError{trade.Stop{
		Code: string(code), Brake: &b,
		Text: text + fmt.Sprintf("; nothing of this job leaves. Look at %s; then `safrasync release %s --reason TEXT` lets it go on", look, b.Job),
	}}
}
