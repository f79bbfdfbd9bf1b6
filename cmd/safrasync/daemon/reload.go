package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// reload reads the configuration again. It returns the generation that replaces the running one. If
// the new configuration is wrong, reload returns nil and the old one stays; the log and
// the service manager get the reason.
func (d *daemon) reload(ctx context.Context, old *generation) *generation {
	d.manager.Reloading()
	next, open, err := d.reread(ctx, old)
	if err != nil {
		d.log.Error("the new configuration is wrong; the old one stays in force", zap.Error(err))
		d.said.refused.Store(new(old.Text("the new configuration is invalid and the old one stays in effect: %s", firstLine(old.Voice(), err))))
		d.monitor.ReloadRefused()
		d.manager.Ready(d.sentence(ctx, old))
		return nil
	}
	var refused *string
	if stale := next.Config.StaleSecrets(); len(stale) > 0 {
		d.log.Warn("the service manager still has the former copy of secrets; "+
			"restart the service, to take the new ones (systemctl restart safrasync)", zap.Strings("secrets", stale))
		refused = new(next.Text("the service still uses the old value of %s; only a restart reads the new one: systemctl restart safrasync", strings.Join(stale, ", ")))
	}
	d.said.refused.Store(refused)
	d.level.SetLevel(next.Config.Log.ZapLevel())
	d.monitor.serve(next, open.metrics)
	d.monitor.Reloaded(office.Now())
	if err := d.console.serve(next, open.desk); err != nil {
		next.notServed("console", "console: %s", err)
	}
	if err := d.events.serve(ctx, next.Config.Webhooks, open.events); err != nil {
		next.notServed("webhooks", "the platform's events are not received (webhooks): %s", err)
	}
	if err := d.programs.serve(next, open.programs); err != nil {
		next.notServed("http_api", "the HTTP API for other programs is not available (http_api): %s", err)
	}
	d.noteConfig(ctx, next.Config, cli.ThisHost())
	next.check(ctx)
	d.log.Info("the new configuration is in force; what runs ends with the requests in flight and begins again",
		zap.Int("jobs", len(next.Config.Jobs)))
	return next
}

// opened are the listeners for addresses that are new in a configuration; nil if an address is
// unchanged or not configured.
type opened struct {
	metrics, desk, events, programs net.Listener
}

// disproved reports whether the ERP has answered that it lacks something that a configuration
// names. An ERP that cannot be reached, or refuses the login at the moment, proves nothing.
func disproved(err error) bool {
	switch erp.CodeOf(err) {
	case "", erp.CodeUnreachable, erp.CodeTLS, erp.CodeAuth, erp.CodeNoDatabase, erp.CodeTimeout, erp.CodeLocked,
		erp.CodeCancelled:
		return false
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// reread loads the configuration, opens the addresses that are new, builds the next generation, and
// asks the ERP whether it has what the configuration names.
func (d *daemon) reread(ctx context.Context, old *generation) (next *generation, open opened, err error) {
	fresh := &cli.App{Env: d.Env, ConfigPath: d.ConfigPath}
	config, err := fresh.LoadConfig()
	if err != nil {
		return nil, open, err
	}
	a, b := old.Config.State, config.State
	if a.Driver != b.Driver || a.DSN.Reveal() != b.DSN.Reveal() || a.Journals() != b.Journals() {
		return nil, open, errors.New(
			"state: cannot change while the service runs; restart it (systemctl restart safrasync)")
	}
	defer func() {
		for _, l := range []net.Listener{open.metrics, open.desk, open.events, open.programs} {
			if err != nil && l != nil {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	open.metrics, err = listenNew(ctx, "metrics.listen", config.Metrics.Listen, d.monitor.address)
	if err != nil {
		return nil, open, err
	}
	open.desk, err = d.console.listen(ctx, config)
	if err != nil {
		return nil, open, err
	}
	open.events, err = listenNew(ctx, "webhooks.listen", config.Webhooks.Listen, d.events.config.Listen)
	if err != nil {
		return nil, open, err
	}
	open.programs, err = d.programs.listen(ctx, config)
	if err != nil {
		return nil, open, err
	}
	next, err = d.generation(config, false)
	if err != nil {
		return nil, open, err
	}
	if err = next.checkERP(ctx); disproved(err) {
		next.close()
		return nil, open, err
	}
	return next, open, nil
}

// actConfig is the audit's act for a new configuration, or a new version of the program, in effect.
const actConfig = "config"

// inForce is the detail of that audit record: the version, and a hash of the configuration in
// effect, in which secrets are references. Whoever has the file of that time can prove that it was
// in effect. Host and file distinguish the instances of one ledger, which may have different
// configurations.
type inForce struct {
	Program string `json:"program"`
	Config  string `json:"config"`
	Before  string `json:"before,omitempty"`
	Host    string `json:"host"`
	File    string `json:"file"`
}

// noteConfig records in the audit which configuration and version are in effect on this host, if
// they differ from those recorded last for it. A failure is logged only; the service goes on.
func (d *daemon) noteConfig(ctx context.Context, config *config.Config, host string) {
	sum := sha256.Sum256([]byte(config.Show()))
	file, err := filepath.Abs(config.File())
	if err != nil { // the working directory has been removed
		file = config.File()
	}
	is := inForce{Program: d.Version, Config: hex.EncodeToString(sum[:]), Host: host, File: file}
	var was inForce
	err = d.store.ActsBetween(ctx, []string{actConfig}, time.Time{}, time.Time{}, func(r trade.AuditRecord) error {
		var then inForce
		if json.Unmarshal([]byte(r.Detail), &then) != nil {
			return nil // retention has removed the detail
		}
		if then.Host == is.Host && then.File == is.File {
			was = then
		}
		return nil
	})
	if err == nil && (was.Config != is.Config || was.Program != is.Program) {
		is.Before = was.Config
		detail, e := json.Marshal(is)
		record := cli.ProgramRecord()
		record.At, record.Act, record.Target, record.Reason, record.Detail = office.Now(), actConfig, config.File(), "",
			string(detail)
		err = errors.Join(e, d.store.AppendAudit(ctx, record))
	}
	if err != nil {
		d.log.Error("the audit does not tell which configuration is in force", zap.Error(err))
	}
}
