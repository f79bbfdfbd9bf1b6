package alert

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Storage is what alerts need from the ledger: the state of the jobs and the ledger now, what
// happened in a period, alerts and digests with their messages, and the messages to be delivered.
type Storage interface {
	Jobs(ctx context.Context) ([]string, error)
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	// Ages reports how old the rows of a job are, without those that wait with some causes.
	Ages(ctx context.Context, job string, without ...string) (trade.Ages, error)
	// CauseOwners returns who takes care of causes; StuckStates how many rows of a job have each.
	CauseOwners(ctx context.Context) (map[string]trade.CauseOwner, error)
	LowerCause(ctx context.Context, o trade.CauseOwner) error
	StuckStates(ctx context.Context, job string) (map[trade.State]map[string]int, error)
	// EventSilence reports since when events of the platform are expected, and when the last one
	// came.
	EventSilence(ctx context.Context) (trade.EventSilence, error)
	// Approvals returns the acts that wait for another person; AccountChanges those that let somebody
	// act as another user.
	Approvals(ctx context.Context, now time.Time) ([]trade.Approval, error)
	AccountChanges(ctx context.Context, since time.Time) ([]trade.AuditRecord, error)
	// LastBackup reports when the last copy of the ledger was made.
	LastBackup(ctx context.Context) (trade.LastBackup, error)
	// Witness tells how the witness of the ledger fares.
	Witness(ctx context.Context) (trade.Witness, error)
	// Spaces returns the free space in the ledger's folders on this host.
	Spaces() []trade.Space

	// RunsEnded calls fn for the runs that ended in a period, in the order of their ends.
	RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error
	// Sent calls fn for every record that the platform confirmed in a period.
	Sent(ctx context.Context, from, before time.Time, fn func(trade.Sent) error) error
	// PayloadsOf returns what was sent for records of a kind, by their ids on the platform, as far
	// as the ledger still has it.
	PayloadsOf(ctx context.Context, sends trade.Kind, ids []string) (map[string]json.RawMessage, error)
	// Acts counts the acts of people, and late answers, in a period, by name.
	Acts(ctx context.Context, from, before time.Time) (map[string]int, error)

	// Alerts returns the open alerts.
	Alerts(ctx context.Context) ([]trade.Alert, error)
	// SaveAlert stores a new or changed alert with its messages in one transaction. It returns
	// false if another process was first.
	SaveAlert(ctx context.Context, a trade.Alert, messages []trade.AlertMessage) (bool, error)
	DigestedUntil(ctx context.Context) (time.Time, error)
	// SaveDigest stores the messages of a digest that begins where the last one ended. It returns
	// false if another process was first.
	SaveDigest(ctx context.Context, from, until time.Time, messages []trade.AlertMessage) (bool, error)
	PruneAlerts(ctx context.Context, before time.Time) error

	DueMessages(ctx context.Context, now time.Time, limit int) ([]trade.AlertMessage, error)
	// ClaimMessage begins a delivery; no other process tries it until the given time. It returns
	// false if another process was first.
	ClaimMessage(ctx context.Context, m trade.AlertMessage, until time.Time) (bool, error)
	SettleMessage(ctx context.Context, m trade.AlertMessage) error
	// ReaddressMessage closes a message, and creates a copy of it for each of the addresses that
	// has none.
	ReaddressMessage(ctx context.Context, m trade.AlertMessage, targets []string) error
}

// facts is the state of jobs, ledger and disk at one moment.
type facts struct {
	at          time.Time
	host        string
	jobs        []jobFacts
	spaces      []trade.Space
	silence     trade.EventSilence
	approvals   int                 // how many acts wait for another person
	accounts    []trade.AuditRecord // what was done to accounts while they wait, or a day before
	certificate time.Time           // expiry of the API's certificate; zero: no connection has shown it yet
	backup      trade.LastBackup
	witness     trade.Witness
}

type jobFacts struct {
	Job
	configured bool
	status     trade.JobStatus
	states     map[trade.State]int
	quiet      int // refused rows of causes that somebody takes care of
	flags      map[trade.Flag]int
	ages       trade.Ages
	runs       runMemory
}

