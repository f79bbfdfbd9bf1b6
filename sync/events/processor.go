// Classify: events are taken from the inbox and classified.

package events

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Inbox is the part of the ledger with the events and what they reported.
type Inbox interface {
	// DueEvents returns events to be classified; EventsDone stores the results.
	DueEvents(ctx context.Context, now time.Time, limit int) ([]trade.InboxEvent, error)
	EventsDone(ctx context.Context, events []trade.InboxEvent) error
	// StoreNotes stores what events reported about records, and the records that are to be read
	// back.
	StoreNotes(ctx context.Context, heard []trade.EventNote, candidates []trade.Candidate) error
	// LastNotes returns, by record id, the latest report of an event about records of one kind.
	LastNotes(ctx context.Context, kind, event string, ids []string) (map[string]trade.EventNote, error)
	// WakeFor makes the next run ask again for records of these kinds that the platform lacked and
	// that have one of the ids; nil means all ids.
	WakeFor(ctx context.Context, kinds, ids []string, now time.Time) (int, error)
	AskLookupsAgain(ctx context.Context, now time.Time) (int, error)
}

// Candidates is the part of the ledger with the records that events named and that may belong to
// rows in doubt.
type Candidates interface {
	// DueCandidates returns the records that are to be read back; ClaimCandidate reserves one for
	// this process, SaveCandidate stores the result.
	DueCandidates(ctx context.Context, now time.Time, limit int) ([]trade.Candidate, error)
	ClaimCandidate(ctx context.Context, c trade.Candidate, until time.Time) (bool, error)
	SaveCandidate(ctx context.Context, c trade.Candidate) error
	ForgetCandidates(ctx context.Context, ids []string) error
	PostponeCandidates(ctx context.Context, ids []string, until time.Time) error
	// ReadBack returns the records that were read back and that events named at or after a time,
	// those named last first, at most limit.
	ReadBack(ctx context.Context, since time.Time, limit int) ([]trade.Candidate, error)
}

// Rows is the part of the ledger with the rows that an event may be about.
type Rows interface {
	// Ours returns which ids we know: "order_commitments" for a record of one of our rows, "sent"
	// for an id that our requests contain.
	Ours(ctx context.Context, ids []string) (map[string]string, error)
	EntriesWith(ctx context.Context, sends trade.Kind, remoteIDs []string) ([]trade.Entry, error)
	// Doubts returns the attempts of order commitments that may have created a record, and those in
	// flight; also of rows on which a person has decided.
	Doubts(ctx context.Context) ([]trade.Doubt, error)
	// Records returns the records that count and that a query selects.
	Records(ctx context.Context, q trade.RecordQuery) (out []trade.Record, alone bool, err error)
	Rows(ctx context.Context, filter trade.RowQuery, fn func(trade.Entry) error) error
	Act(ctx context.Context, acts []trade.Act) (done []bool, err error)
}

// Processor handles the platform's webhook events. An event is only a hint: it causes a record to
// be read back, or to be asked about sooner. Only what was read back then changes a row. Several
// processes may work on one ledger.
type Processor struct {
	Inbox      Inbox
	Candidates Candidates
	Rows       Rows
	Platform   acts.Reader
	Jobs       []*mapping.Job
	Now        func() time.Time
	Limits     run.Limits
	Zone       *time.Location // for times without a zone
	Program    trade.Person   // with which the program signs its acts
	Log        *zap.Logger
	// Pace is the shortest time between two readings of the platform; 0 means one second.
	Pace time.Duration

	readings *rate.Limiter
	woken    map[string]time.Time // when waiting rows were last woken, by record or kind
}

const (
	batchMost    = 500              // events classified together
	passEvery    = 30 * time.Second // time between passes without a signal
	passBusy     = time.Second      // the same, while something is to be read back soon
	wakeIDEvery  = 15 * time.Minute // shortest time between wakes for one record
	wakeAllEvery = time.Hour        // shortest time between wakes for all of a kind
	// noteMost is the largest number of ids in an event for which unknown ids are noted: a list of
	// a thousand means nothing for each of them.
	noteMost = 20
)

// Run makes passes until ctx ends. A signal on told starts the next pass at once.
func (h *Processor) Run(ctx context.Context, told <-chan struct{}) {
	for {
		more, err := h.Pass(ctx)
		if err != nil && ctx.Err() == nil {
			h.Log.Error("what the platform told could not be looked at; it is tried again", zap.Error(err))
			more = false
		}
		wait := passEvery
		if more {
			wait = passBusy
		}
		select {
		case <-ctx.Done():
			return
		case <-time.NewTimer(wait).C:
		case <-told:
		}
	}
}

// Pass classifies the events that have come, reads back the records that they named, and settles
// what is proven. more reports whether something is left to do soon.
func (h *Processor) Pass(ctx context.Context) (more bool, err error) {
	for {
		n, err := h.classifyBatch(ctx)
		if err != nil {
			return false, err
		}
		if n < batchMost { // that was all
			break
		}
	}
	doubts, err := h.Rows.Doubts(ctx)
	if err != nil {
		return false, err
	}
	due, more, err := h.toRead(ctx, doubts)
	if err != nil {
		return false, err
	}
	for _, c := range due {
		if err := h.readBack(ctx, c); err != nil {
			return false, err
		}
	}
	return more, h.settle(ctx)
}

