package alert

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// sharedStops concern all jobs, so all jobs share one alert.
var sharedStops = []string{
	"api_key", "api_key_inside", "api_module", "api_permission", "api_address", "api_certificate", "api_unreachable",
	"api_throttled", "answers", "ledger", "erp",
}

// endedByPerson are the stops that only a person can end.
var endedByPerson = []string{
	"columns", "empty_sweep", "in_doubt", "malformed", "refusals", "answers", "uneven", "brake_new_rows",
	"brake_retyped",
	"brake_changed_key", "brake_new_job", "brake_most", "brake_canary", "brake_new_journal", "brake_absent",
}

// countedStops are the stops whose message states the number of new rows.
var countedStops = []string{"brake_new_rows", "brake_retyped"}

// judge returns the conditions that hold now.
func judge(f facts, limits Limits, zone *time.Location) []condition {
	var out []condition
	for _, j := range f.jobs { // stopped jobs, grouped by reason
		stop, since, lasts := j.status.Stop, j.status.Since, time.Duration(0)
		switch last := j.runs.stopped; {
		case j.status.State == trade.Stopped, j.status.State == trade.Paused:
		case j.status.State == trade.BackingOff:
			lasts = backingOffLasts
		case last != nil && f.at.Sub(last.EndedAt.Time) < stopSeen: // whoever ended it at once knows of it
			stop, since, lasts = last.Stopped, last.EndedAt.Time, Settling
		default:
			continue
		}
		if !j.configured || stop == nil || stop.Quiet() {
			continue
		}
		c := condition{
			topic: Stopped, subject: stop.Code, since: since, lasts: lasts,
			detail: Detail{Code: stop.Code, Jobs: []Job{j.Job}},
		}
		if !slices.Contains(sharedStops, stop.Code) {
			c.subject += " " + j.Name
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
	if len(f.accounts) > 0 {
		first := slices.MinFunc(f.accounts, func(a, b trade.AuditRecord) int { return cmp.Compare(a.Seq, b.Seq) })
		last := slices.MaxFunc(f.accounts, func(a, b trade.AuditRecord) int { return cmp.Compare(a.Seq, b.Seq) })
		out = append(out, condition{
			topic: Accounts, subject: "accounts", since: first.At,
			detail: Detail{Rows: f.approvals, Accounts: len(f.accounts), Record: last.Seq},
		})
	}
	// whether the platform sends the events that it should, and whether they are processed; none is
	// expected before a record was confirmed
	heard := f.silence.Since
	if f.silence.LastAt.After(heard) {
		heard = f.silence.LastAt
	}
	if s := f.silence; !s.Since.IsZero() && limits.Silence > 0 && s.Made > 0 &&
		workingTime(heard, f.at, zone) > limits.Silence {
		out = append(out, condition{
			topic: Silent, subject: "webhooks", since: heard,
			detail: Detail{Rows: s.Made, Oldest: heard},
		})
	}
	if f.silence.Waiting > unheardMost {
		out = append(out, condition{
			topic: Unheard, subject: "webhooks", since: f.at, lasts: unheardLasts,
			detail: Detail{Rows: f.silence.Waiting},
		})
	}
	if limits.BackupOlder > 0 && f.backup.Age(f.at) > limits.BackupOlder {
		out = append(out, condition{
			topic: BackupOld, subject: "ledger", since: f.at, detail: Detail{Oldest: f.backup.At},
		})
	}
	if w := f.witness; !w.Late.IsZero() {
		out = append(out, condition{
			topic: Unseen, subject: f.host, since: w.Late, lasts: witnessLasts,
			detail: Detail{Host: f.host, Folder: w.Place, Oldest: w.Late},
		})
	}
	if !f.certificate.IsZero() && f.certificate.Sub(f.at) < certificateSoon {
		out = append(out, condition{
			topic: Certificate, subject: "api", since: f.at,
			detail: Detail{Ends: f.certificate},
		})
	}
	return out
}

func diskSubject(host, folder string) string { return host + " " + folder }

// judgeRows checks the rows of a job, even of one that is no longer configured, because somebody
// must still decide about its doubts.
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
	if n := j.states[trade.Rejected]; n-j.quiet > limits.RejectedAbove {
		add(Rejected, f.at, 0, Detail{Rows: n, Limit: limits.RejectedAbove})
	}
	if n := j.flags[trade.Contradicted] + j.flags[trade.DoubleAfterDecision]; n > 0 {
		add(Contradicted, f.at, 0, Detail{Rows: n})
	}
	oldest := j.ages.Unsent
	if j.configured && limits.OldestWaiting > 0 && !oldest.IsZero() &&
		workingTime(oldest, f.at, zone) > limits.OldestWaiting {
		n := j.states[trade.Pending] + j.states[trade.Sending] + j.states[trade.Waiting]
		add(LongWaiting, oldest, 0, Detail{Rows: n, Oldest: oldest})
	}
	return out
}

// judgeRuns checks the results of a job's runs.
func judgeRuns(f facts, j jobFacts, zone *time.Location) []condition {
	var out []condition
	add := func(topic Topic, since time.Time, d Detail) {
		d.Jobs = []Job{j.Job}
		out = append(out, condition{topic: topic, subject: j.Name, since: since, detail: d})
	}
	// since when no new row came; not known without a good run. A good run must have ended after the
	// limit passed; so a job that was stopped, or a service that was off, proves nothing about the ERP
	since := j.ages.Newest
	if since.IsZero() {
		since = j.ages.FirstRun
	}
	if j.NothingNew > 0 && !since.IsZero() && !j.runs.good.IsZero() &&
		!j.runs.good.Before(afterWorkingTime(since, j.NothingNew, zone)) {
		add(NothingNew, since, Detail{Oldest: since})
	}
	if s := j.runs.swept; s != nil && s.Late != nil && s.Late.Rows > 0 {
		add(SweepMissed, s.EndedAt.Time, Detail{Rows: s.Late.Rows, Late: s.Late.Largest})
	}
	if !j.runs.overruled.IsZero() && f.at.Sub(j.runs.overruled) < lateAnswerLasts {
		add(LateAnswer, j.runs.overruled, Detail{Rows: j.runs.answers})
	}
	return out
}

// over reports whether an open alert whose condition no longer holds is certainly over, as far as
// these facts show. detail is the alert's detail.
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
	case DiskFull: // nothing is known about another host, or about a folder that cannot be checked
		// or of a folder of this host whose own space is not known while that of others is: it is not used any more
		return slices.ContainsFunc(f.spaces, func(s trade.Space) bool {
			return a.Subject == diskSubject(f.host, s.Folder)
		}) || len(f.spaces) > 0 && strings.HasPrefix(a.Subject, f.host+" ")
	case Certificate:
		return !f.certificate.IsZero()
	}
	return true
}

