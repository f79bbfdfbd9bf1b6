package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	inbound "github.com/safrasync/safrasync/internal/receiver"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// hookAction is the action that makes one event's registration match the configuration. The names
// appear in --json.
type hookAction string

const (
	hookKeep    hookAction = "none"    // it matches the configuration
	hookCreate  hookAction = "create"  // the platform has none
	hookUpdate  hookAction = "update"  // ours, but differs from the configuration
	hookConfirm hookAction = "confirm" // the platform has what was sent; its answer was lost
	hookRemove  hookAction = "remove"  // ours, and no longer configured
	hookForeign hookAction = "foreign" // another system's: left unchanged
	hookWait    hookAction = "wait"    // an earlier request may still be executed
)

// changes reports whether an action sends something to the platform.
func (a hookAction) changes() bool { return a == hookCreate || a == hookUpdate || a == hookRemove }

// hookStep is what would be done about one event.
type hookStep struct {
	Event  apiclient.WebhookEvent
	Action hookAction
	Why    i18n.Key
	Until  time.Time          // of hookWait
	There  *apiclient.Webhook // the platform's registration; nil = none
	Ours   *trade.Webhook     // the same, if it is ours; nil = it is not
	Asked  *trade.Webhook     // ours, of unknown outcome; nil = none
}

// registrar compares the configuration with the platform's registrations, and with those that the
// ledger knows to be ours.
type registrar struct {
	*cli.App
	store  *state.Store
	client *apiclient.Client
	ours   map[string][]trade.Webhook // by event, newest first
	mark   string                     // of the configured hmac_secret
}

func openRegistrar(ctx context.Context, a *cli.App, how cli.Access) (*registrar, error) {
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	r := &registrar{App: a}
	if r.client, err = a.OpenAPI(); err != nil {
		return nil, err
	}
	if r.store, err = a.OpenLedger(ctx, how); err != nil {
		return nil, err
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if secret := config.Webhooks.HMACSecret; !secret.IsZero() {
		key, err := r.store.LookupKey(ctx)
		if err != nil {
			return nil, err
		}
		sum := hmac.New(sha256.New, key)
		_, _ = sum.Write([]byte(secret.Reveal())) // a hash never fails to write
		r.mark = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return r, nil
}

// read loads our registrations from the ledger.
func (r *registrar) read(ctx context.Context) error {
	list, err := r.store.Webhooks(ctx, office.Now())
	r.ours = map[string][]trade.Webhook{}
	for _, w := range list {
		r.ours[w.Event] = append(r.ours[w.Event], w)
	}
	return err
}

// hookPath splits an address before its last part, which is the secret.
func hookPath(url string) (address, secret string) {
	at := strings.LastIndexByte(url, '/')
	if at < 0 {
		return url, ""
	}
	return url[:at], url[at:]
}

// there reads the platform's registration of an event; nil if there is none.
func (r *registrar) there(ctx context.Context, event apiclient.WebhookEvent) (*apiclient.Webhook, error) {
	w, err := r.client.GetWebhook(ctx, event)
	var failure *apiclient.Error
	switch {
	case err == nil:
		return &w, nil
	case errors.As(err, &failure) && failure.Answer.NotFound():
		return nil, nil
	}
	return nil, err
}

// recognise returns our registration that is the platform's; nil if the platform's is not ours.
func (r *registrar) recognise(event apiclient.WebhookEvent, there *apiclient.Webhook) *trade.Webhook {
	_, secret := hookPath(there.URL)
	hash := inbound.HashOf(secret)
	list := r.ours[string(event)]
	if i := slices.IndexFunc(list, func(w trade.Webhook) bool { return w.PathHash == hash }); i >= 0 {
		return &list[i]
	}
	if there.URL == "" { // the answer does not show the address: compare the id
		i := slices.IndexFunc(list, func(w trade.Webhook) bool { return w.RemoteID != "" && w.RemoteID == there.ID })
		if i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// plan returns the steps for all events that are configured or have a registration of ours.
// takeOver lists events whose registrations by other systems may be replaced.
func (r *registrar) plan(ctx context.Context, takeOver []string) ([]hookStep, error) {
	var out []hookStep
	declared := r.Config.Webhooks.EventNames()
	for _, event := range apiclient.WebhookEvents {
		wanted := slices.Contains(declared, event)
		if !wanted && !slices.ContainsFunc(r.ours[string(event)],
			func(w trade.Webhook) bool { return w.State != trade.WebhookRetired }) {
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

func (r *registrar) step(ctx context.Context, event apiclient.WebhookEvent, wanted, takeOver bool) (hookStep, error) {
	step := hookStep{Event: event}
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
		step.Ours = r.recognise(event, there)
	}
	switch {
	case there == nil && step.Asked != nil && office.Now().Before(step.Asked.AskedAt.Add(r.Config.API.Quarantine)):
		step.Action, step.Why, step.Until = hookWait, "hook.why_wait", step.Asked.AskedAt.Add(r.Config.API.Quarantine)
	case there == nil && wanted:
		step.Action, step.Why = hookCreate, "hook.why_none"
	case there == nil:
		step.Action, step.Why = hookKeep, "hook.why_gone"
	case step.Ours == nil && takeOver && wanted:
		step.Action, step.Why = hookUpdate, "hook.why_taken"
	case step.Ours == nil:
		step.Action, step.Why = hookForeign, "hook.why_foreign"
	case !wanted:
		step.Action, step.Why = hookRemove, "hook.why_undeclared"
	default:
		step.Action, step.Why = r.compare(there, step.Ours)
	}
	return step, nil
}

// compare returns what our registration needs to match the configuration, and why.
func (r *registrar) compare(there *apiclient.Webhook, ours *trade.Webhook) (hookAction, i18n.Key) {
	switch {
	case ours.State == trade.WebhookRetired:
		return hookUpdate, "hook.why_old"
	case ours.Address != r.Config.Webhooks.PublicURL:
		return hookUpdate, "hook.why_address"
	case ours.HMACMark != r.mark:
		return hookUpdate, "hook.why_secret"
	case there.BasicAuthentication != "" && inbound.HashOf(string(there.BasicAuthentication)) != ours.LoginHash:
		return hookUpdate, "hook.why_login"
	case ours.State == trade.WebhookAsked:
		return hookConfirm, "hook.why_confirm"
	}
	return hookKeep, "hook.why_same"
}