// classifyBatch classifies the events that have waited longest, and returns their number.
func (h *Processor) classifyBatch(ctx context.Context) (int, error) {
	events, err := h.Inbox.DueEvents(ctx, h.Now(), batchMost)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	var all []string
	ids := make([][]string, len(events))
	for i, e := range events {
		ids[i] = idsIn(e.Body)
		all = append(all, ids[i]...)
	}
	slices.Sort(all)
	ours, err := h.Rows.Ours(ctx, slices.Compact(all))
	if err != nil {
		return 0, err
	}
	var heard []trade.EventNote
	var candidates []trade.Candidate
	for i := range events {
		said, found, err := h.classify(ctx, &events[i], ids[i], ours)
		if err != nil {
			return 0, err
		}
		heard, candidates = append(heard, said...), append(candidates, found...)
		events[i].NextAt = mapping.NoTime
	}
	if err := h.Inbox.StoreNotes(ctx, heard, candidates); err != nil {
		return 0, err
	}
	return len(events), h.Inbox.EventsDone(ctx, events)
}

// Events about order commitments (chapter 6).
var commitmentEvents = []string{
	string(apiclient.EventCreateOrderCommitment), string(apiclient.EventUpdateOrderCommitment),
	string(apiclient.EventDeleteOrderCommitment),
	string(apiclient.EventUpdateWorkflowOrderCommitment),
}

// wakes are the kinds of records that an event may have created or linked, by the part of the
// event's name after the verb.
var wakes = map[string][]string{
	"PRODUCER": {"producers", outcome.WalletLinks}, "WALLET": {"wallets", outcome.WalletLinks},
	"DELIVERY_PLACE": {"delivery_places"}, "FARM": {"farms"}, "GUEST_USER": {"users"},
	"ORDER_COMMITMENT": {outcome.OrderCommitments},
}

// remarked are the kinds of records, by event, about which an event reports something that people
// want to see at their rows.
var remarked = map[string]string{
	string(apiclient.EventChangeProducerStatusESG): "producers", string(apiclient.EventProducerProduction): "producers",
	string(apiclient.EventDeleteProducer):      "producers",
	string(apiclient.EventChangeFarmStatusESG): "farms", string(apiclient.EventDeleteFarm): "farms",
}

// classify classifies one event: it returns what the event reports about known records, and which
// records it names that may have to be read back. It stores the outcome in e.
func (h *Processor) classify(ctx context.Context, e *trade.InboxEvent, ids []string,
	ours map[string]string,
) (heard []trade.EventNote, candidates []trade.Candidate, err error) {
	note := func(kind, id string) {
		heard = append(heard, trade.EventNote{
			Kind: kind, ID: id, Event: e.Event, Seq: e.Seq, At: e.LastAt,
			Word: wordIn(e.Body),
		})
	}
	var did []trade.Sentence
	done := func(code string, n int) {
		if n > 0 {
			did = append(did, trade.Say(code, "records", n))
		}
	}
	switch kind, remark := remarked[e.Event]; {
	case slices.Contains(commitmentEvents, e.Event):
		deleted := e.Event == string(apiclient.EventDeleteOrderCommitment)
		made := typedAt(e.Body, h.Zone)
		for _, id := range ids {
			c := trade.Candidate{
				ID: id, Seq: e.Seq, Event: e.Event, Purpose: trade.ForDoubts, HeardAt: e.FirstAt,
				LastAt: e.LastAt, NextAt: h.Now(), State: trade.CandidateHeard, Again: e.Outcome.Code != "",
			}
			switch ours[id] {
			case outcome.OrderCommitments:
				note(outcome.OrderCommitments, id)
				if !deleted {
					continue
				}
				c.Purpose = trade.ForDeletion
			case "":
				if len(ids) <= noteMost { // it may be ours: an event can come before the answer
					note(outcome.OrderCommitments, id)
				}
				if deleted {
					c.Purpose = trade.ForDeletion
				}
				c.TypedFrom, c.TypedTo = made.From, made.to
			default: // it is only referred to by our requests
				continue
			}
			candidates = append(candidates, c)
		}
		done("event.noted", len(heard))
		done("event.to_read", len(candidates))
	case remark:
		for _, id := range ids {
			if ours[id] != "" || len(ids) <= noteMost {
				note(kind, id)
			}
		}
		done("event.noted", len(heard))
	}
	n, err := h.wake(ctx, e, ids)
	if err != nil {
		return nil, nil, err
	}
	done("event.woken", n)
	e.Outcome = trade.Say("event.nothing")
	if len(did) > 0 {
		e.Outcome = trade.Say("event.done", "did", did)
	}
	return heard, candidates, nil
}

// wake wakes the rows that wait for something that an event may be about. An event without any id
// may be about any record of its kind.
func (h *Processor) wake(ctx context.Context, e *trade.InboxEvent, ids []string) (int, error) {
	verb, thing, _ := strings.Cut(e.Event, "_")
	kinds := wakes[thing]
	if (verb != "CREATE" && verb != "UPDATE") || kinds == nil {
		return 0, nil
	}
	if h.woken == nil {
		h.woken = map[string]time.Time{}
	}
	now := h.Now()
	fresh := func(what string, every time.Duration) bool {
		last, known := h.woken[what]
		if known && now.Sub(last) < every && !now.Before(last) {
			return false
		}
		if len(h.woken) > 10_000 {
			clear(h.woken)
		}
		h.woken[what] = now
		return true
	}
	var n, more int
	var err error
	if len(ids) == 0 {
		if !fresh(thing, wakeAllEvery) {
			return 0, nil
		}
		n, err = h.Inbox.WakeFor(ctx, kinds, nil, now)
	} else if wanted := slices.DeleteFunc(slices.Clone(ids),
		func(id string) bool { return !fresh(thing+" "+id, wakeIDEvery) }); len(wanted) > 0 {
		n, err = h.Inbox.WakeFor(ctx, kinds, wanted, now)
	}
	// the event does not name the documents
	if err == nil && thing == "PRODUCER" && fresh("documents", wakeAllEvery) {
		more, err = h.Inbox.AskLookupsAgain(ctx, now)
	}
	return n + more, err
}