// runsOf reports whether so returns true for a configured job's runs.
func (f facts) runsOf(job string, so func(runMemory) bool) bool {
	return slices.ContainsFunc(f.jobs, func(j jobFacts) bool { return j.Name == job && j.configured && so(j.runs) })
}

// runMemory holds the results of a job's last runs. After a start it is read from the ledger again.
// A zero field is not known.
type runMemory struct {
	good      time.Time        // end of the last run that did its work
	swept     *trade.RunReport // the last complete sweep
	stopped   *trade.RunReport // the last one with a stop that only a person ends
	overruled time.Time        // end of the last run with a late answer that ended a person's decision
	answers   int              // number of such answers in that run
}

// remembered is how far back runs are read after a start. overlap is how much consecutive readings
// overlap, because a run is stored a moment after its end.
const (
	remembered = 48 * time.Hour
	overlap    = 5 * time.Minute
)

// workingTime returns the time between two moments in the cooperative's zone, without Saturdays,
// Sundays and the national holidays of Brazil. Nights count: "3d" is three working days of 24
// hours.
func workingTime(from, to time.Time, zone *time.Location) time.Duration {
	if !from.Before(to) {
		return 0
	}
	from, to = from.In(zone), to.In(zone)
	var total time.Duration
	for from.Before(to) {
		next := dayAfter(from)
		if next.After(to) {
			next = to
		}
		if isWorkday(from) {
			total += next.Sub(from)
		}
		from = next
	}
	return total
}

// afterWorkingTime returns the moment at which the working time d has passed since from.
func afterWorkingTime(from time.Time, d time.Duration, zone *time.Location) time.Time {
	from = from.In(zone)
	for {
		next := dayAfter(from)
		if isWorkday(from) {
			if left := next.Sub(from); left >= d {
				return from.Add(d).UTC()
			}
			d -= next.Sub(from)
		}
		from = next
	}
}

// dayAfter returns the beginning of the next day. A day need not have 24 hours or begin at
// midnight: if there is no midnight, Go may return the hour before it.
func dayAfter(t time.Time) time.Time {
	for hour := 0; ; hour++ {
		if next := time.Date(t.Year(), t.Month(), t.Day()+1, hour, 0, 0, 0, t.Location()); next.After(t) &&
			next.Day() != t.Day() {
			return next
		}
	}
}

func isWorkday(t time.Time) bool {
	if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday ||
		slices.Contains(fixedHolidays[t.Month()], t.Day()) {
		return false
	}
	easterMonth, easterDay := easter(t.Year())
	for _, days := range movableHolidays {
		if _, m, d := time.Date(t.Year(), easterMonth, easterDay+days, 12, 0, 0, 0, time.UTC).Date(); m == t.Month() &&
			d == t.Day() {
			return false
		}
	}
	return true
}

// fixedHolidays are those of Lei 662/1949, 6.802/1980, 14.759/2023 (20 November since 2024) and
// custom.
var fixedHolidays = map[time.Month][]int{
	time.January: {1}, time.April: {21}, time.May: {1}, time.September: {7}, time.October: {12},
	time.November: {2, 15, 20}, time.December: {25},
}

// movableHolidays are days relative to Easter Sunday: Monday and Tuesday of carnival, Good Friday,
// Corpus Christi.
var movableHolidays = []int{-48, -47, -2, 60}

// easter returns Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher.
func easter(year int) (time.Month, int) {
	a, b, c := year%19, year/100, year%100
	d, e, f := b/4, b%4, (b+8)/25
	g := (b - f + 1) / 3
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Month(n / 31), n%31 + 1
}
