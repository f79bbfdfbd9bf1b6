package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// lookAtOtherJobs holds the rows whose key another job of the same kind has sent, or may have: a row is its kind of record and its key, whatever the job is called, so
// that renamed, split or overlapping jobs send it once. The ledger looks once more when the intents are stored, for what happens meanwhile.
func (r *jobRun) lookAtOtherJobs(ctx context.Context, out *looked) error {
	if r.alone || len(out.ready) == 0 {
		return nil
	}
	taken, err := r.sentElsewhere(ctx, out.ready)
	if err != nil || len(taken) == 0 {
		return err
	}
	ready := out.ready[:0]
	for _, entry := range out.ready {
		other, there := taken[entry.Key]
		if !there || entry.Ordered() {
			ready = append(ready, entry)
			continue
		}
		from := entry
		hold(&entry, trade.CauseOtherJob, otherJobText(other))
		entry.UpdatedAt = r.Clock.Now()
		out.hold(from, entry)
	}
	out.ready = ready
	return nil
}

func (r *jobRun) sentElsewhere(ctx context.Context, entries []trade.Entry) (map[string]trade.Elsewhere, error) {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	taken, several, err := r.ledger.SentElsewhere(ctx, r.job.Name(), r.job.Spec.Sends, keys)
	r.alone = err == nil && !several
	return taken, err
}

// brakeNewJob pauses a job that is new while the ledger has rows which jobs of the same kind have sent
// and have no more: the job is gone from the configuration, or its query returns them no longer. As a
// rule the new job is the old one under another name, or has a part of its rows. It acts before
// anything is recorded.
func (r *jobRun) brakeNewJob(ctx context.Context, cursor trade.Cursor) error {
	if cursor.Bound != "" || !cursor.SweptAt.IsZero() || cursor.Brakes.Identity != nil || len(cursor.Brakes.Former) > 0 {
		return nil
	}
	known, err := r.ledger.JobsOfLedger(ctx)
	if err != nil || slices.ContainsFunc(known, func(k trade.KnownJob) bool { return k.Job == r.job.Name() }) {
		return err
	}
	b := trade.Brake{Job: r.job.Name()}
	var names []string
	advice := "If rows of another job come to it from now on: give it the key of that job, so that they are known. "
	for _, k := range known {
		if k.Sends != r.job.Spec.Sends || k.Accepted+k.InDoubt == 0 {
			continue
		}
		now, rows := "not configured any more", k.Accepted+k.InDoubt
		if was, err := r.ledger.Cursor(ctx, k.Job); err != nil {
			return err
		} else if id := was.Brakes.Identity; id != nil {
			k.Apart = id.Space != r.job.identity.Space
		}
		if job := r.configured(k.Job); job == nil {
			advice = fmt.Sprintf("If it is the same job under another name: `safrasync job move %s %s --reason TEXT`. ", k.Job, b.Job)
		} else if k.Gone, err = r.goneFrom(ctx, job); err != nil {
			return err
		} else if k.Gone == 0 {
			continue
		} else {
			now, rows = fmt.Sprintf("its query returns %d of them no more", k.Gone), k.Gone
		}
		b.Rows += rows
		b.Former = append(b.Former, k)
		if k.Apart {
			now += ", and its keys are of another identity and not compared"
		}
		names = append(names, fmt.Sprintf("%s (%d accepted, %d in doubt; %s)", k.Job, k.Accepted, k.InDoubt, now))
	}
	if len(b.Former) == 0 {
		return nil
	}
	return &stopError{trade.Stop{Code: string(stopNewJob), Brake: &b, Text: fmt.Sprintf(
		"job %s is new, and the ledger has rows that were sent by jobs which have them no more: %s; nothing of this job leaves. %s"+
			"If its rows are others: `safrasync release %s --reason TEXT`; a key or a content that another job has sent is held all the same, and a row goes that has neither",
		b.Job, strings.Join(names, ", "), advice, b.Job)}}
}

// configured returns a job of the configuration; nil: it has none of that name.
func (e *Engine) configured(name string) *Job {
	if i := slices.IndexFunc(e.Jobs, func(j *Job) bool { return j.Name() == name }); i >= 0 {
		return e.Jobs[i]
	}
	return nil
}

