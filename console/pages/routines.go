package pages

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// routinesPage is the data of the page.
type routinesPage struct {
	Jobs []routine
	Live live
	Ran  ran

	At   time.Time
	Job  string // whose passes are listed; "" = of all
	Runs []runLine
	Next string // after which the next page of the passes begins; "" = this is the last one
}

// routine is a job as it is shown.
type routine struct {
	office.Schedule
	Stop *trade.Advice // why it is stopped; nil: it is not, or a person paused it
	Note string        // by the person who paused it
	Goes string        // id of the pass that goes on; "" = none
	Now  liveShown
	Last *runLine
	Main jobAct // what is to be done in its state; zero: nothing, or not by this person
	More []jobAct
	Runs []trade.RunReport // the latest, newest first, and the one before those that have a tick
	Next time.Time         // zero: by hand only, or not until somebody acts
	Act  bool              // only a person can make it go on

	Asked []request // to release it
}

// jobAct is an act on a job, as a button.
type jobAct struct {
	Act   string
	Key   string // of a phrase
	Sweep bool
}

// ticksShown is how many of the latest passes of a job have a tick.
const ticksShown = 60

// runsRead is how many passes are read for a page; those without news are folded.
const runsRead = 300

func (p *Pages) showRoutines(q *web.Request) (err error) {
	page := routinesPage{At: q.Site.Now(), Live: p.liveNow(q), Job: q.Form.Get("job")}
	page.Ran, err = p.orderRan(q, true)
	if err != nil {
		return err
	}
	schedules, err := p.office.Schedules(q.Context(), q.Lang)
	if err != nil {
		return err
	}
	for i, s := range schedules {
		one := routine{Schedule: s, Now: page.Live.Jobs[i]}
		if stop := s.Status.Stop; stop != nil {
			if s.Status.State == trade.Paused && stop.Brake == nil {
				one.Note = p.office.Voice(q.Lang).Say(stop.Why)
			} else {
				one.Stop = p.office.AdviseStop(stop, q.Lang)
			}
		}
		one.Act = s.Status.State == trade.Paused || office.EndedByPerson(s.Status)
		for _, times := range s.Times { // a sweep sends, too
			if !one.Act && len(times.Next) > 0 && (one.Next.IsZero() || times.Next[0].Before(one.Next)) {
				one.Next = times.Next[0]
			}
		}
		// the oldest one is what the others are compared with
		runs, err := p.office.Runs(q.Context(), s.Job, ticksShown+1)
		if err == nil {
			one.Asked, err = p.askedFor(q, s.Job, "")
		}
		if err != nil {
			return err
		}
		if len(runs) > 0 {
			last := runLine{RunReport: runs[0], Left: leftBy(runs[0], runs[1:])}
			last.Goes, err = p.office.Goes(q.Context(), runs[0])
			if err != nil {
				return err
			}
			if last.Goes {
				one.Goes, last.Now = last.ID, &one.Now
			}
			one.Last = &last
		}
		one.Runs = runs
		first := actsOn(s.Status)[0]
		one.More = slices.DeleteFunc(actsOn(s.Status), func(a jobAct) bool {
			return !q.May(acts.Order{Act: a.Act, Job: s.Job, Sweep: a.Sweep}.Role())
		})
		if len(one.More) > 0 && one.More[0] == first {
			one.Main, one.More = first, one.More[1:]
		}
		page.Jobs = append(page.Jobs, one)
	}
	runs, err := p.office.RunPage(q.Context(), page.Job, after(q), runsRead)
	if err != nil {
		return err
	}
	last := ""
	for _, r := range runs.Runs {
		last = r.ID
	}
	older, err := p.office.RunsBefore(q.Context(), last)
	page.Runs, page.Next = linesOf(runs.Runs, older, page.Jobs, page.Live), runs.Next
	return q.Show("routines", page, err)
}

// actsOn returns the acts that may be useful for a job in its state, first the one that it calls for;
// whether one can be done is in its plan.
func actsOn(status trade.JobStatus) []jobAct {
	run, sweep := jobAct{acts.ActRun, "jobact.run", false}, jobAct{acts.ActRun, "Complete sweep now", true}
	pause, release := jobAct{acts.ActPause, "jobact.pause", false}, jobAct{acts.ActRelease, "jobact.see", false}
	switch {
	case status.State == trade.Paused && status.Stop != nil && status.Stop.Brake != nil:
		return []jobAct{release}
	case status.State == trade.Paused:
		return []jobAct{{acts.ActResume, "jobact.resume", false}}
	case office.EndedByPerson(status):
		return []jobAct{release, run, pause}
	case status.State == trade.Running:
		return []jobAct{{acts.ActPause, "jobact.stop", false}, run, sweep}
	case status.State == trade.Stopped:
		return []jobAct{run, {acts.ActRelease, "jobact.release", false}, sweep, pause}
	}
	return []jobAct{run, sweep, pause}
}

// runLine is a pass in the list, or several in a row without news.
type runLine struct {
	trade.RunReport
	Now  *liveShown        // its progress, if it runs in this process
	Goes bool              // it goes on, here or elsewhere
	Left int               // rows that it left to people and the one before did not
	Idle []trade.RunReport // passes without news, newest first; the others of the line are zero then
}

