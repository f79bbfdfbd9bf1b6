package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"reflect"
	gosync "sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	inbound "github.com/safrasync/safrasync/internal/receiver"
	"github.com/safrasync/safrasync/trade"
)

// eventReceiver receives the platform's webhooks for the daemon. It outlives the generations of the
// configuration as long as their webhooks sections are equal.
type eventReceiver struct {
	daemon *daemon
	log    *zap.Logger   // each kind of fault once a minute: strangers must not fill it
	told   chan struct{} // holds one value: events have been stored
	config config.WebhooksConfig
	server *inbound.Intake
}

// listenNew opens the address of a key of the configuration. It returns nil if the address is already
// served, or if it is empty. A reload calls it before it changes anything.
func listenNew(ctx context.Context, key, address, served string) (net.Listener, error) {
	if address == "" || address == served {
		return nil, nil //nolint:nilnil // nothing to open is no error
	}
	return listenAt(ctx, key, address)
}

// listenAt opens the address of a key of the configuration.
func listenAt(ctx context.Context, key, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, phrase.Errorf("%s: %w; is another program on that port?", key, err)
	}
	return listener, nil
}

// serve receives events according to a configuration from now on.
func (e *eventReceiver) serve(ctx context.Context, w config.WebhooksConfig, listener net.Listener) error {
	if reflect.DeepEqual(w, e.config) {
		return nil
	}
	e.close()
	if w.Listen == "" {
		return nil
	}
	if listener == nil { // same address, but another setting changed
		var err error
		listener, err = listenAt(ctx, "webhooks.listen", w.Listen)
		if err != nil {
			return err
		}
	}
	options := inbound.Setup{
		Listener: listener, Inbox: e.daemon.store, Now: office.Now,
		Fault: func(what string, err error) { e.log.Error(what, zap.Error(err)) },
		Stored: func() { // the processor of events is woken
			select {
			case e.told <- struct{}{}:
			default:
			}
		},
		Refused: e.daemon.monitor.refusals.Of("webhooks"),
		Webhooks: func(ctx context.Context) ([]trade.Webhook, error) {
			return e.daemon.store.Webhooks(ctx, office.Now())
		},
	}
	for _, p := range w.Proxies {
		prefix, err := config.ProxyPrefix(p)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		options.Proxies = append(options.Proxies, prefix)
	}
	var err error
	options.TLS, err = serverTLS("webhooks", w.CertFile, w.KeyFile)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	e.server, e.config = inbound.Start(options), w
	e.daemon.log.Info("events are taken", zap.String("address", listener.Addr().String()),
		zap.Bool("tls", options.TLS != nil))
	return nil
}

// close closes the listener and waits for events that are being stored.
func (e *eventReceiver) close() {
	if e.server == nil {
		return
	}
	if err := e.server.Close(); err != nil {
		e.daemon.log.Warn("closing the receiver of events", zap.Error(err))
	}
	e.server, e.config = nil, config.WebhooksConfig{}
}

// serverTLS returns the TLS configuration for the certificate of a section; nil if there is none.
func serverTLS(section, cert, key string) (*tls.Config, error) {
	if cert == "" {
		return nil, nil //nolint:nilnil // no certificate is no error
	}
	c := &certificate{cert: cert, key: key}
	if _, err := c.get(nil); err != nil {
		return nil, phrase.Errorf("%s.cert_file: cannot be used with key_file: %w", section, err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get,
	}, nil
}

// certificate reads its files again when they change, so that a renewed certificate needs no
// restart.
type certificate struct {
	cert, key string

	mu     gosync.Mutex
	loaded *tls.Certificate
	was    os.FileInfo
	looked time.Time
}

// certificateLook is how often the files are checked for a change.
const certificateLook = 10 * time.Second

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && time.Since(c.looked) < certificateLook {
		return c.loaded, nil
	}
	c.looked = time.Now()
	info, err := os.Stat(c.cert)
	if err == nil && c.loaded != nil && info.ModTime().Equal(c.was.ModTime()) && os.SameFile(info, c.was) {
		return c.loaded, nil
	}
	var fresh tls.Certificate
	if err == nil {
		fresh, err = tls.LoadX509KeyPair(c.cert, c.key)
	}
	switch {
	case err == nil:
		c.loaded, c.was = &fresh, info
	case c.loaded == nil:
		return nil, err
	}
	return c.loaded, nil // the old one while the new files are incomplete
}