// goneFrom counts the rows that another job has sent, or may have, and that its query returns no
// more, but for those of which a person has said that it is right so. Of a job in another key space
// none counts.
func (r *jobRun) goneFrom(ctx context.Context, other *Job) (gone int, err error) {
	if other.identity.Space != r.job.identity.Space {
		return 0, nil
	}
	stands := map[keyHash]bool{}
	err = r.readerOf(other).eachKey(ctx, func(key string, _ bool) error {
		stands[hashKey(key)] = true
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("job %s is new, and the rows of job %s cannot be read: %w", r.job.Name(), other.Name(), err)
	}
	err = r.ledger.EachKnown(ctx, other.Name(), func(k trade.Known) error {
		if k.State.Created() && !stands[hashKey(k.Key)] && !k.Acknowledged.Has(trade.MissingInERP) {
			gone++
		}
		return nil
	})
	return gone, err
}

// brakeSpace pauses a job whose entries stand in another key space than its configuration says
// (`identity:`): keys that other jobs have sent would not be compared any more. It acts before anything
// is recorded.
func (r *jobRun) brakeSpace(ctx context.Context, cursor trade.Cursor) error {
	was := cursor.Brakes.Identity
	if was == nil || was.Space == r.job.identity.Space {
		return r.brakeSpaceOfOthers(ctx)
	}
	known, err := r.ledger.JobsOfLedger(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(known, func(k trade.KnownJob) bool { return k.Job == r.job.Name() })
	if at < 0 {
		return r.brakeSpaceOfOthers(ctx)
	}
	now := *was // its key and tables are judged for themselves
	now.Space = r.job.identity.Space
	k := known[at]
	return &stopError{trade.Stop{Code: string(stopNewJob), Brake: &trade.Brake{Job: k.Job, Known: k.Entries, Was: was, Identity: &now}, Text: fmt.Sprintf(
		"the %d entries of job %s (%d accepted, %d in doubt) stand in the key space of identity %q, and the configuration says identity %q: their keys would be compared with those "+
			"of other jobs only, and what those have sent could go again; nothing of this job leaves. If its rows are of another ERP: `safrasync release %s --reason TEXT` accepts it. "+
			"If not: put identity %q back, then release it", k.Entries, k.Job, k.Accepted, k.InDoubt, was.Space, now.Space, k.Job, was.Space)}}
}

// brakeSpaceOfOthers stops a job while another one is to come into its key space, and nobody has
// accepted that: the keys that the other has sent stand in its old one, and are not compared.
func (r *jobRun) brakeSpaceOfOthers(ctx context.Context) error {
	for _, other := range r.Jobs {
		if other.Name() == r.job.Name() || other.Spec.Sends != r.job.Spec.Sends || other.identity.Space != r.job.identity.Space {
			continue
		}
		cursor, err := r.ledger.Cursor(ctx, other.Name())
		if err != nil {
			return err
		}
		if was := cursor.Brakes.Identity; was != nil && was.Space != other.identity.Space {
			return &stopError{trade.Stop{Code: string(stopNewJob), Brake: &trade.Brake{Job: r.job.Name()}, Text: fmt.Sprintf(
				"job %s has the same identity %q as job %s, and its entries still stand in the key space of identity %q: what it has sent could go again; nothing of job %s leaves. "+
					"Decide about %s first: `safrasync release %s --reason TEXT` accepts the new identity, or put identity %q back there. Then `safrasync release %s --reason TEXT`",
				other.Name(), other.identity.Space, r.job.Name(), was.Space, r.job.Name(), other.Name(), other.Name(), was.Space, r.job.Name())}}
		}
	}
	return nil
}

// otherJobText says why a row is held whose key another job has sent.
func otherJobText(o trade.Elsewhere) string {
	id := ""
	if o.RemoteID != "" {
		id = " with the id " + o.RemoteID
	}
	return fmt.Sprintf("job %s has this key %s already: it is %s there%s, and one row must not go twice", o.Job, o.Key, o.State, id)
}

// reviveOthers takes up the rows that were held because another job had sent their key, or might have, and of which that is not true any more: it turned out that
// nothing was sent there, the entry went to this job, or the keys are not compared any more. Each is judged as the ERP has it now.
func (r *jobRun) reviveOthers(ctx context.Context) error {
	return r.ledger.HeldFor(ctx, r.job.Name(), trade.CauseOtherJob, func(held []trade.Entry) error {
		taken, err := r.sentElsewhere(ctx, held)
		if err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(e trade.Entry) bool {
			_, still := taken[e.Key]
			return still
		})
		rows, err := r.readAgain(ctx, r.job, held)
		if err != nil {
			return err
		}
		found := byKeyOf(r.job, rows)
		known, err := r.parentsOf(ctx, r.valuesOfRows(found))
		if err != nil {
			return err
		}
		var page trade.Page
		for _, old := range held {
			if c := r.job.choose(found[old.Key]); c.living == 1 {
				entry := old
				r.eval.evaluate(&entry, r.job.values(c.row.Get), known)
				entry.SourceHash, entry.UpdatedAt = r.job.sourceHash(c.row.Get), r.Clock.Now()
				page.Updates = append(page.Updates, trade.Update{From: old.State, Entry: entry})
			}
		}
		return r.record(ctx, page)
	})
}
