// What becomes of rows that identity does not let go.

package sending

import (
	"context"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/trade"
)

// follow does to the rows that are ready what was judged of them: it holds them, or flags them. ahead
// and entries are those that were judged, for the counterparts that have no record.
func (r *Checker) follow(ctx context.Context, out *Rechecked, verdicts []identity.Verdict) error {
	ready := out.Ready[:0]
	lost := map[int64]bool{} // entries of this job whose records may belong to other rows
	for i, entry := range out.Ready {
		v := verdicts[i]
		from := entry
		entry.Flags = entry.Flags.With(trade.Twin, v.Twin).With(trade.NearTwin, v.Near)
		// a person declared that it is another document
		another := entry.DeclaredDistinct != "" && entry.DeclaredDistinct == entry.PayloadHash
		other, otherID := counterpartOf(v.Because)
		switch {
		case v.Cause == trade.CauseOtherJob:
			HoldOtherJob(&entry, other, v.Because.Candidate.Record.Row.State)
		case v.Cause == trade.CauseRetyped && !another:
			HoldRetyped(&entry, v)
			for _, id := range v.All {
				lost[id] = true
			}
		case v.Cause == trade.CauseRetyped: // it goes beside the record that it was taken for
			entry.Flags = entry.Flags.With(trade.Twin, true)
		case v.Cause == trade.CauseTwin && !another:
			// it stays true if the row is edited afterwards
			why := trade.Say("held.twin", "key", other.Key, "job", other.Job, "id", withID(other))
			if v.NearOnly {
				why.Code = "held.near_twin"
			}
			entry.Hold(trade.CauseTwin, why, &other)
		}
		held, lost := entry.State == trade.Held, v.Cause == trade.CauseRetyped
		if v.Because != (identity.Other{}) && (lost && held || !lost && (v.Twin || v.Near)) {
			out.Twins = append(out.Twins, trade.LikeRow{
				Key: entry.Key, Job: other.Job, Other: other.Key, RemoteID: other.RemoteID, Near: v.NearOnly,
				Held: held, Lost: lost, Shown: entry.Shown, OtherID: otherID,
			})
		}
		if entry.State != trade.Held {
			ready = append(ready, entry)
			continue
		}
		entry.UpdatedAt = r.run.Clock.Now()
		out.hold(from, entry)
	}
	out.Ready = ready
	// nothing more goes under the records that may belong to other rows now, until a person has decided
	ids := map[int64]bool{}
	for i := range out.of {
		at := out.of[i].Record
		if lost[at.ID] && at.Row.Job == r.run.Job.Name() && at.Row.State == trade.Accepted {
			ids[at.Row.ID] = true
		}
	}
	flagged, err := r.run.FlagReplaced(ctx, ids)
	out.Updates = append(out.Updates, flagged...)
	return err
}

// counterpartOf returns a counterpart, and the ledger's number of its row.
func counterpartOf(o identity.Other) (trade.Counterpart, int64) {
	switch {
	case o.Candidate != nil:
		r := o.Candidate.Record
		return trade.Counterpart{Job: r.Row.Job, Key: r.Row.Key, RemoteID: r.RemoteID}, r.Row.ID
	case o.Row != nil:
		return trade.Counterpart{Job: o.Row.Job, Key: o.Row.Key}, o.Row.ID
	}
	return trade.Counterpart{}, 0
}

// withID names the id of a counterpart, if it is known.
func withID(o trade.Counterpart) trade.Sentence {
	if o.RemoteID == "" {
		return trade.Sentence{}
	}
	return trade.Say("held.id", "id", o.RemoteID)
}

// HoldRetyped holds an entry that is like records which lost their rows: it may be that of each.
func HoldRetyped(entry *trade.Entry, v identity.Verdict) {
	of := v.Because.Candidate
	other, _ := counterpartOf(v.Because)
	other.Record, other.Gone = max(0, of.Record.ID), len(of.Now) == 0 && !of.Cancelled
	did, now := trade.Say("held.went_out"), trade.Say("held.gone")
	switch {
	case len(of.Now) > 0:
		now = trade.Say("held.other_row")
	case of.Cancelled:
		now = trade.Say("held.cancelled")
	}
	if of.Record.Certainty == trade.LeftOut {
		did = trade.Say("held.left_out")
	}
	entry.Hold(trade.CauseRetyped,
		trade.Say("held.retyped", "did", did, "key", other.Key, "id", withID(other), "now", now), &other)
	if prints := ContentOf(entry).Prints; prints.Known() {
		for _, id := range v.All {
			entry.Sightings = append(entry.Sightings, trade.Sighting{Row: entry.ID, Record: id, Prints: prints})
		}
	}
}

// HoldOtherJob holds an entry whose key another job has sent, or may have; state is that of its row
// there.
func HoldOtherJob(entry *trade.Entry, o trade.Counterpart, state trade.State) {
	entry.Hold(trade.CauseOtherJob,
		trade.Say("held.other_job", "job", o.Job, "key", o.Key, "state", state, "id", withID(o)), &o)
}
