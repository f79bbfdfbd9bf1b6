package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// alertService wires what tells people with the ledger and the configuration. It connects to
// nothing.
func (a *App) alertService(store *state.Store, log *zap.Logger) (*alert.Service, error) {
	config := a.config
	channels, err := alertChannels(config)
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
			RejectedAbove: config.Alerts.RejectedAbove, OldestWaiting: config.Alerts.OldestWaiting,
			Silence: config.Webhooks.Silence,
		},
		Lang: a.lang(), Zone: config.Zone(), Name: config.Alerts.Name, Host: host, Log: log,
		Causes: func(ctx context.Context, job string, states []trade.State) ([]alert.Cause, error) {
			return a.alertCauses(ctx, store, job, states)
		},
	}
	for _, job := range config.Jobs {
		c.Jobs = append(c.Jobs, alert.Job{Name: job.Name, Sends: trade.Kind(job.Sends), NothingNew: job.NothingNew})
	}
	if config.Alerts.Digest != noDigest {
		if c.DigestAt, err = engine.ParseSchedule(config.Alerts.Digest, config.Zone()); err != nil {
			return nil, err
		}
	}
	return alert.New(c), nil
}

// alertChannels are the ways to people that the configuration has.
func alertChannels(config *Config) ([]alert.Channel, error) {
	var out []alert.Channel
	if e := config.Alerts.Email; e != nil {
		roots, err := rootsOf(e.CAFile)
		if err != nil {
			return nil, err
		}
		host, port, _ := e.place()
		out = append(out, alert.NewEmail(alert.EmailOptions{
			Host: host, Port: port, Security: alert.Security(e.Security), User: e.User, Password: e.Password.Reveal,
			From: e.From,
			To:   e.To, DigestTo: e.DigestTo, Roots: roots, Timeout: e.Timeout,
		}))
	}
	if w := config.Alerts.Webhook; w != nil {
		roots, err := rootsOf(w.CAFile)
		if err != nil {
			return nil, err
		}
		out = append(out, alert.NewWebhook(alert.WebhookOptions{
			URL: w.URL.Reveal, Form: alert.Form(w.Form),
			Roots: roots, Timeout: w.Timeout,
		}))
	}
	return out, nil
}

// rootsOf are the certificates of a file beside those of the system; nil for those of the system
// alone.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ca_file under alerts cannot be read: %s", plainReason(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // a machine without certificates of its own
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(pem) // check has found one in it
	return pool, nil
}

// alertCauses groups rows by what keeps them, without a key or a value of the ERP: messages go
// further than screens (I10).
func (a *App) alertCauses(ctx context.Context, store *state.Store, job string,
	states []trade.State,
) ([]alert.Cause, error) {
	if len(states) == 0 {
		states = kept
	}
	t := newTroubles(a.config.JobSpecs())
	err := store.Rows(ctx, trade.RowFilter{Job: job, States: states}, func(e trade.Entry) error {
		t.add(e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	v := a.voice()
	var out []alert.Cause
	for _, g := range t.sorted() {
		advice := g.adviceWithoutKey(v)
		c := alert.Cause{
			State: g.State, What: advice.What, Who: advice.Who, Do: advice.Do, Rows: g.Rows, Subjects: len(g.Subjects),
			Oldest: g.Oldest,
		}
		if g.Awaited == nil {
			c.Volumes = alertVolumes(g.Volumes)
		} else {
			c.Subjects = 0 // they are the parents, which have their own lines
		}
		out = append(out, c)
	}
	return out, nil
}

// adviceWithoutKey is the advice with a word in place of the key of the first row's parent.
func (g *trouble) adviceWithoutKey(v voice) trade.Advice {
	if g.Awaited == nil {
		return g.advice(v)
	}
	parent := *g.Awaited
	parent.Key = v.text("alert.key")
	return v.own.Awaited(parent, v.lang)
}

// alertVolumes sums up by product what the groups have by product and unit. A product that the
// platform does not know is not named: what the ERP has in its column could be anything.
func alertVolumes(list []volume) []alert.Volume {
	var out []alert.Volume
	for _, v := range list {
		product := v.Product
		if !isProduct(product) {
			return nil
		}
		if len(out) == 0 || out[len(out)-1].Product != product { // the list is sorted
			out = append(out, alert.Volume{Product: product})
		}
		sum := &out[len(out)-1]
		sum.Rows += v.Rows
		if kg, ok := (trade.Quantity{Amount: v.Amount, Unit: v.Unit}).Kilograms(); ok {
			sum.Kilograms = sum.Kilograms.Add(kg)
		} else {
			sum.Unweighed += v.Rows
		}
	}
	return out
}

func isProduct(text string) bool {
	for _, p := range []trade.Product{trade.Soja, trade.Milho, trade.Trigo} {
		if text == string(p) {
			return true
		}
	}
	return false
}

// printDigest shows the digest of the time since the last one.
func (a *App) printDigest(ctx context.Context) error {
	if _, err := a.loadConfig(); err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	service, err := a.alertService(store, a.logger())
	if err != nil {
		return err
	}
	digest, text, err := service.Digest(ctx)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(digest)
	}
	a.block(text)
	return nil
}
