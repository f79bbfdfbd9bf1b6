package office

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// Alerts builds the alert service from the ledger and the configuration. It opens no connection.
func Alerts(conf *config.Config, v words.Voice, store *state.Store, log *zap.Logger) (*alert.Service, error) {
	channels, err := Channels(conf)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	c := alert.Config{
		Ledger: store, Channels: channels,
		Limits: alert.Limits{
			RejectedAbove: conf.Alerts.RejectedAbove, OldestWaiting: config.OldestWaiting,
			Silence: conf.Webhooks.Silence, BackupOlder: conf.Alerts.BackupOlder,
		},
		Lang: v.Lang, Zone: conf.Zone(), Name: conf.Alerts.Name, Host: host, Log: log,
		Console: conf.Console.PublicURL,
		Titles:  conf.Titles(v.Lang),
		Causes: func(ctx context.Context, job string, states []trade.State) ([]alert.Cause, error) {
			return Causes(ctx, conf, store, job, states)
		},
		Shortages: func(ctx context.Context) ([]trade.Shortage, error) {
			jobs, err := CompileJobs(conf)
			if err != nil {
				return nil, err
			}
			view, err := (&pending.Index{Ledger: store, Jobs: jobs, Now: time.Now}).Update(ctx)
			if err != nil {
				return nil, err
			}
			return view.Short, nil
		},
	}
	for _, job := range conf.Jobs {
		c.Jobs = append(c.Jobs, alert.Job{Name: job.Name, Sends: trade.Kind(job.Sends), NothingNew: job.NothingNew})
	}
	if conf.Alerts.Digest != config.NoDigest {
		c.DigestAt, err = clock.ParseSchedule(conf.Alerts.Digest, conf.Zone())
		if err != nil {
			return nil, err
		}
	}
	return alert.New(c), nil
}

// Digest returns the digest of the time since the last one, and its text. It sends nothing.
func (o *Office) Digest(ctx context.Context) (alert.Digest, string, error) {
	service, err := Alerts(o.conf, o.Voice(o.lang), o.store, o.log)
	if err != nil {
		return alert.Digest{}, "", err
	}
	return service.Digest(ctx)
}

// Channels returns the configured alert channels: e-mail and webhook.
func Channels(conf *config.Config) ([]alert.Channel, error) {
	roots, err := config.RootsOf(conf.API.CAFile)
	if err != nil {
		return nil, err
	}
	var out []alert.Channel
	if e := conf.Alerts.Email; e != nil {
		host, port, _ := e.Place()
		out = append(out, alert.NewEmail(alert.EmailOptions{
			Host: host, Port: port, Security: alert.Security(e.Security), User: e.User, Password: e.Password.Reveal,
			From: e.From, To: e.To, Roots: roots, Timeout: alertTimeout,
		}))
	}
	if w := conf.Alerts.Webhook; w != nil {
		out = append(out, alert.NewWebhook(alert.WebhookOptions{
			URL: w.URL.Reveal, Form: alert.Form(w.Form), Chat: w.Chat, Key: w.Key.Reveal, Roots: roots,
			Timeout: alertTimeout, Proxy: w.Proxy.Reveal,
		}))
	}
	return out, nil
}

// alertTimeout is how long one message may take.
const alertTimeout = 30 * time.Second

// heartbeatTimeout is how long one call of the heartbeat may take.
const heartbeatTimeout = 10 * time.Second

// heartbeatEvery is the least time between two of its calls.
const heartbeatEvery = time.Minute

// Heartbeat tells a monitor elsewhere that the work goes on.
type Heartbeat = alert.Heartbeat

// NewHeartbeat returns the configured heartbeat, or nil. It takes the way of the webhook: its proxy.
func NewHeartbeat(conf *config.Config, store *state.Store, log *zap.Logger, count func(string)) (*Heartbeat, error) {
	if conf.Alerts.Heartbeat.IsZero() {
		return nil, nil //nolint:nilnil // none is configured
	}
	roots, err := config.RootsOf(conf.API.CAFile)
	if err != nil {
		return nil, err
	}
	o := alert.HeartbeatOptions{
		Webhook: alert.WebhookOptions{URL: conf.Alerts.Heartbeat.Reveal, Timeout: heartbeatTimeout, Roots: roots},
		Ledger:  store, Every: heartbeatEvery, Log: log, Count: count,
	}
	if w := conf.Alerts.Webhook; w != nil {
		o.Webhook.Proxy = w.Proxy.Reveal
	}
	o.Jobs = trade.Map(conf.Jobs, func(job config.JobConfig) string { return job.Name })
	return alert.NewHeartbeat(o), nil
}

