package alert

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Storage is what alerts need from the ledger.
type Storage interface {
	Book
	Outbox
	Standing
	History
}

// Standing reads the current state of the jobs and the ledger.
type Standing interface {
	Jobs(ctx context.Context) ([]string, error)
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	Counts(ctx context.Context, job string) ([]trade.Tally, error)
	FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error)
	// Ages reports how old the rows of a job are, without those that wait with some causes.
	Ages(ctx context.Context, job string, without ...string) (trade.Ages, error)
	// ArrivedDays returns how many rows were new on each day.
	ArrivedDays(ctx context.Context, job string, since time.Time) ([]trade.ArrivedDay, error)
	// CauseOwners returns who takes care of causes; StuckStates how many rows of a job have each.
	CauseOwners(ctx context.Context) (map[string]trade.CauseOwner, error)
	StuckStates(ctx context.Context, job string) (map[trade.State]map[string]int, error)
	// EventSilence reports since when events of the platform are expected, and when the last one
	// came.
	EventSilence(ctx context.Context) (trade.EventSilence, error)
	// OutboxStates returns which events other programs have not been told.
	OutboxStates(ctx context.Context) ([]trade.OutboxState, error)
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
}

// History reads what happened in a period, for the digest.
type History interface {
	// RunsEnded calls fn for the runs that ended in a period, in the order of their ends.
	RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error
	// Sent calls fn for every record that the platform confirmed in a period.
	Sent(ctx context.Context, from, before time.Time, fn func(trade.Sent) error) error
	// PayloadsOf returns what was sent for records of a kind, by their ids on the platform, as far
	// as the ledger still has it.
	PayloadsOf(ctx context.Context, sends trade.Kind, ids []string) (map[string]json.RawMessage, error)
	// Shortages returns the de-para codes without an id, and the rows that they block.
	Shortages(ctx context.Context) ([]trade.Shortage, error)
	// Acts counts the acts of people, and late answers, in a period, by name.
	Acts(ctx context.Context, from, before time.Time) (map[string]int, error)
}

// Book stores alerts and digests, each with its messages.
type Book interface {
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
}

// Outbox holds the messages that have to be delivered.
type Outbox interface {
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
	outbox      []trade.OutboxState
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
	arrived    arrived
}

// readFacts reads the facts: the configured jobs, then those that only the ledger knows.
func (s *Service) readFacts(ctx context.Context) (facts, error) {
	f := facts{at: s.now(), host: s.Host, spaces: s.Ledger.Spaces()}
	if s.Certificate != nil {
		f.certificate = s.Certificate()
	}
	if err := s.follow(ctx, f.at); err != nil {
		return f, err
	}
	known, err := s.Ledger.Jobs(ctx)
	if err != nil {
		return f, err
	}
	err = s.readEvents(ctx, &f)
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
	owners, err := s.Ledger.CauseOwners(ctx)
	if err != nil {
		return f, err
	}
	jobs := map[string]bool{}
	for _, job := range s.Jobs {
		jobs[job.Name] = true
		f.jobs, err = s.readJob(ctx, f.jobs, job, true, owners)
		if err != nil {
			return f, err
		}
	}
	for _, name := range known {
		if jobs[name] {
			continue
		}
		f.jobs, err = s.readJob(ctx, f.jobs, Job{Name: name}, false, owners)
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// readEvents reads how the platform's events come, and how those for other programs go.
func (s *Service) readEvents(ctx context.Context, f *facts) (err error) {
	f.silence, err = s.Ledger.EventSilence(ctx)
	if err == nil {
		f.outbox, err = s.Ledger.OutboxStates(ctx)
	}
	return err
}

func (s *Service) readJob(ctx context.Context, list []jobFacts, job Job, configured bool,
	owners map[string]trade.CauseOwner,
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
	quiet, err := s.quiet(ctx, &j, owners)
	if err != nil {
		return list, err
	}
	j.ages, err = s.Ledger.Ages(ctx, job.Name, quiet...)
	if err == nil && configured && s.Limits.Usual {
		j.arrived, err = s.learn(ctx, job.Name, s.now())
	}
	return append(list, j), err
}

// quiet returns the causes of rows of a job of which nobody need be reminded now, because somebody
// takes care of them, and takes those that the platform refused from the count.
func (s *Service) quiet(ctx context.Context, j *jobFacts, owners map[string]trade.CauseOwner,
) (causes []string, err error) {
	taken := map[string]int{} // rows of the job by cause, when somebody took it
	for _, o := range owners {
		if s.now().Before(o.Until) {
			taken[o.Cause] += o.Rows[j.Name]
		}
	}
	if len(taken) == 0 {
		return nil, nil
	}
	states, err := s.Ledger.StuckStates(ctx, j.Name)
	if err != nil {
		return nil, err
	}
	for cause, most := range taken {
		rows := 0
		for _, of := range states {
			rows += of[cause]
		}
		if rows > 0 && rows <= most {
			causes = append(causes, cause)
			j.quiet += states[trade.Rejected][cause]
		}
	}
	slices.Sort(causes)
	return causes, nil
}
