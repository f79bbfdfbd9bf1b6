// A record that was deleted on the platform: its row is flagged, and its children wait.

package events

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// deleted flags the row of a record that is no longer on the platform, as an event reported and a
// reading confirmed, and makes the unsent children of that row wait. Nothing is created again.
func (h *Processor) deleted(ctx context.Context, c trade.Candidate) error {
	entries, err := h.Rows.EntriesWith(ctx, trade.OrderCommitments, []string{c.ID})
	if err != nil {
		return err
	}
	said, err := h.deletionReport(ctx, c)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.State != trade.Accepted || entry.Flags.Has(trade.DeletedRemote) ||
			entry.Acknowledged.Has(trade.DeletedRemote) {
			continue
		}
		after := entry
		after.Flags = after.Flags.With(trade.DeletedRemote, true)
		if err := h.markDeleted(ctx, "deleted on the platform", said, entry, after); err != nil {
			return err
		}
		h.Log.Warn("a record was deleted on the platform", zap.String("job", entry.Job))
	}
	for _, entry := range entries {
		// they are waiting, not held, because only the parent needs a decision
		for _, job := range h.Jobs {
			if !slices.Contains(job.Mapping.SentBy, entry.Job) {
				continue
			}
			var children []trade.Entry
			of := trade.RowQuery{Jobs: []string{job.Name()}, States: unsent}
			err := h.Rows.Rows(ctx, of, func(e trade.Entry) error {
				if hangsOn(e, said.ID) {
					children = append(children, e)
				}
				return nil
			})
			if err != nil {
				return err
			}
			for _, child := range children {
				after := child
				after.Wait(trade.CauseParent, mapping.NoTime, trade.Awaited{Job: entry.Job, Key: entry.Key})
				if err := h.markDeleted(ctx, "kept back", said, child, after); err != nil {
					return err
				}
			}
		}
	}
	c.State, c.NextAt, c.Status = trade.CandidateSettled, mapping.NoTime, 404
	return h.Candidates.SaveCandidate(ctx, c)
}

// deletionReport returns the latest event that reported the deletion of a record. The candidate itself
// often comes from an earlier event, such as that of its creation, which is not the one to cite
// here.
func (h *Processor) deletionReport(ctx context.Context, c trade.Candidate) (trade.EventNote, error) {
	const event = string(apiclient.EventDeleteOrderCommitment)
	said, err := h.Inbox.LastNotes(ctx, outcome.OrderCommitments, event, []string{c.ID})
	if told, known := said[c.ID]; known || err != nil {
		return told, err
	}
	// events with many ids are not noted for each
	out := trade.EventNote{Kind: outcome.OrderCommitments, ID: c.ID, Event: event}
	if c.Event == event {
		out.Seq = c.Seq
	}
	return out, nil
}

// unsent are the states of rows that may still be sent.
var unsent = []trade.State{trade.Pending, trade.Waiting, trade.Rejected}

// hangsOn reports whether a row's request refers to a record.
func hangsOn(e trade.Entry, id string) bool {
	for field, text := range mapping.SentTexts(e) {
		if (field == "contract_id" || field == "order_commitment_id") && *text == id {
			return true
		}
	}
	return false
}

// markDeleted stores what the deletion of a record changes.
func (h *Processor) markDeleted(ctx context.Context, act string, said trade.EventNote,
	before, after trade.Entry,
) error {
	_, err := h.decided(ctx, act, before, after, evidenceDetail{
		Event: said.Seq, Why: trade.Say("audit.deleted", "event", said.Event, "id", said.ID),
	})
	return err
}

// decided stores a change that no person ordered, with its audit record. A row that has changed
// meanwhile is left alone; then done is false.
func (h *Processor) decided(ctx context.Context, act string, before, after trade.Entry,
	detail evidenceDetail,
) (done bool, err error) {
	after.UpdatedAt = h.Now()
	detail.Before, detail.After = acts.ViewOf(before), acts.ViewOf(after)
	record, err := h.Program.Record(after.UpdatedAt, act, before.Job+" "+before.Key, detail)
	if err != nil {
		return false, err
	}
	all, err := h.Rows.Act(ctx, []trade.Act{{Update: &trade.Update{From: before.State, Entry: after}, Audit: record}})
	return err == nil && all[0], err
}
