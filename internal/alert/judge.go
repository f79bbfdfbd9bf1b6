package alert

import (
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// quietStops are not worth a message: a signal, a lease that moved, a pause of a person, who knows.
var quietStops = []string{"interrupted", "lease", "paused"}

// sharedStops concern every job alike: one alert for all of them.
var sharedStops = []string{
	"api_key", "api_key_inside", "api_module", "api_permission", "api_address", "api_certificate", "api_unreachable",
	"api_throttled", "answers", "ledger", "erp",
}

// endedByPerson are the stops that do not end by themselves.
var endedByPerson = []string{
	"columns", "empty_sweep", "in_doubt", "malformed", "refusals", "answers", "uneven", "brake_new_rows",
	"brake_retyped",
	"brake_changed_key", "brake_new_job", "brake_most", "brake_canary",
}

// countedStops tell how many new rows there are.
var countedStops = []string{"brake_new_rows", "brake_retyped"}

// judge returns what holds now.
func judge(f facts, limits Limits, zone *time.Location) []condition {
	out := judgeStops(f)
	for _, j := range f.jobs {
		out = append(out, judgeRows(f, j, limits, zone)...)
		if j.configured {
			out = append(out, judgeRuns(f, j, zone)...)
		}
	}
	for _, space := range f.spaces {
		if space.Low {
			out = append(out, condition{
				topic: DiskFull, subject: diskSubject(f.host, space.Folder), since: f.at,
				detail: Detail{Folder: space.Folder, Host: f.host, Free: space.Free},
			})
		}
	}
	out = append(out, judgeEvents(f, limits, zone)...)
	if !f.certificate.IsZero() && f.certificate.Sub(f.at) < certificateSoon {
		out = append(out, condition{
			topic: Certificate, subject: "api", since: f.at,
			detail: Detail{Ends: f.certificate},
		})
	}
	return out
}

// judgeEvents looks whether the platform tells what it should, and whether somebody listens.
// Without a record that was confirmed there is nothing to tell.
func judgeEvents(f facts, limits Limits, zone *time.Location) []condition {
	var out []condition
	s := f.silence
	since := s.Since
	if s.LastAt.After(since) {
		since = s.LastAt
	}
	if !s.Since.IsZero() && limits.Silence > 0 && s.Made > 0 && workingTime(since, f.at, zone) > limits.Silence {
		out = append(out, condition{
			topic: Silent, subject: "webhooks", since: since,
			detail: Detail{Rows: s.Made, Oldest: since},
		})
	}
	if s.Waiting > unheardMost {
		out = append(out, condition{
			topic: Unheard, subject: "webhooks", since: f.at, lasts: unheardLasts,
			detail: Detail{Rows: s.Waiting},
		})
	}
	return out
}

func diskSubject(host, folder string) string { return host + " " + folder }

// judgeStops gathers the jobs that stopped by their reasons.
func judgeStops(f facts) []condition {
	var out []condition
	for _, j := range f.jobs {
		stop := j.status.Stop
		if !j.configured || stop == nil || slices.Contains(quietStops, stop.Code) {
			continue
		}
		c := condition{
			topic: Stopped, subject: stopSubject(stop.Code, j.Name), since: j.status.Since,
			detail: Detail{Code: stop.Code, Jobs: []Job{j.Job}},
		}
		switch j.status.State {
		case trade.Stopped, trade.Paused:
		case trade.BackingOff:
			c.lasts = backingOffLasts
		default:
			continue
		}
		if stop.Brake != nil && slices.Contains(countedStops, stop.Code) {
			c.detail.Rows, c.detail.Usual = stop.Brake.Rows, stop.Brake.Usual
		}
		at := slices.IndexFunc(out, func(o condition) bool { return o.subject == c.subject })
		if at < 0 {
			out = append(out, c)
			continue
		}
		out[at].detail.Jobs = append(out[at].detail.Jobs, j.Job)
		if c.since.Before(out[at].since) {
			out[at].since = c.since
		}
		out[at].lasts = min(out[at].lasts, c.lasts)
	}
	return out
}

func stopSubject(code, job string) string {
	if slices.Contains(sharedStops, code) {
		return code
	}
	return code + " " + job
}

// judgeRows looks at the rows of a job, also of one that is no longer configured: somebody must
// still decide about its doubts.
func judgeRows(f facts, j jobFacts, limits Limits, zone *time.Location) []condition {
	var out []condition
	add := func(topic Topic, since time.Time, lasts time.Duration, d Detail) {
		d.Jobs = []Job{j.Job}
		if since.IsZero() {
			since = f.at
		}
		out = append(out, condition{topic, j.Name, since, lasts, d})
	}
	if n := j.states[trade.InDoubt]; n > 0 {
		add(InDoubt, j.ages.InDoubt, doubtLasts, Detail{Rows: n, Oldest: j.ages.InDoubt})
	}
	if n := j.states[trade.Rejected]; n > limits.RejectedAbove {
		add(Rejected, f.at, 0, Detail{Rows: n, Limit: limits.RejectedAbove})
	}
	if n := j.flags[trade.Contradicted] + j.flags[trade.DoubleAfterDecision]; n > 0 {
		add(Contradicted, f.at, 0, Detail{Rows: n})
	}
	oldest := j.ages.Unsent
	if j.configured && limits.OldestWaiting > 0 && !oldest.IsZero() &&
		workingTime(oldest, f.at, zone) > limits.OldestWaiting {
		add(LongWaiting, oldest, 0, Detail{Rows: j.states[trade.Pending] + j.states[trade.Waiting], Oldest: oldest})
	}
	return out
}

// judgeRuns looks at what the runs of a job told.
func judgeRuns(f facts, j jobFacts, zone *time.Location) []condition {
	var out []condition
	add := func(topic Topic, since time.Time, d Detail) {
		d.Jobs = []Job{j.Job}
		out = append(out, condition{topic: topic, subject: j.Name, since: since, detail: d})
	}
	if since, ok := nothingSince(j); ok && !j.runs.good.Before(afterWorkingTime(since, j.NothingNew, zone)) {
		add(NothingNew, since, Detail{Oldest: since})
	}
	if s := j.runs.swept; s != nil && s.Late != nil && s.Late.Rows > 0 {
		add(SweepMissed, s.EndedAt, Detail{Rows: s.Late.Rows, Late: s.Late.Largest})
	}
	if !j.runs.overruled.IsZero() && f.at.Sub(j.runs.overruled) < lateAnswerLasts {
		add(LateAnswer, j.runs.overruled, Detail{Rows: j.runs.answers})
	}
	return out
}

// nothingSince is since when nothing new came. ok is false when that cannot be told: the job has no
// limit, or has not worked since it could be told. A run that did its work must have looked after
// the limit had passed; so a job that stood still, and a service that was off, say nothing about
// the ERP.
func nothingSince(j jobFacts) (since time.Time, ok bool) {
	since = j.ages.Newest
	if since.IsZero() {
		since = j.ages.FirstRun
	}
	return since, j.NothingNew > 0 && !since.IsZero() && !j.runs.good.IsZero()
}

// over reports whether an open alert that does not hold any more is certainly over, as far as these
// facts reach. detail is the alert's.
func over(f facts, a trade.Alert, detail Detail) bool {
	switch Topic(a.Topic) {
	case Stopped:
		return !slices.ContainsFunc(f.jobs, func(j jobFacts) bool {
			concerned := slices.ContainsFunc(detail.Jobs, func(o Job) bool { return o.Name == j.Name })
			return concerned && j.configured && j.status.State == trade.Running &&
				f.at.Sub(j.status.Since) < runningUnsettled
		})
	case SweepMissed:
		return !f.runsOf(a.Subject, func(r runMemory) bool { return r.swept == nil })
	case NothingNew:
		return !f.runsOf(a.Subject, func(r runMemory) bool { return r.good.IsZero() })
	case DiskFull: // of another host, or of a folder that cannot be looked at, nothing is known
		return slices.ContainsFunc(f.spaces,
			func(s trade.Space) bool { return a.Subject == diskSubject(f.host, s.Folder) }) || goneFolder(f, a.Subject)
	case Certificate:
		return !f.certificate.IsZero()
	}
	return true
}

// runsOf reports whether a configured job's runs are so.
func (f facts) runsOf(job string, so func(runMemory) bool) bool {
	return slices.ContainsFunc(f.jobs, func(j jobFacts) bool { return j.Name == job && j.configured && so(j.runs) })
}

// goneFolder reports whether a folder of this host is not the ledger's any more, although others
// are known.
func goneFolder(f facts, subject string) bool {
	return len(f.spaces) > 0 && strings.HasPrefix(subject, f.host+" ")
}
