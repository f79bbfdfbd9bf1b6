package office

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/i18n"
	inbound "github.com/safrasync/safrasync/internal/receiver"
	"github.com/safrasync/safrasync/trade"
)

// HookAction is the action that makes one event's registration match the configuration. The names
// appear in --json.
type HookAction string

// The actions.
const (
	HookKeep    HookAction = "none"    // it matches the configuration
	HookCreate  HookAction = "create"  // the platform has none
	HookUpdate  HookAction = "update"  // ours, but differs from the configuration
	HookConfirm HookAction = "confirm" // the platform has what was sent; its answer was lost
	HookRemove  HookAction = "remove"  // ours, and no longer configured
	HookForeign HookAction = "foreign" // another system's: left unchanged
	HookWait    HookAction = "wait"    // an earlier request may still be executed
)

// Changes reports whether an action sends something to the platform.
func (a HookAction) Changes() bool { return a == HookCreate || a == HookUpdate || a == HookRemove }

// HookStep is what would be done about one event, or was.
type HookStep struct {
	Event  apiclient.WebhookEvent `json:"event"`
	Action HookAction             `json:"action"`
	Done   bool                   `json:"done"`
	Text   string                 `json:"why"` // in English; whoever prints it sets it
	// address without the secret path; "" = there is none, or it is not shown
	Address string     `json:"address"`
	ID      *string    `json:"id"` // of the platform
	IsOurs  bool       `json:"ours"`
	Since   *time.Time `json:"since"` // when the platform was first seen with it; null = not yet, or not ours

	Why   i18n.Key           `json:"-"`
	Until time.Time          `json:"-"` // of HookWait
	There *apiclient.Webhook `json:"-"` // the platform's registration; nil = none
	Ours  *trade.Webhook     `json:"-"` // the same, if it is ours; nil = it is not
	Asked *trade.Webhook     `json:"-"` // ours, of unknown outcome; nil = none
}

// ShownURL returns an address without what may be a credential: the user part and the query.
func ShownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	if u.User != nil {
		u.User = url.User("***")
	}
	if u.RawQuery != "" {
		u.RawQuery = "***"
	}
	return u.String()
}

// Registrar compares the configuration with the platform's registrations, and with those that the
// ledger knows to be ours.
type Registrar struct {
	office *Office
	client *apiclient.Client
	ours   map[string][]trade.Webhook // by event, newest first
	mark   string                     // of the configured hmac_secret
}

