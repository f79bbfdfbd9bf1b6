package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// HeartbeatOptions configures the heartbeat.
type HeartbeatOptions struct {
	Webhook WebhookOptions // its Form does not count
	Jobs    []string
	Ledger  interface {
		JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	}
	Every time.Duration // the least time between two calls of Run
	Log   *zap.Logger
	Count func(result string) // result is done, or the code of the fault; nil: nobody counts
}

// Heartbeat tells a monitor elsewhere that the work goes on, or what stops it. When it stays away,
// the monitor tells people what this process cannot: that it does not run. The form is that of
// healthchecks.io, or by its path that of Uptime Kuma.
type Heartbeat struct {
	o      HeartbeatOptions
	client *http.Client
	due    chan struct{}     // holds one signal
	last   map[string]string // how each job ended last: the code of its stop, "" if all was well
}

// NewHeartbeat returns the heartbeat. It opens no connection.
func NewHeartbeat(o HeartbeatOptions) *Heartbeat {
	return &Heartbeat{o: o, client: o.Webhook.Client(), due: make(chan struct{}, 1), last: map[string]string{}}
}

// String returns the form and the host. The rest of the address is secret.
func (h *Heartbeat) String() string {
	u, err := url.Parse(h.o.Webhook.URL())
	switch {
	case err != nil:
		return "?"
	case kuma(u):
		return "Uptime Kuma (" + u.Hostname() + ")"
	}
	return "healthchecks.io (" + u.Hostname() + ")"
}

// Due says that a pass has ended. It returns at once.
func (h *Heartbeat) Due() {
	select {
	case h.due <- struct{}{}:
	default: // one is due already, and will tell the newest
	}
}

// Run tells the newest state after each Due until ctx ends, and waits between two calls. What did
// not arrive is told again.
func (h *Heartbeat) Run(ctx context.Context) {
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.due:
		}
		fault := asFault(h.send(ctx, h.stops(ctx)))
		if ctx.Err() != nil {
			return
		}
		result := "done"
		if fault != nil {
			result = fault.Code
			h.Due()
		}
		switch {
		case fault != nil && result != last:
			h.o.Log.Warn("heartbeat not delivered; it is tried again", zap.String("fault", result),
				zap.Stringer("reason", fault.Why))
		case fault == nil && last != "" && last != result:
			h.o.Log.Info("heartbeat delivered again")
		}
		last = result
		h.o.Count(result)
		select {
		case <-ctx.Done():
			return
		case <-time.After(h.o.Every):
		}
	}
}

// Backup tells that a copy was made, unless a job is stopped, or that it failed. It must not be
// called while Run runs.
func (h *Heartbeat) Backup(ctx context.Context, failed error) error {
	codes := []string{"backup"}
	if failed == nil {
		codes = h.stops(ctx)
	}
	return h.send(ctx, codes)
}

// stops returns the codes of what stops jobs, as far as people are told of it. A job that is running
// counts as it ended last: one that runs for hours must not silence the others.
func (h *Heartbeat) stops(ctx context.Context) (codes []string) {
	for _, job := range h.o.Jobs {
		status, err := h.o.Ledger.JobStatus(ctx, job)
		if err != nil {
			return []string{"ledger"}
		}
		if status.State != trade.Running {
			stop := status.Stop
			h.last[job] = ""
			if status.State != trade.Idle && stop != nil && !stop.Quiet() {
				h.last[job] = stop.Code
			}
		}
		if code := h.last[job]; code != "" {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// kuma reports whether an address is a push address of Uptime Kuma: …/api/push/TOKEN.
func kuma(u *url.URL) bool {
	parts := strings.Split(strings.TrimSuffix(u.Path, "/"), "/")
	return len(parts) > 3 && slices.Equal(parts[len(parts)-3:len(parts)-1], []string{"api", "push"})
}

// send makes one call: all is well, or the codes of what is not.
func (h *Heartbeat) send(ctx context.Context, codes []string) error {
	wrong := &Fault{Code: "address", Why: trade.Say("delivery.beat_address")}
	u, err := url.Parse(h.o.Webhook.URL())
	if err != nil {
		return wrong
	}
	text, method := strings.Join(codes, ","), http.MethodPost
	switch query := u.Query(); {
	case kuma(u):
		method = http.MethodGet // older ones know no other
		query.Set("status", "up")
		query.Set("msg", "OK")
		if text != "" {
			query.Set("status", "down")
			query.Set("msg", text)
		}
		u.RawQuery, text = query.Encode(), ""
	case text != "":
		u = u.JoinPath("fail")
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(text))
	if err != nil {
		return wrong
	}
	status, answer, err := Exchange(ctx, h.client, req)
	switch {
	case err != nil:
		return err
	case status < 200 || status > 299:
		return &Fault{Code: httpFault(status).Code, Why: trade.Say("delivery.beat_refused")}
	case !heartbeatAccepted(answer):
		return &Fault{Code: "not_taken", Why: trade.Say("delivery.beat_not_taken")}
	}
	return nil
}

// heartbeatAccepted reports whether an answer of success is one. healthchecks.io answers 200 with "OK (not
// found)" for a check that it does not know, and "OK (rate limited)"; a proxy answers with a page.
func heartbeatAccepted(answer []byte) bool {
	text := bytes.ToLower(bytes.TrimSpace(answer))
	var said struct {
		OK *bool `json:"ok"`
	}
	if json.Unmarshal(text, &said) == nil && said.OK != nil {
		return *said.OK
	}
	return !bytes.HasPrefix(text, []byte("<")) && !bytes.HasPrefix(text, []byte("ok ("))
}
