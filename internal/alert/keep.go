package alert

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// Config configures a Service.
type Config struct {
	Ledger   Storage
	Channels []Channel
	Jobs     []Job        // the configured jobs
	Titles   trade.Titles // of jobs, for people to read
	Limits   Limits
	Lang     trade.Lang
	Zone     *time.Location // of the cooperative: for times in messages and for working days
	Name     string         // name of this installation, in the subject of each message
	Host     string         // name of this host
	Console  string         // public address of the console; "" = links lead nowhere
	// DigestAt is the schedule of the digest; nil means no digest.
	DigestAt interface {
		Next(after time.Time) time.Time
	}
	// Causes groups the rows of a job that are not sent by their cause, the most frequent cause
	// first. Without states, it covers all rows that are not sent without a person.
	Causes func(ctx context.Context, job string, states []trade.State) ([]Cause, error)
	// Shortages returns the codes of the de-para without an id, and the rows that they block. It may be nil.
	Shortages func(ctx context.Context) ([]trade.Shortage, error)
	// Certificate returns the expiry of the API's certificate, as shown by the last connection;
	// zero if unknown. If Certificate is nil, the expiry is never known.
	Certificate func() time.Time
	Now         func() time.Time // nil means the wall clock
	Log         *zap.Logger
}

// Service reads the facts, judges them and sends messages. Only one goroutine at a time may call
// its methods. Several Services, in several processes, may share one ledger.
type Service struct {
	Config
	runs     map[string]runMemory
	followed time.Time // when the runs were last read; zero means never
	blind    ledgerFailure
	pruned   time.Time
}

// New returns a Service. It opens no connection.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{Config: c}
}

func (s *Service) now() time.Time { return s.Now().UTC() }

// Tick evaluates once, records what began and what is over, makes the digest if its time has come,
// and delivers what is due. It must be called every minute. Its errors are the ledger's; a message
// that cannot be delivered is not an error here, it is logged and tried again.
func (s *Service) Tick(ctx context.Context) error {
	err := s.Evaluate(ctx)
	if err == nil {
		err = s.digestWhenDue(ctx)
	}
	s.JudgeLedger(ctx, err)
	if err != nil {
		return err
	}
	due, err := s.Ledger.DueMessages(ctx, s.now(), batch)
	if err != nil {
		return err
	}
	down := map[Channel]*Fault{}
	var errs []error
	for _, m := range due {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, s.deliver(ctx, m, down))
	}
	return errors.Join(errs...)
}