// Registrar returns who plans and orders the registrations of our webhooks on the platform.
func (o *Office) Registrar(ctx context.Context, client *apiclient.Client) (*Registrar, error) {
	r := &Registrar{office: o, client: client, ours: map[string][]trade.Webhook{}}
	list, err := o.store.Webhooks(ctx, o.now())
	if err != nil {
		return nil, err
	}
	for _, w := range list {
		r.ours[w.Event] = append(r.ours[w.Event], w)
	}
	if secret := o.conf.Webhooks.HMACSecret; !secret.IsZero() {
		key, err := o.store.LookupKey(ctx)
		if err != nil {
			return nil, err
		}
		sum := hmac.New(sha256.New, key)
		_, _ = sum.Write([]byte(secret.Reveal())) // a hash never fails to write
		r.mark = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return r, nil
}

// hookPath splits an address before its last part, which is the secret.
func hookPath(from string) (address, secret string) {
	at := strings.LastIndexByte(from, '/')
	if at < 0 {
		return from, ""
	}
	return from[:at], from[at:]
}

// there reads the platform's registration of an event; nil if there is none.
func (r *Registrar) there(ctx context.Context, event apiclient.WebhookEvent) (*apiclient.Webhook, error) {
	w, err := r.client.GetWebhook(ctx, event)
	var failure *apiclient.CallError
	switch {
	case err == nil:
		return &w, nil
	case errors.As(err, &failure) && failure.Answer.NotFound():
		return nil, nil
	}
	return nil, err
}

// recognise returns our registration that is the platform's; nil if the platform's is not ours.
func (r *Registrar) recognise(event apiclient.WebhookEvent, there *apiclient.Webhook) *trade.Webhook {
	_, secret := hookPath(there.URL)
	hash := inbound.HashOf(secret)
	list := r.ours[string(event)]
	i := slices.IndexFunc(list, func(w trade.Webhook) bool { return w.PathHash == hash })
	if i < 0 && there.URL == "" { // the answer does not show the address: compare the id
		i = slices.IndexFunc(list, func(w trade.Webhook) bool { return w.RemoteID != "" && w.RemoteID == there.ID })
	}
	if i < 0 {
		return nil
	}
	return &list[i]
}

// Plan returns the steps for all events that are configured or have a registration of ours.
// takeOver lists events whose registrations by other systems may be replaced.
func (r *Registrar) Plan(ctx context.Context, takeOver []string) ([]HookStep, error) {
	var out []HookStep
	declared := r.office.conf.Webhooks.EventNames()
	for _, event := range apiclient.WebhookEvents {
		wanted := slices.Contains(declared, event)
		if !wanted && !r.hasOurs(event) {
			continue
		}
		step, err := r.step(ctx, event, wanted, slices.Contains(takeOver, string(event)))
		if err != nil {
			return nil, err
		}
		out = append(out, step)
	}
	return out, nil
}

// hasOurs reports whether an event has a registration of ours that was not given up.
func (r *Registrar) hasOurs(event apiclient.WebhookEvent) bool {
	return slices.ContainsFunc(r.ours[string(event)],
		func(w trade.Webhook) bool { return w.State != trade.WebhookRetired })
}

// Compare returns for each event what the platform has and what it needs, of all events that anybody
// has registered if none is named; and those that the platform has several times.
func (r *Registrar) Compare(ctx context.Context, events []apiclient.WebhookEvent) (steps []HookStep,
	twice []apiclient.WebhookEvent, err error,
) {
	declared := r.office.conf.Webhooks.EventNames()
	if events == nil {
		hooks, err := r.client.Webhooks(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range apiclient.WebhookEvents {
			n := 0
			for _, w := range hooks {
				if w.WebhookEvent == e {
					n++
				}
			}
			if n > 1 { // it is not documented which one it calls
				twice = append(twice, e)
			}
			if n > 0 || slices.Contains(declared, e) || r.hasOurs(e) {
				events = append(events, e)
			}
		}
	}
	for _, e := range events {
		step, err := r.step(ctx, e, slices.Contains(declared, e), false)
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, step)
	}
	return steps, twice, nil
}

// PlanRemoval returns the steps that delete our registrations of some events, configured or not.
func (r *Registrar) PlanRemoval(ctx context.Context, events []apiclient.WebhookEvent) ([]HookStep, error) {
	var out []HookStep
	for _, event := range events {
		step, err := r.step(ctx, event, false, false)
		if err != nil {
			return nil, err
		}
		if step.Action == HookRemove {
			step.Why = "requested"
		}
		out = append(out, step)
	}
	return out, nil
}

func (r *Registrar) step(ctx context.Context, event apiclient.WebhookEvent, wanted, takeOver bool) (HookStep, error) {
	step := HookStep{Event: event}
	wait := r.office.conf.API.Quarantine
	there, err := r.there(ctx, event)
	if err != nil {
		return step, err
	}
	step.There = there
	for i, w := range r.ours[string(event)] {
		if w.State == trade.WebhookAsked {
			step.Asked = &r.ours[string(event)][i]
		}
	}
	if there != nil {
		step.Ours, step.ID, step.Address = r.recognise(event, there), trade.OrNull(there.ID), ShownURL(there.URL)
	}
	if step.Ours != nil {
		step.IsOurs, step.Since = true, trade.OrNull(step.Ours.SettledAt)
		step.Address, _ = hookPath(there.URL)
	}
	switch {
	case there == nil && step.Asked != nil && r.office.now().Before(step.Asked.AskedAt.Add(wait)):
		step.Action, step.Why, step.Until = HookWait, "a registration sent earlier may still appear; run this again later", step.Asked.AskedAt.Add(wait)
	case there == nil && wanted:
		step.Action, step.Why = HookCreate, "the platform has no webhook for this event"
	case there == nil:
		step.Action, step.Why = HookKeep, "not declared, and not on the platform"
	case step.Ours == nil && takeOver && wanted:
		step.Action, step.Why = HookUpdate, "replaces another system's webhook, as requested"
	case step.Ours == nil:
		step.Action, step.Why = HookForeign, "it belongs to another system and is left as it is (--take-over EVENT replaces it)"
	case !wanted:
		step.Action, step.Why = HookRemove, "it is ours and no longer declared"
	case step.Ours.State == trade.WebhookRetired:
		step.Action, step.Why = HookUpdate, "the platform calls an older address of ours"
	case step.Ours.Address != r.office.conf.Webhooks.PublicURL:
		step.Action, step.Why = HookUpdate, "the declared address is different"
	case step.Ours.HMACMark != r.mark:
		step.Action, step.Why = HookUpdate, "the declared hmac_secret is different"
	case there.BasicAuthentication != "" && inbound.HashOf(string(there.BasicAuthentication)) != step.Ours.LoginHash:
		step.Action, step.Why = HookUpdate, "the credentials on the platform are not ours"
	case step.Ours.State == trade.WebhookAsked:
		step.Action, step.Why = HookConfirm, "the platform has what was sent, but its answer was lost"
	default:
		step.Action, step.Why = HookKeep, "as declared"
	}
	return step, nil
}
