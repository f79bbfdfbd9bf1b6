package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// errNoRecord refuses an act that would leave no trace of who ordered it.
var errNoRecord = errors.New("an act of a person needs who ordered it, what it is and what it is done to")

// Act does acts of people, each together with its record in the audit: there is no act without a record, and no record of an act that was not done. done
// tells for each whether it was: not when its entry or its job stands otherwise than the person saw it. An act that changes what the brakes of a job
// remember gives *trade.LeasedError while a process runs the job; then none of the acts is done.
func (s *Store) Act(ctx context.Context, acts []trade.Act) (done []bool, err error) {
	for _, a := range acts {
		if a.Audit.Who == "" || a.Audit.Act == "" || a.Audit.Target == "" {
			return nil, errNoRecord
		}
		if (a.Update == nil) == (a.Job == nil) {
			return nil, fmt.Errorf("%s: an act is on one row or on one job", a.Audit.Act)
		}
	}
	err = s.inTx(ctx, "storing an act", func(t *tx) error {
		done = make([]bool, len(acts))
		for i, a := range acts { // jobs first: a lease is the first row that a transaction locks
			if a.Job != nil {
				var err error
				if done[i], err = actOnJob(t, *a.Job, a.Audit); err != nil {
					return err
				}
			}
		}
		return actOnEntries(t, acts, done)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

func actOnJob(t *tx, act trade.JobAct, audit trade.AuditRecord) (done bool, err error) {
	if act.Cursor != nil {
		lease, err := lockLease(t, act.Job)
		if err == nil {
			err = lease.heldBy(act.Job)
		}
		if err != nil {
			return false, err
		}
	}
	now, err := lockStatus(t, act.Job)
	if err != nil || !standsAs(now, act.Saw) {
		return false, err
	}
	if _, err := addAudit(t, audit); err != nil {
		return false, err
	}
	if act.Cursor != nil {
		if err := setCursor(t, act.Job, *act.Cursor); err != nil {
			return false, err
		}
	}
	return true, putStatus(t, act.Status, "")
}

// standsAs tells whether a job stands as a person saw it; who saw nothing may act on any job that is not paused.
func standsAs(now trade.JobStatus, saw *trade.JobStatus) bool {
	if saw == nil {
		return now.State != trade.Paused
	}
	return now.State == saw.State && now.Since.Equal(saw.Since) && reflect.DeepEqual(now.Stop, saw.Stop)
}

func actOnEntries(t *tx, acts []trade.Act, done []bool) error {
	var ids []int64
	for _, a := range acts {
		if a.Update != nil {
			ids = append(ids, a.Update.Entry.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	entries, err := lockEntries(t, ids)
	if err != nil {
		return err
	}
	sums := tallyChange{}
	var updates []trade.Update
	for i, a := range acts {
		if a.Update == nil {
			continue
		}
		e := entries[a.Update.Entry.ID]
		if e == nil || e.Version != a.Update.Entry.Version || e.State != string(a.Update.From) {
			continue
		}
		if _, err := addAudit(t, a.Audit); err != nil {
			return err
		}
		updates, done[i] = append(updates, *a.Update), true
	}
	lost, err := applyUpdates(t, entries, updates, time.Now(), sums)
	if err != nil {
		return err
	}
	if lost > 0 { // two acts on one entry in one call
		return errors.New("one row can be in one act only")
	}
	return sums.apply(t)
}

// heldBy gives *trade.LeasedError while a living process holds the lease.
func (r leaseRow) heldBy(job string) error {
	if r.Instance == "" || r.Expires <= r.Now {
		return nil
	}
	var holder trade.Owner
	if err := json.Unmarshal([]byte(r.Owner), &holder); err != nil {
		return fmt.Errorf("the lease of job %s is damaged: %w", job, err)
	}
	if gone(holder) {
		return nil
	}
	return &trade.LeasedError{Job: job, Owner: holder, Until: time.UnixMilli(r.Expires).UTC()}
}
