package office

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/trade"
)

// AlertShown is an alert in words, with the messages about it.
type AlertShown struct {
	trade.Alert
	alert.Rendered
	Messages []trade.AlertMessage // newest first
}

// Begin returns when it began, as far as that is known.
func (a AlertShown) Begin() time.Time {
	return cmp.Or(a.Since, a.SeenAt)
}

// OpenAlerts returns how many alerts are open.
func (o *Office) OpenAlerts(ctx context.Context) (int, error) {
	alerts, err := o.store.Alerts(ctx)
	return len(slices.DeleteFunc(alerts, func(a trade.Alert) bool { return !a.GoneAt.IsZero() })), err
}

// AlertGroup is alerts about the same.
type AlertGroup struct {
	Alerts []AlertShown // newest first
	Now    trade.Figure // the rows that an open one is about, as they are now
}

// AlertBook is what people were told of.
type AlertBook struct {
	Open, Past []AlertGroup // newest first
	Backlog    trade.Backlog
	Channels   bool   // somebody can be told
	Channel    string // the name of the channel that is no e-mail; "" = not known
}

// How many alerts and messages a page shows.
const (
	alertsShown   = 100
	messagesShown = 1000
)

// channelNames are the names of the services that alerts are sent to, by their form.
var channelNames = map[string]string{
	"slack": "Slack", "teams": "Teams", "telegram": "Telegram", "pagerduty": "PagerDuty",
}

// AlertBook returns the open alerts and the latest ones that are over, each with whom it was told to.
func (o *Office) AlertBook(ctx context.Context, lang trade.Lang) (book AlertBook, err error) {
	book.Channels = o.conf.Alerts.Email != nil || o.conf.Alerts.Webhook != nil
	if hook := o.conf.Alerts.Webhook; hook != nil {
		book.Channel = channelNames[hook.Form]
	}
	alerts, err := o.store.LatestAlerts(ctx, alertsShown)
	if err != nil {
		return book, err
	}
	messages, err := o.store.LatestMessages(ctx, messagesShown)
	if err != nil {
		return book, err
	}
	of := map[string][]trade.AlertMessage{}
	for _, m := range messages {
		of[m.AlertID] = append(of[m.AlertID], m)
	}
	for _, a := range alerts {
		told, err := alert.Render(a, lang, o.conf.Zone(), o.conf.Titles(lang))
		if err != nil {
			return book, err
		}
		groups := &book.Open
		if !a.GoneAt.IsZero() {
			groups = &book.Past
		}
		shown := AlertShown{a, told, of[a.ID]}
		i := slices.IndexFunc(*groups, func(g AlertGroup) bool {
			return g.Alerts[0].Topic == a.Topic && g.Alerts[0].Subject == a.Subject
		})
		if i >= 0 {
			(*groups)[i].Alerts = append((*groups)[i].Alerts, shown)
			continue
		}
		group := AlertGroup{Alerts: []AlertShown{shown}}
		if states := alert.States(a); a.GoneAt.IsZero() && states != nil {
			group.Now.Of = trade.RowQuery{Jobs: []string{a.Subject}, States: states}
			tallies, err := o.store.Counts(ctx, a.Subject)
			if err != nil {
				return book, err
			}
			group.Now.Rows = trade.RowsIn(tallies, states...)
		}
		*groups = append(*groups, group)
	}
	book.Backlog, err = o.store.Backlog(ctx)
	return book, err
}

// EventShown is an event of the platform, and the records that it told of.
type EventShown struct {
	trade.InboxEvent
	About []EventAbout
}

// EventAbout is a record of which an event told; Row is the zero row if it is none of ours.
type EventAbout struct {
	trade.EventNote
	Row trade.Entry
}

// EventBook is what the platform told, and how well it is heard.
type EventBook struct {
	Hooks   []trade.Webhook // that the platform calls, or may call
	Silence trade.EventSilence
	Events  []EventShown // newest first
}

// EventKinds returns the events that the platform can tell of.
func EventKinds() []string {
	return trade.Map(apiclient.WebhookEvents, func(e apiclient.WebhookEvent) string { return string(e) })
}

// EventsShown is how many events are read at a time.
const EventsShown = 100

// EventBook returns the latest events that a filter selects, with what came of them.
func (o *Office) EventBook(ctx context.Context, f trade.InboxFilter) (book EventBook, err error) {
	f.Limit = EventsShown
	book.Silence, err = o.store.EventSilence(ctx)
	if err != nil {
		return book, err
	}
	book.Hooks, err = o.store.Webhooks(ctx, o.now())
	if err != nil {
		return book, err
	}
	book.Hooks = slices.DeleteFunc(book.Hooks, func(w trade.Webhook) bool { return !w.RetiredAt.IsZero() })
	list, err := o.store.Inbox(ctx, f)
	if err != nil {
		return book, err
	}
	seqs := trade.Map(list, func(e trade.InboxEvent) int64 { return e.Seq })
	notes, err := o.store.NotesOf(ctx, seqs)
	if err != nil {
		return book, err
	}
	var ids []string
	for _, n := range notes {
		if n.Kind == string(trade.OrderCommitments) {
			ids = append(ids, n.ID)
		}
	}
	rows, err := o.store.EntriesWith(ctx, trade.OrderCommitments, ids)
	if err != nil {
		return book, err
	}
	for _, e := range list {
		shown := EventShown{InboxEvent: e}
		for _, n := range notes {
			if n.Seq != e.Seq {
				continue
			}
			about := EventAbout{EventNote: n}
			if i := slices.IndexFunc(rows, func(r trade.Entry) bool { return r.RemoteID == n.ID }); i >= 0 {
				about.Row = rows[i]
			}
			shown.About = append(shown.About, about)
		}
		book.Events = append(book.Events, shown)
	}
	return book, nil
}