// readFacts reads the facts: the configured jobs, then those that only the ledger knows.
func (s *Service) readFacts(ctx context.Context) (facts, error) {
	f := facts{at: s.now(), host: s.Host, spaces: s.Ledger.Spaces()}
	if s.Certificate != nil {
		f.certificate = s.Certificate()
	}
	// runs that ended since the last call, including those of other processes
	from := f.at.Add(-remembered)
	if s.runs != nil && s.followed.After(from) {
		from = s.followed.Add(-overlap)
	}
	runs := map[string]runMemory{}
	for job, m := range s.runs {
		runs[job] = m
	}
	err := s.Ledger.RunsEnded(ctx, from, f.at.Add(overlap), func(r trade.RunReport) error {
		m := runs[r.Job]
		if r.Stopped == nil {
			m.good = r.EndedAt.Time
		} else if slices.Contains(endedByPerson, r.Stopped.Code) {
			m.stopped = &r
		}
		if r.Sweep && r.InScope != nil && r.Stopped == nil {
			m.swept = &r
		}
		n := 0
		for _, a := range r.Alarms {
			if a.Kind == trade.LateAfterDismissal || a.Kind == trade.LateBeforeResend {
				n++
			}
		}
		if n > 0 {
			m.overruled, m.answers = r.EndedAt.Time, n
		}
		runs[r.Job] = m
		return nil
	})
	if err != nil {
		return f, err
	}
	s.runs, s.followed = runs, f.at
	known, err := s.Ledger.Jobs(ctx)
	if err != nil {
		return f, err
	}
	f.silence, err = s.Ledger.EventSilence(ctx)
	if err != nil {
		return f, err
	}
	waits, err := s.Ledger.Approvals(ctx, f.at)
	if err != nil {
		return f, err
	}
	f.approvals = len(waits)
	if f.approvals > 0 {
		first := slices.MinFunc(waits, func(a, b trade.Approval) int { return a.People[0].At.Compare(b.People[0].At) })
		f.accounts, err = s.Ledger.AccountChanges(ctx, first.People[0].At.Add(-trade.AccountsSettle))
		if err != nil {
			return f, err
		}
	}
	f.backup, err = s.Ledger.LastBackup(ctx)
	if err != nil {
		return f, err
	}
	f.witness, err = s.Ledger.Witness(ctx)
	if err != nil {
		return f, err
	}
	taken, err := s.readOwnedCauses(ctx, known, f.at)
	if err != nil {
		return f, err
	}
	jobs := map[string]bool{}
	for _, job := range s.Jobs {
		jobs[job.Name] = true
		f.jobs, err = s.readJob(ctx, f.jobs, job, true, taken)
		if err != nil {
			return f, err
		}
	}
	for _, name := range known {
		if jobs[name] {
			continue
		}
		f.jobs, err = s.readJob(ctx, f.jobs, Job{Name: name}, false, taken)
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

func (s *Service) readJob(ctx context.Context, list []jobFacts, job Job, configured bool,
	taken ownedCauses,
) ([]jobFacts, error) {
	j := jobFacts{Job: job, configured: configured, states: map[trade.State]int{}, runs: s.runs[job.Name]}
	var err error
	j.status, err = s.Ledger.JobStatus(ctx, job.Name)
	if err != nil {
		return list, err
	}
	tallies, err := s.Ledger.Counts(ctx, job.Name)
	if err != nil {
		return list, err
	}
	for _, t := range tallies {
		j.states[t.State] += t.Count
	}
	j.flags, err = s.Ledger.FlagCounts(ctx, job.Name)
	if err != nil {
		return list, err
	}
	var quiet []string // causes of which somebody takes care: nobody need be reminded of them now
	for cause, most := range taken.rows {
		if n := taken.count(job.Name, cause); n > 0 && n <= most[job.Name] {
			quiet = append(quiet, cause)
			j.quiet += taken.now[job.Name][trade.Rejected][cause]
		}
	}
	slices.Sort(quiet)
	j.ages, err = s.Ledger.Ages(ctx, job.Name, quiet...)
	return append(list, j), err
}

// ownedCauses is how many rows a cause has of which somebody takes care until a day: by cause and job, when
// it was taken or at the fewest since, and now.
type ownedCauses struct {
	rows map[string]map[string]int
	now  map[string]map[trade.State]map[string]int // by job, state and cause
}

// readOwnedCauses reads of which causes people take care. What has fewer rows than it had is stored with
// these, so that it is told when it grows again.
func (s *Service) readOwnedCauses(ctx context.Context, jobs []string, now time.Time) (t ownedCauses, err error) {
	t = ownedCauses{rows: map[string]map[string]int{}, now: map[string]map[trade.State]map[string]int{}}
	owners, err := s.Ledger.CauseOwners(ctx)
	if err != nil {
		return t, err
	}
	of := map[string]int{} // how many owners a cause has: its rules, or its texts
	for key, o := range owners {
		if now.Before(o.Until) {
			of[o.Cause]++
		} else {
			delete(owners, key)
		}
	}
	if len(owners) == 0 {
		return t, nil
	}
	for _, job := range jobs {
		t.now[job], err = s.Ledger.StuckStates(ctx, job)
		if err != nil {
			return t, err
		}
	}
	for _, o := range owners {
		if of[o.Cause] == 1 {
			if err := s.lower(ctx, &o, t); err != nil {
				return t, err
			}
		}
		if t.rows[o.Cause] == nil {
			t.rows[o.Cause] = map[string]int{}
		}
		for job, n := range o.Rows {
			if now.Before(o.Until) {
				t.rows[o.Cause][job] += n
			}
		}
	}
	return t, nil
}

// lower stores of a cause that it has fewer rows than it had.
func (s *Service) lower(ctx context.Context, o *trade.CauseOwner, t ownedCauses) error {
	fewer, left := map[string]int{}, 0
	for job, n := range o.Rows {
		fewer[job] = min(n, t.count(job, o.Cause))
		left += t.count(job, o.Cause)
	}
	if maps.Equal(fewer, o.Rows) && left > 0 {
		return nil
	}
	o.Rows = fewer
	if left == 0 {
		o.Until = time.Time{}
	}
	return s.Ledger.LowerCause(ctx, *o)
}

// count returns how many rows of a job have a cause now.
func (t ownedCauses) count(job, cause string) (n int) {
	for _, of := range t.now[job] {
		n += of[cause]
	}
	return n
}
