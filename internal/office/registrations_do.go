package office

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/i18n"
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

// actWebhooks is the act in the audit.
const actWebhooks = "webhooks apply"

// HookDone is the result of a step.
type HookDone struct {
	Done    bool
	Problem i18n.Key // why not; "" if it was done
	Args    []any
	Err     error // the platform's error
}

// Do does one step of a plan. What is sent is stored in the ledger before it is sent, so that calls
// to one of our paths are accepted, whatever the platform answered.
func (r *Registrar) Do(ctx context.Context, step HookStep, who trade.Person) (HookDone, error) {
	if !who.Role.May(trade.Administrator) {
		return HookDone{}, trade.ErrRole
	}
	switch step.Action {
	case HookCreate, HookUpdate:
		return r.register(ctx, step, who)
	case HookRemove:
		return r.remove(ctx, step, who)
	case HookConfirm:
		w := *step.Ours
		return HookDone{Done: true}, r.settled(ctx, w, step.There.ID, who, hookAudit{Outcome: "confirmed"})
	case HookKeep, HookForeign, HookWait:
	}
	return HookDone{}, nil
}

// register creates or changes the registration of an event. Each time it uses a new path and new
// credentials, because the old ones are stored as hashes only.
func (r *Registrar) register(ctx context.Context, step HookStep, who trade.Person) (HookDone, error) {
	login := inbound.NewLogin()
	w := trade.Webhook{
		ID: uuid.Must(uuid.NewV7()).String(), Event: string(step.Event), Address: r.office.conf.Webhooks.PublicURL,
		PathHash: inbound.HashOf(login.Path), LoginHash: inbound.HashOf(login.Basic()),
		HMACMark: r.mark, State: trade.WebhookAsked, AskedAt: r.office.now(),
	}
	request := apiclient.WebhookRequest{
		WebhookEvent: step.Event, URL: w.Address + login.Path, BasicAuthentication: apiclient.Secret(login.Basic()),
		HMACSecret: apiclient.Secret(r.office.conf.Webhooks.HMACSecret.Reveal()),
	}
	if err := request.Check(); err != nil {
		return HookDone{}, err
	}
	if moved, err := r.moved(ctx, step); err != nil || moved {
		return HookDone{Problem: "the platform has changed since the plan was shown; run the command again"}, err
	}
	if step.Asked != nil {
		old := *step.Asked
		old.State, old.RetiredAt = trade.WebhookRetired, r.office.now()
		if err := r.record(ctx, old, who, hookAudit{Outcome: "given_up"}); err != nil {
			return HookDone{}, err
		}
	}
	if err := r.record(ctx, w, who, hookAudit{Phase: "before"}); err != nil {
		return HookDone{}, err
	}
	ctx = context.WithoutCancel(ctx) // from here on signals are ignored
	var answer apiclient.Answer
	var err error
	id := ""
	if step.Action == HookCreate {
		answer, err = r.client.CreateWebhook(ctx, request)
		id = answer.ID
	} else {
		answer, err = r.client.UpdateWebhook(ctx, request)
		id = remoteID(step)
	}
	switch {
	case err == nil:
		return HookDone{Done: true}, r.settled(ctx, w, id, who, hookAudit{Outcome: "done", Status: answer.Status})
	case answer.Known == apiclient.NotCreated || answer.Known == apiclient.NotSent:
		w.State, w.RetiredAt = trade.WebhookRetired, r.office.now()
		return HookDone{Problem: "the platform refused", Err: err},
			r.record(ctx, w, who, hookAudit{Phase: "after", Outcome: "refused", Status: answer.Status})
	}
	// The outcome is unknown: ask the platform.
	there, askErr := r.there(ctx, step.Event)
	if askErr == nil && there != nil {
		if _, secret := hookPath(there.URL); inbound.HashOf(secret) == w.PathHash {
			return HookDone{Done: true}, r.settled(ctx, w, there.ID, who,
				hookAudit{Outcome: "done_unanswered", Status: answer.Status})
		}
	}
	return HookDone{
		Problem: "it is unknown whether the platform registered it; run the command again after %s: it checks first", Args: []any{r.office.conf.API.Quarantine}, Err: errors.Join(err, askErr),
	}, nil
}

// moved reports whether the platform's registration differs from the one in the plan, which may be
// outdated.
func (r *Registrar) moved(ctx context.Context, step HookStep) (bool, error) {
	there, err := r.there(ctx, step.Event)
	return (there == nil) != (step.There == nil) || there != nil &&
		(there.URL != step.There.URL || there.ID != step.There.ID), err
}

// remoteID returns the platform's id of our registration; "" if it is unknown.
func remoteID(step HookStep) string {
	if step.There != nil && step.There.ID != "" {
		return step.There.ID
	}
	if step.Ours != nil {
		return step.Ours.RemoteID
	}
	return ""
}

// remove deletes our registration from the platform.
func (r *Registrar) remove(ctx context.Context, step HookStep, who trade.Person) (HookDone, error) {
	w, id := *step.Ours, remoteID(step)
	if id == "" {
		return HookDone{Problem: "the platform does not report the id of the registration; remove it there"}, nil
	}
	if moved, err := r.moved(ctx, step); err != nil || moved { // it would delete another system's registration
		return HookDone{Problem: "the platform has changed since the plan was shown; run the command again"}, err
	}
	record, err := r.audit(w, who, hookAudit{Phase: "before", ID: id})
	if err == nil {
		err = r.office.store.AppendAudit(ctx, record)
	}
	if err != nil {
		return HookDone{}, err
	}
	ctx = context.WithoutCancel(ctx)
	answer, err := r.client.DeleteWebhook(ctx, id)
	if err != nil && !answer.NotFound() {
		return HookDone{Problem: "the platform refused", Err: err}, nil
	}
	w.State, w.RetiredAt = trade.WebhookRetired, r.office.now()
	return HookDone{Done: true}, r.record(ctx, w, who,
		hookAudit{Phase: "after", Outcome: "removed", ID: id, Status: answer.Status})
}

// settled stores that the platform has a registration.
func (r *Registrar) settled(ctx context.Context, w trade.Webhook, id string, who trade.Person, detail hookAudit) error {
	w.State, w.RemoteID, w.SettledAt = trade.WebhookActive, id, r.office.now()
	detail.Phase, detail.ID = "after", id
	return r.record(ctx, w, who, detail)
}

// record stores a registration together with its audit record: before it is sent, or what became of it.
func (r *Registrar) record(ctx context.Context, w trade.Webhook, who trade.Person, detail hookAudit) error {
	record, err := r.audit(w, who, detail)
	switch {
	case err != nil:
		return err
	case w.State == trade.WebhookAsked:
		return r.office.store.AskWebhook(ctx, w, record)
	}
	return r.office.store.SettleWebhook(ctx, w, r.office.now(), record)
}

func (r *Registrar) audit(w trade.Webhook, who trade.Person, detail hookAudit) (trade.AuditRecord, error) {
	detail.Event, detail.Webhook, detail.Address, detail.Platform = w.Event, w.ID, w.Address, r.office.conf.API.BaseURL
	return who.Record(r.office.now(), actWebhooks, w.Event, detail)
}
