package api

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	inbound "github.com/safrasync/safrasync/internal/receiver"
	"github.com/safrasync/safrasync/trade"
)

// hookAudit is the detail of an act on a registration. It contains neither the path nor
// credentials.
type hookAudit struct {
	Event    string `json:"event"`
	Phase    string `json:"phase"` // "before" or "after"
	Webhook  string `json:"webhook"`
	Address  string `json:"address"`
	Platform string `json:"platform"`
	Outcome  string `json:"outcome,omitempty"`
	ID       string `json:"id,omitempty"`
	Status   int    `json:"status,omitempty"`
}

// hookDone is the result of a step.
type hookDone struct {
	Done    bool
	Problem i18n.Key // why not; "" if it was done
	Args    []any
	Err     error // the platform's error
}

// do does one step of a plan. What is sent is stored in the ledger before it is sent, so that calls
// to one of our paths are accepted, whatever the platform answered.
func (r *registrar) do(ctx context.Context, step hookStep, f cli.ActFlags) (hookDone, error) {
	switch step.Action {
	case hookCreate, hookUpdate:
		return r.register(ctx, step, f)
	case hookRemove:
		return r.remove(ctx, step, f)
	case hookConfirm:
		w := *step.Ours
		return hookDone{Done: true}, r.settled(ctx, w, step.There.ID, f, hookAudit{Outcome: "confirmed"})
	case hookKeep, hookForeign, hookWait:
	}
	return hookDone{}, nil
}

// register creates or changes the registration of an event. Each time it uses a new path and new
// credentials, because the old ones are stored as hashes only.
func (r *registrar) register(ctx context.Context, step hookStep, f cli.ActFlags) (hookDone, error) {
	login := inbound.NewLogin()
	w := trade.Webhook{
		ID: uuid.Must(uuid.NewV7()).String(), Event: string(step.Event), Address: r.Config.Webhooks.PublicURL,
		PathHash: inbound.HashOf(login.Path), LoginHash: inbound.HashOf(login.Basic()),
		HMACMark: r.mark, State: trade.WebhookAsked, AskedAt: office.Now(),
	}
	request := apiclient.WebhookRequest{
		WebhookEvent: step.Event, URL: w.Address + login.Path, BasicAuthentication: apiclient.Secret(login.Basic()),
		HMACSecret: apiclient.Secret(r.Config.Webhooks.HMACSecret.Reveal()),
	}
	if err := request.Check(); err != nil {
		return hookDone{}, err
	}
	if moved, err := r.moved(ctx, step); err != nil || moved {
		return hookDone{Problem: "hook.moved"}, err
	}
	if step.Asked != nil {
		old := *step.Asked
		old.State, old.RetiredAt = trade.WebhookRetired, office.Now()
		if err := r.record(ctx, old, f, hookAudit{Outcome: "given up"}, r.settleWith); err != nil {
			return hookDone{}, err
		}
	}
	if err := r.record(ctx, w, f, hookAudit{Phase: "before"},
		func(ctx context.Context, w trade.Webhook, record trade.AuditRecord) error {
			return r.store.AskWebhook(ctx, w, record)
		}); err != nil {
		return hookDone{}, err
	}
	ctx = context.WithoutCancel(ctx) // from here on signals are ignored
	var answer apiclient.Answer
	var err error
	id := ""
	if step.Action == hookCreate {
		answer, err = r.client.CreateWebhook(ctx, request)
		id = answer.ID
	} else {
		answer, err = r.client.UpdateWebhook(ctx, request)
		id = remoteID(step)
	}
	switch {
	case err == nil:
		return hookDone{Done: true}, r.settled(ctx, w, id, f, hookAudit{Outcome: "done", Status: answer.Status})
	case answer.Known == apiclient.NotCreated || answer.Known == apiclient.NotSent:
		w.State, w.RetiredAt = trade.WebhookRetired, office.Now()
		return hookDone{Problem: "hook.refused", Err: err},
			r.record(ctx, w, f, hookAudit{Phase: "after", Outcome: "refused", Status: answer.Status}, r.settleWith)
	}
	// The outcome is unknown: ask the platform.
	there, askErr := r.there(ctx, step.Event)
	if askErr == nil && there != nil && r.isAt(there, w) {
		return hookDone{Done: true}, r.settled(ctx, w, there.ID, f,
			hookAudit{Outcome: "done, its answer was lost", Status: answer.Status})
	}
	return hookDone{Problem: "hook.unknown", Args: []any{r.Config.API.Quarantine}, Err: errors.Join(err, askErr)}, nil
}