// Evaluate reads the facts once and records what began and what is over, with the messages for it.
func (s *Service) Evaluate(ctx context.Context) error {
	f, err := s.readFacts(ctx)
	if err != nil {
		return err
	}
	open, err := s.Ledger.Alerts(ctx)
	if err != nil {
		return err
	}
	holding := judge(f, s.Limits, s.Zone)
	var errs []error
	for _, c := range holding {
		at := slices.IndexFunc(open, func(a trade.Alert) bool {
			return a.Topic == string(c.topic) && a.Subject == c.subject
		})
		var a trade.Alert
		if at >= 0 {
			a = open[at]
		}
		errs = append(errs, s.raise(ctx, c, a, f.at))
	}
	for _, a := range open {
		holds := slices.ContainsFunc(holding,
			func(c condition) bool { return a.Topic == string(c.topic) && a.Subject == c.subject })
		if !holds {
			errs = append(errs, s.end(ctx, a, f))
		}
	}
	if f.at.Sub(s.pruned) >= pruneEvery {
		err := s.Ledger.PruneAlerts(ctx, f.at.Add(-keptFor))
		if err == nil {
			s.pruned = f.at
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// raise records that a condition holds: a is its open alert, or the zero value if there is none yet.
// People are told when it has lasted long enough.
func (s *Service) raise(ctx context.Context, c condition, a trade.Alert, now time.Time) error {
	changed := a.Version == 0 || !a.GoneAt.IsZero()
	if a.Version == 0 {
		a = trade.Alert{Topic: string(c.topic), Subject: c.subject, Since: c.since, SeenAt: now}
	} else {
		var before Detail
		if err := unmarshalDetail(a, &before); err != nil {
			return err
		}
		c.detail.Group = before.Group // who was told that it began is told that it is over
		changed = changed || before.Rows != c.detail.Rows || before.Record != c.detail.Record ||
			!before.Oldest.Equal(c.detail.Oldest)
		if before.Record != c.detail.Record { // a further account: people are told of it, too
			a.RaisedAt = time.Time{}
		}
	}
	a.GoneAt = time.Time{}
	var messages []trade.AlertMessage
	if a.RaisedAt.IsZero() && lasted(a.SeenAt, now, c.lasts) {
		a.RaisedAt, changed = now, true
		if states, ok := rowStates[c.topic]; ok && s.Causes != nil {
			causes, err := s.Causes(ctx, c.subject, states[len(states)-1:])
			if err != nil { // the alert is sent without them
				s.Log.Warn("the causes of an alert could not be read", zap.String("topic", string(c.topic)), zap.Error(err))
			} else {
				c.detail.Causes = causes
			}
		}
		rows := map[trade.Department]int{} // who can end the most of them is called
		for _, one := range c.detail.Causes {
			advice := trade.ExplainTask(one.State, one.Cause, one.Problem, one.Awaited, s.voice().lang)
			rows[advice.Fixer.Department()] += one.Rows
		}
		c.detail.Group = ""
		for _, g := range trade.Departments {
			if rows[g] > rows[c.detail.Group] {
				c.detail.Group = g
			}
		}
		messages = s.messagesFor(kindRaised, notice{Topic: c.topic, Since: c.since, Detail: c.detail}, now)
		c.detail.Causes = nil
	}
	if !changed {
		return nil
	}
	detail, err := json.Marshal(c.detail)
	if err != nil {
		return err
	}
	a.Detail = detail
	saved, err := s.Ledger.SaveAlert(ctx, a, messages)
	if saved && len(messages) > 0 {
		s.Log.Warn("alert", zap.String("topic", a.Topic), zap.String("subject", a.Subject),
			zap.Int("rows", c.detail.Rows), zap.String("code", c.detail.Code))
	}
	return err
}

// lasted reports whether something has lasted for long enough. A start in the future means that the
// clock was set back; then it returns true instead of waiting for that time (F078).
func lasted(since, now time.Time, enough time.Duration) bool {
	d := now.Sub(since)
	return d >= enough || d < -time.Minute
}

// end records that the condition of an open alert no longer holds. After Settling it is over, and
// people are told if they were told before.
func (s *Service) end(ctx context.Context, a trade.Alert, f facts) error {
	var d Detail
	if err := unmarshalDetail(a, &d); err != nil {
		return err
	}
	switch {
	case !over(f, a, d):
		return nil
	case a.GoneAt.IsZero():
		a.GoneAt = f.at
		_, err := s.Ledger.SaveAlert(ctx, a, nil)
		return err
	case !lasted(a.GoneAt, f.at, Settling):
		return nil
	}
	a.ClosedAt = f.at
	var messages []trade.AlertMessage
	if !a.RaisedAt.IsZero() && Topic(a.Topic) != LateAnswer {
		n := notice{Topic: Topic(a.Topic), Since: a.Since, Gone: a.GoneAt, Detail: d}
		if n.Since.IsZero() || n.Since.After(n.Gone) {
			n.Since = a.SeenAt
		}
		messages = s.messagesFor(kindOver, n, f.at)
	}
	saved, err := s.Ledger.SaveAlert(ctx, a, messages)
	if saved && len(messages) > 0 {
		s.Log.Info("alert over", zap.String("topic", a.Topic), zap.String("subject", a.Subject))
	}
	return err
}

func unmarshalDetail(a trade.Alert, d *Detail) error {
	if err := json.Unmarshal(a.Detail, d); err != nil {
		return phrase.Errorf("the alert %s %s of the ledger is damaged: %w", a.Topic, a.Subject, err)
	}
	return nil
}

// The kinds of messages; they are stored.
const (
	kindRaised = "raised"
	kindOver   = "over"
	kindDigest = "digest"
	kindTest   = "test" // is not stored
)

// messagesFor returns one message for each address.
func (s *Service) messagesFor(kind string, n notice, now time.Time) []trade.AlertMessage {
	content, err := json.Marshal(n)
	if err != nil {
		s.Log.Error("a message could not be encoded", zap.Error(err))
		return nil
	}
	return trade.Map(s.targets(kind), func(target string) trade.AlertMessage {
		return trade.AlertMessage{Kind: kind, Target: target, Content: content, CreatedAt: now}
	})
}

// targets returns the addresses of all channels for a kind of message.
func (s *Service) targets(kind string) []string {
	var out []string
	for _, c := range s.Channels {
		out = append(out, c.Targets(kind)...)
	}
	return out
}

const (
	pruneEvery = 24 * time.Hour
	// keptFor is how long ended alerts and delivered messages stay in the ledger, so that people
	// can find out when they were told.
	keptFor = 90 * 24 * time.Hour
)