// leftBy returns how many rows a pass left to people: by state and flag, what the one before did not leave, and
// at least what it sent and nobody confirmed. older are passes before it, newest first; none: it is the first.
func leftBy(run trade.RunReport, older []trade.RunReport) (rows int) {
	before := runBefore(run, older)
	for _, state := range statesFirst {
		rows += max(0, run.States[state]-before.States[state])
	}
	for _, flag := range trade.AcknowledgedByAct {
		rows += max(0, run.Flags[flag]-before.Flags[flag])
	}
	return max(rows, run.RowsSent()-max(0, run.States[trade.Accepted]-before.States[trade.Accepted]))
}

// runBefore returns the pass of the job before one; the zero value if it is the first.
func runBefore(run trade.RunReport, older []trade.RunReport) (before trade.RunReport) {
	at := slices.IndexFunc(older, func(r trade.RunReport) bool { return r.Job == run.Job })
	if at >= 0 {
		before = older[at]
	}
	return before
}

// idle reports whether a pass found nothing new, sent nothing, left nothing to people and did not stop.
func idle(r trade.RunReport, more int) bool {
	return !r.EndedAt.IsZero() && r.Stopped == nil && r.New+r.Changed+r.Sent == 0 && more == 0 && len(r.Alarms) == 0
}

// linesOf returns passes as a list, newest first, with those without news folded. older are the passes before
// them.
func linesOf(runs, older []trade.RunReport, jobs []routine, now live) []runLine {
	var out []runLine
	for i, r := range runs {
		line, n := runLine{RunReport: r, Left: leftBy(r, slices.Concat(runs[i+1:], older))}, len(out)-1
		switch {
		case idle(r, line.Left) && n >= 0 && len(out[n].Idle) > 0:
			out[n].Idle = append(out[n].Idle, r)
			continue
		case idle(r, line.Left):
			line = runLine{Idle: []trade.RunReport{r}}
		case slices.ContainsFunc(jobs, func(j routine) bool { return j.Goes == r.ID }):
			line.Now, line.Goes = now.of(r.Job), true
		}
		out = append(out, line)
	}
	return out
}

// runFigure is a number of a pass; nil: it is not known yet.
type runFigure struct {
	Key string // of a phrase
	N   *int
}

// Figures returns the numbers of a pass; of one that goes on, as far as they are known.
func (l runLine) Figures() []runFigure {
	out := []runFigure{{Key: "Read"}, {Key: "New"}, {Key: "Changed"}, {Key: "runs.sent"}}
	switch {
	case l.Now != nil:
		out[0].N, out[3].N = &l.Now.Read, &l.Now.Done
	case !l.EndedAt.IsZero():
		for i, n := range []int{l.Read, l.New, l.Changed, l.RowsSent()} {
			out[i].N = &n
		}
	}
	return out
}

// From and Until return when the first and the last pass of a fold began.
func (l runLine) From() time.Time { return l.Idle[len(l.Idle)-1].StartedAt }

// Until is the other end of From.
func (l runLine) Until() time.Time { return l.Idle[0].StartedAt }

// passEnd is how a pass ended: in words, and what it means.
type passEnd struct{ Class, Said string }

// endOf returns how a pass ended that left more rows to people than the one before.
func endOf(v view.Voice, pass trade.RunReport, goes bool, more int) passEnd {
	switch {
	case goes:
		return passEnd{"none", v.T("job.running")}
	case pass.Stopped != nil && pass.Stopped.Brake != nil:
		return passEnd{"rejected", v.T("stopped: brake")}
	case pass.Stopped != nil:
		return passEnd{"rejected", v.T("stopped: %s", v.Stopped(pass.Stopped.Code))}
	case pass.EndedAt.IsZero():
		return passEnd{"none", v.T("runs.open")}
	case more > 0:
		return passEnd{"waiting", v.T("%s pending", more)}
	case idle(pass, more):
		return passEnd{"sent", v.T("nothing new")}
	}
	return passEnd{"sent", v.T("done")}
}

// End returns how a pass of the list ended.
func (l runLine) End(v view.Voice) passEnd { return endOf(v, l.RunReport, l.Goes, l.Left) }

// Ticks returns the picture of the latest passes; the list below has them too.
func (r routine) Ticks(f view.Frame) picture.Ticks {
	var marks []picture.Mark
	for i, run := range slices.Backward(r.Runs[:min(ticksShown, len(r.Runs))]) {
		left := leftBy(run, r.Runs[i+1:])
		end, tall := endOf(f.Voice, run, run.ID == r.Goes, left), int64(1) // a step: ten times as many rows
		for n := run.RowsSent(); n > 0; n /= 10 {
			tall++
		}
		marks = append(marks, picture.Mark{
			Class: end.Class, Name: f.Time(run.StartedAt), Said: end.Said, Path: "/runs/" + run.ID,
			Amount: trade.NewDecimal(tall, 0),
		})
	}
	return picture.Strip(f.T("runs.title")+": "+f.Title(r.Job), marks...)
}