// moved reports whether the platform's registration differs from the one in the plan, which may be
// outdated.
func (r *registrar) moved(ctx context.Context, step hookStep) (bool, error) {
	there, err := r.there(ctx, step.Event)
	return (there == nil) != (step.There == nil) || there != nil &&
		(there.URL != step.There.URL || there.ID != step.There.ID), err
}

// isAt reports whether the platform has exactly this registration.
func (r *registrar) isAt(there *apiclient.Webhook, w trade.Webhook) bool {
	_, secret := hookPath(there.URL)
	return inbound.HashOf(secret) == w.PathHash
}

// remoteID returns the platform's id of our registration; "" if it is unknown.
func remoteID(step hookStep) string {
	if step.There != nil && step.There.ID != "" {
		return step.There.ID
	}
	if step.Ours != nil {
		return step.Ours.RemoteID
	}
	return ""
}

// remove deletes our registration from the platform.
func (r *registrar) remove(ctx context.Context, step hookStep, f cli.ActFlags) (hookDone, error) {
	w, id := *step.Ours, remoteID(step)
	if id == "" {
		return hookDone{Problem: "hook.no_id"}, nil
	}
	if moved, err := r.moved(ctx, step); err != nil || moved { // it would delete another system's registration
		return hookDone{Problem: "hook.moved"}, err
	}
	if err := r.record(ctx, w, f, hookAudit{Phase: "before", ID: id},
		func(ctx context.Context, _ trade.Webhook, record trade.AuditRecord) error {
			return r.store.AppendAudit(ctx, record)
		}); err != nil {
		return hookDone{}, err
	}
	ctx = context.WithoutCancel(ctx)
	answer, err := r.client.DeleteWebhook(ctx, id)
	if err != nil && !answer.NotFound() {
		return hookDone{Problem: "hook.refused", Err: err}, nil
	}
	w.State, w.RetiredAt = trade.WebhookRetired, office.Now()
	return hookDone{Done: true}, r.record(ctx, w, f,
		hookAudit{Phase: "after", Outcome: "removed", ID: id, Status: answer.Status}, r.settleWith)
}

// settled stores that the platform has a registration.
func (r *registrar) settled(ctx context.Context, w trade.Webhook, id string, f cli.ActFlags, detail hookAudit) error {
	w.State, w.RemoteID, w.SettledAt = trade.WebhookActive, id, office.Now()
	detail.Phase, detail.ID = "after", id
	return r.record(ctx, w, f, detail, r.settleWith)
}

func (r *registrar) settleWith(ctx context.Context, w trade.Webhook, record trade.AuditRecord) error {
	return r.store.SettleWebhook(ctx, w, office.Now(), record)
}

// record stores a registration together with its audit record.
func (r *registrar) record(ctx context.Context, w trade.Webhook, f cli.ActFlags, detail hookAudit,
	store func(context.Context, trade.Webhook, trade.AuditRecord) error,
) error {
	detail.Event, detail.Webhook, detail.Address, detail.Platform = w.Event, w.ID, w.Address, r.Config.API.BaseURL
	record, err := r.Audit(f, "webhooks apply", w.Event, detail)
	if err != nil {
		return err
	}
	return store(ctx, w, record)
}