// Causes groups the rows that cannot go by themselves by cause. The result holds no key and no
// value of the ERP, because alerts are sent further than screens (I10): of the texts of `invalid:` it has
// those that stand in the job's query. Causes that only other texts tell apart are one, unless different
// people take care of them.
func Causes(ctx context.Context, conf *config.Config, store *state.Store, job string,
	states []trade.State,
) ([]alert.Cause, error) {
	if len(states) == 0 {
		states = trade.Stuck
	}
	owners, err := store.CauseOwners(ctx)
	if err != nil {
		return nil, err
	}
	queries := map[string]string{}
	for _, spec := range conf.JobSpecs() {
		queries[spec.Name] = spec.Query
	}
	// the causes of which one person takes care, or nobody
	type ownedCauses struct {
		own trade.CauseOwner
		*pending.Causes
	}
	var parts []ownedCauses
	err = store.Rows(ctx, trade.RowQuery{Jobs: []string{job}, States: states}, func(e trade.Entry) error {
		key, _ := pending.CauseOf(e)
		own := owners[OwnerKey(key)]
		if e.Error != nil {
			for i, p := range e.Error.Fields {
				if p.Rule == trade.RuleDeclared && !strings.Contains(queries[e.Job], "'"+string(p.Detail)+"'") {
					e.Error.Fields[i].Detail = "" // a text of the ERP
				}
			}
		}
		i := slices.IndexFunc(parts, func(p ownedCauses) bool {
			return p.own.Owner == own.Owner && p.own.Note == own.Note && p.own.Until.Equal(own.Until)
		})
		if i < 0 {
			i, parts = len(parts), append(parts, ownedCauses{own, pending.NewCauses(conf.JobSpecs())})
		}
		parts[i].Add(e)
		return nil
	})
	// the ERP's column may contain anything, so a product that the platform does not know must not
	// appear
	rule, _ := trade.Rule(trade.OrderCommitments, "product")
	unknown := func(s pending.Sum) bool { return !slices.Contains(rule.Values, s.Product) }
	var out []alert.Cause
	for _, part := range parts {
		for _, g := range part.Sorted() {
			c := alert.Cause{
				State: g.State, Cause: g.Cause, Rows: g.Rows(), Subjects: len(g.Subjects), Oldest: g.Oldest,
				Owner: part.own.Owner, Note: part.own.Note, Until: part.own.Until,
			}
			if g.Problem != nil {
				p := *g.Problem
				p.Value, c.Problem = "", &p
			}
			if g.Awaited != nil {
				parent := *g.Awaited
				parent.Key, c.Awaited = "", &parent
				c.Subjects = 0 // they are the parents, which have lines of their own
			} else if !slices.ContainsFunc(g.Sums, unknown) {
				c.Volumes = trade.Map(g.Sums, func(s pending.Sum) trade.ProductSums {
					return trade.ProductSums{Product: s.Product, Sums: s.Sums}
				})
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b alert.Cause) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Cause, b.Cause))
	})
	return out, err
}

// How long the words about an owner may be, in characters, and how far its day may lie ahead.
const (
	ownerMost = 60
	noteMost  = 200
	quietMost = 366 * 24 * time.Hour
)

// Owning is that somebody takes care of a cause. An empty Owner ends that.
type Owning struct {
	Key   string // of the cause
	Owner string
	Note  string
	Until trade.Date // nobody is reminded before that day; zero: all the time
	Seen  time.Time  // when somebody took the cause, as the person saw it; zero: nobody had
}

// OwnerKey returns the key under which the ledger has who takes care of a cause. The key of a cause
// may hold a text of the ERP.
func OwnerKey(cause string) string {
	sum := sha256.Sum256([]byte(cause))
	return hex.EncodeToString(sum[:12])
}

// OwnCause stores who takes care of a cause that keeps rows from going. It returns trade.ErrRole if
// the person may not decide, trade.ErrNobody if there is no such cause, and the key of a phrase for
// what is wrong with the words.
func (o *Office) OwnCause(ctx context.Context, ask Owning, lang trade.Lang, who trade.Person,
) (fault string, err error) {
	if err := mayRole(who, trade.Accountant); err != nil {
		return "", err
	}
	own := trade.CauseOwner{
		Key: OwnerKey(ask.Key), Owner: trade.MaskDocuments(strings.TrimSpace(ask.Owner)),
		Note: trade.MaskDocuments(strings.TrimSpace(ask.Note)), Rows: map[string]int{},
	}
	now := o.now()
	if !ask.Until.IsZero() {
		own.Until = ask.Until.In(o.conf.Zone())
	}
	switch {
	case own.Owner == "":
		own.Note, own.Until = "", time.Time{}
	case utf8.RuneCountInString(own.Owner) > ownerMost || utf8.RuneCountInString(own.Note) > noteMost:
		return "owner.too_long", nil
	case !own.Until.IsZero() && (!own.Until.After(now) || own.Until.Sub(now) > quietMost):
		return "The day must come after today, and within a year.", nil
	}
	stuck, err := o.Stuck(ctx, lang, true)
	if err != nil {
		return "", err
	}
	owners, err := o.store.CauseOwners(ctx)
	if err != nil {
		return "", err
	}
	before := owners[own.Key]
	i := slices.IndexFunc(stuck.Causes, func(c Cause) bool { return c.Key == ask.Key })
	switch {
	case i < 0 && (own.Owner != "" || before.Owner == ""):
		return "", trade.ErrNobody
	case !before.At.Equal(ask.Seen):
		return "owner.moved", nil
	}
	act := "cause leave"
	if own.Owner != "" {
		act = "cause own"
	}
	own.Cause = before.Cause
	if i >= 0 {
		own.Cause, own.Rows = stuck.Causes[i].Cause, rowsOf(&stuck.Causes[i].Group)
	}
	record, err := who.Record(now, act, own.Cause, map[string]any{
		"owner": own.Owner, "note": own.Note, "until": ask.Until, "rows": own.Rows,
	})
	if err != nil {
		return "", err
	}
	return "", o.store.OwnCause(ctx, own, record)
}

// rowsOf returns how many rows of each job have a cause themselves.
func rowsOf(g *pending.Group) map[string]int {
	out := map[string]int{}
	for _, p := range g.Own {
		out[p.Job] += p.Rows
	}
	return out
}

// CauseOwner returns to whom a record of the audit gave a cause, and until when people are not reminded of it;
// "" = to nobody.
func CauseOwner(r trade.AuditRecord) (owner string, until trade.Date) {
	var detail struct {
		Owner string
		Until trade.Date
	}
	if r.Act != "cause own" || json.Unmarshal([]byte(r.Detail), &detail) != nil {
		return "", until
	}
	return detail.Owner, detail.Until
}
