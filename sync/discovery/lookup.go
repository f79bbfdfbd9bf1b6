// Lookups: the platform is asked for producers by document.

package discovery

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

const (
	// lookupHolds is how long an id from the platform is used without asking again.
	lookupHolds = 180 * 24 * time.Hour
	// askSeldom is how often the platform is asked again for what it has lacked for 45 days.
	askSeldom = 7 * 24 * time.Hour
	// lookupFailures in a row end the lookups of a run; the next run continues.
	lookupFailures = 3
)

// LoadLookups passes the key for hashing documents, and the platform's answers so far, to the
// evaluator.
func (r *Discoverer) LoadLookups(ctx context.Context) error {
	if len(r.Job.Mapping.Lookups) == 0 {
		return nil
	}
	key, err := r.Ledger.LookupKey(ctx)
	if err != nil {
		return err
	}
	r.lookups, err = r.Ledger.Lookups(ctx, trade.ProducerByDocument)
	if err != nil {
		return err
	}
	found := map[string]string{}
	for code, l := range r.lookups {
		if l.ID != "" && l.NextAt.After(r.Now) {
			found[code] = l.ID
		}
	}
	r.Eval.LookupKey = key
	r.Eval.Refs[trade.ProducerByDocument] = found
	return nil
}

// lookUp asks the platform for the producers that rows wait for, once for each document, and maps
// those rows again in the same run. If a question gets no answer, its rows keep waiting and the run
// goes on.
func (r *Discoverer) lookUp(ctx context.Context) error {
	if len(r.Job.Mapping.Lookups) == 0 || r.Dry != nil {
		return nil
	}
	q := &inquiry{of: r, asked: map[string]bool{}}
	if err := r.Ledger.Awaiting(ctx, r.Job.Name(), trade.ProducerByDocument,
		func(e trade.Entry) error {
			for _, w := range e.WaitingFor {
				if w.Ref != trade.ProducerByDocument || q.asked[w.Code] || q.over {
					continue
				}
				if old, known := q.of.lookups[w.Code]; known && old.NextAt.After(q.of.Now) {
					continue
				}
				q.asked[w.Code] = true
				q.rows = append(q.rows, e)
			}
			if len(q.rows) < sending.BatchSize {
				return nil
			}
			return q.flush(ctx)
		}); err != nil {
		return err
	}
	if err := q.flush(ctx); err != nil {
		return err
	}
	if q.failed > 0 {
		r.Note(trade.Say("note.lookups", "count", q.failed, "why", q.reason))
	}
	if q.found == 0 {
		return nil
	}
	if err := r.makeEvaluator(ctx); err != nil {
		return err
	}
	return r.refresh(ctx)
}

// inquiry is the lookups of one run.
type inquiry struct {
	of     *Discoverer
	rows   []trade.Entry   // whose documents are to be looked up
	asked  map[string]bool // codes of the documents in rows, now or earlier
	over   bool            // no more lookups in this run
	row    int             // consecutive failures
	failed int
	found  int
	reason trade.Sentence // of the last failure
}

// flush reads the documents of the collected rows from the ERP, looks up each and stores the
// answers.
func (q *inquiry) flush(ctx context.Context) error {
	rows := q.rows
	q.rows = nil
	if len(rows) == 0 || q.over {
		return nil
	}
	byKey, err := q.of.ReadAgain(ctx, q.of.Job, rows)
	if err != nil {
		return err
	}
	var answers []trade.Lookup
	for _, e := range rows {
		c := mapping.Choose(byKey[e.Key])
		if c.Living != 1 || q.over || ctx.Err() != nil {
			continue // it left the ERP or its key occurs twice: the next reading decides
		}
		// a row that has changed since it was mapped has other documents, which the next run looks up
		for _, f := range q.of.Job.Mapping.Lookups {
			v, ok := c.Row.Get(f.Spec.Columns[0])
			if !ok || v.Err != "" {
				continue
			}
			document, err := mapping.DocumentOf(v)
			if err != nil || !q.asked[q.of.Eval.Code(document)] {
				continue
			}
			if a, ok := q.ask(ctx, document); ok {
				answers = append(answers, a)
			}
		}
	}
	q.of.Observe(run.Progress{Job: q.of.Job.Name(), Phase: run.Reading, Read: q.of.Report.Read})
	// Answers are stored even if the run is interrupted.
	if err := q.of.Ledger.RecordLookups(context.WithoutCancel(ctx), trade.ProducerByDocument, answers); err != nil {
		return err
	}
	return ctx.Err()
}

// ask looks up one document. ok is false if there is no answer to store.
func (q *inquiry) ask(ctx context.Context, document string) (answer trade.Lookup, ok bool) {
	code := q.of.Eval.Code(document)
	answer, known := q.of.lookups[code]
	if !known {
		answer = trade.Lookup{Code: code}
	}
	answer.AskedAt = q.of.Clock.Now()
	if answer.Tries == 0 {
		answer.FirstAt = answer.AskedAt
	}
	producer, err := q.of.Platform.GetProducerByDocument(ctx, document)
	id, idErr := trade.ParseID(producer.ID)
	if err == nil && idErr == nil {
		answer.ID, answer.Message, answer.Tries, answer.NextAt = id, "", 0, answer.AskedAt.Add(lookupHolds)
		q.found++
		q.row = 0
		return answer, true
	}
	message, refused := refusedLookup(err)
	if !refused && err != nil {
		// if the platform cannot be asked at all, the lookups of the run end
		if ctx.Err() == nil {
			q.failed++
			q.row++
			q.reason = trade.Say("lookup.not_reached")
			var failure *apiclient.CallError
			if errors.As(err, &failure) && failure.Fault == apiclient.FaultTimeout {
				q.reason, q.over = trade.Say("lookup.timed_out"), true // every further lookup would take as long
			}
			if errors.As(err, &failure) && failure.Status != 0 {
				q.reason = trade.Say("lookup.status", "status", failure.Status)
				if failure.Status < http.StatusInternalServerError {
					q.over = true // the key, the address, a limit: the next lookup would meet the same
				}
			}
			q.over = q.over || q.row >= lookupFailures
		}
		return answer, false
	}
	if err == nil {
		message = "" // a producer without a readable id
		q.failed++
		q.reason = trade.Say("lookup.no_id")
	}
	q.row = 0
	answer.ID, answer.Message, answer.Tries = "", message, answer.Tries+1
	answer.NextAt = run.NextAsk(answer.FirstAt, answer.Tries, answer.AskedAt)
	if answer.NextAt.IsZero() {
		answer.NextAt = answer.AskedAt.Add(askSeldom)
	}
	return answer, true
}

// refusedLookup reports whether the platform certainly has no such producer, or does not accept the
// number.
func refusedLookup(err error) (message string, ok bool) {
	var failure *apiclient.CallError
	if !errors.As(err, &failure) || !failure.APIForm() {
		return "", false
	}
	switch failure.Status {
	case http.StatusNotFound, http.StatusBadRequest, http.StatusUnprocessableEntity:
		for _, m := range failure.Messages {
			// a stable message key, not a sentence that contains the number
			if strings.HasPrefix(m, "message.") && !strings.ContainsAny(m, "0123456789") {
				return m, true
			}
		}
		return "", true
	}
	return "", false
}
