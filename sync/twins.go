package sync

import (
	"context"
	"fmt"

	"github.com/safrasync/safrasync/trade"
)

// twin is what is known of other rows with the content of a row that is about to go.
type twin struct {
	stands bool   // one of them was sent, and its key is in the ERP: a second row of equal content
	gone   string // the key of one that was sent and is no longer in the ERP: this is the same record, re-typed
	id     string // the platform's, of that one
}

// text says why a re-typed row is held.
func (t twin) text() string {
	id := ""
	if t.id != "" {
		id = " with the id " + t.id
	}
	return fmt.Sprintf("the same content went out under key %s%s, which is no longer in the ERP: a record that was re-typed must not go twice", t.gone, id)
}

// lookForTwins asks whether the same content went out already, or goes with an earlier row of the same look. Under a key that still stands in the ERP it is a
// second row of equal content, and goes with a remark; under a key that is gone it is the same record re-typed, and a person decides.
func (r *jobRun) lookForTwins(ctx context.Context, out *looked) error {
	twins, err := r.twinsOf(ctx, out.ready)
	if err != nil {
		return err
	}
	ahead := map[string]bool{} // what is typed twice in a row is looked at together, when neither has gone yet
	ready := out.ready[:0]
	for i, entry := range out.ready {
		t := twins[i]
		t.stands = t.stands || ahead[entry.PayloadHash.Sum]
		ahead[entry.PayloadHash.Sum] = true
		if t.gone != "" && entry.Another == entry.PayloadHash.Sum { // a person has declared it
			t.gone, t.stands = "", true
		}
		if t.gone != "" {
			from := entry
			hold(&entry, trade.CauseRetyped, t.text())
			entry.UpdatedAt = r.Clock.Now()
			out.hold(from, entry)
			continue
		}
		if t.stands {
			entry.Flags = entry.Flags.With(trade.Twin, true)
		}
		ready = append(ready, entry)
	}
	out.ready = ready
	return nil
}

// twinsOf finds, for each entry, what went out with the same content: what was sent is the same, or the row that it was sent from has become the same since.
func (r *jobRun) twinsOf(ctx context.Context, entries []trade.Entry) ([]twin, error) {
	out := make([]twin, len(entries))
	if len(entries) == 0 {
		return out, nil
	}
	payloads, sources := make([]trade.Hash, len(entries)), make([]trade.Hash, len(entries))
	for i, e := range entries {
		payloads[i], sources[i] = e.PayloadHash, e.SourceHash
	}
	others, err := r.ledger.SameContent(ctx, r.job.Spec.Sends, payloads, sources)
	if err != nil {
		return nil, err
	}
	stands, err := r.standing(ctx, others)
	if err != nil {
		return nil, err
	}
	byHash := map[string][]trade.Entry{}
	for _, o := range others {
		byHash["p"+o.PayloadHash.Sum] = append(byHash["p"+o.PayloadHash.Sum], o)
		byHash["s"+o.SourceHash.Sum] = append(byHash["s"+o.SourceHash.Sum], o)
	}
	for i, e := range entries {
		for _, hash := range []string{"p" + e.PayloadHash.Sum, "s" + e.SourceHash.Sum} {
			for _, o := range byHash[hash] {
				switch {
				case o.ID == e.ID, o.MovedID != "": // another row has its record
				case stands[o.ID]:
					out[i].stands = true
				default:
					out[i].gone, out[i].id = o.Key, o.RemoteID
				}
			}
		}
	}
	return out, nil
}

// standing tells which entries' keys are in the ERP now, not cancelled. A job that is no longer configured cannot tell, which counts as no.
func (r *jobRun) standing(ctx context.Context, entries []trade.Entry) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, job := range r.Jobs {
		ids := map[string]int64{}
		var mine []trade.Entry
		for _, e := range entries {
			if e.Job == job.Name() {
				ids[e.Key] = e.ID
				mine = append(mine, e)
			}
		}
		rows, err := r.readAgain(ctx, job, mine)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if key, _, err := rowKey(row, job.Spec.Key); err == nil && !job.isCancelled(row.Get) {
				out[ids[key]] = true
			}
		}
	}
	return out, nil
}
