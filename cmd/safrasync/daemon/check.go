package daemon

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
)

// checkTimeout is the time limit of each check of the ERP and of the API, before the service
// reports that it is ready.
const checkTimeout = 15 * time.Second

// check checks the ERP and the API, as `safrasync check` does. A failure never stops the start: an
// ERP or an API that is down comes back. A wrong configuration or ledger has stopped it earlier.
func (g *generation) check(ctx context.Context) {
	g.troubles = nil
	if err := g.checkERP(ctx); err != nil && ctx.Err() == nil {
		g.trouble("erp", g.Text("ERP: %s", firstLine(g.Voice(), err)), err)
	}
	asking, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	_, err := g.engine.Platform.ListWebhooks(asking) // a harmless GET
	failure, ok := errors.AsType[*apiclient.CallError](err)
	if err != nil && !(ok && cli.Passes(failure)) && ctx.Err() == nil {
		g.trouble("api", g.Text("API: %s", firstLine(g.Voice(), err)), err)
	}
}

func (g *generation) trouble(what, text string, err error) {
	g.troubles = append(g.troubles, text)
	g.daemon.log.Warn("a check did not pass; the service goes on and tries again", zap.String("check", what),
		zap.Error(err))
}

// notServed notes that a part of the service does not answer, which holds until a reload, and logs it.
func (g *generation) notServed(what string, sentence i18n.Key, err error) {
	g.absent = append(g.absent, g.Text(sentence, firstLine(g.Voice(), err)))
	g.daemon.log.Error("a part of the service is not served; correct it and reload", zap.String("part", what),
		zap.Error(err))
}

// checkERP connects to the ERP, and compares each job with the columns of its query.
func (g *generation) checkERP(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	source, err := g.source.open(ctx)
	if err != nil {
		return err
	}
	if _, err := source.Facts(ctx); err != nil {
		return err
	}
	for _, job := range g.engine.Jobs {
		err = errors.Join(err, g.Config.Annotate(g.engine.Check(ctx, job)))
	}
	return err
}
