package daemon

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
)

// loginsEvery is when expired logins are removed: every hour.
type loginsEvery struct{}

func (loginsEvery) Next(after time.Time) time.Time { return after.Add(time.Hour) }

// NewConsole builds the console on an office and the logins of its ledger. refused counts what
// strangers are refused.
func NewConsole(a *cli.App, store *state.Store, o *office.Office,
	refused func(cause string, err error),
) *console.Console {
	c := a.Config.Console
	proxy, _ := config.ProxyPrefix(c.Behind)
	openID, err := a.Config.OpenID()
	if err != nil { // log-ins by password work all the same
		a.Logger().Error("the login by OpenID Connect cannot be offered", zap.Error(err))
	}
	sessions := auth.New(auth.Parts{Users: o, Logins: store, OpenID: openID, Idle: c.Idle, Most: config.LongestLogin})
	return console.New(console.Parts{
		Site: web.Site{
			Name: c.Name, Lang: a.Lang(), Zone: a.Config.Zone(), Secure: c.CertFile != "" || c.Behind != "",
			Environment: c.Environment, Now: office.Now, Log: bounded(a.Logger(), linesMost), Refused: refused,
		},
		Sessions: sessions,
		Pages:    pages.New(o, sessions),
		Hosts:    c.AllHosts(), Behind: proxy,
	})
}

// linesMost is how many equal lines of the console the log gets in a minute. While the ledger is
// down each request is one, and the system's log drops lines about sending when there are too many.
const linesMost = 60

// bounded returns a logger with at most so many equal lines in a minute.
func bounded(log *zap.Logger, most int) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, most, 0)
	}))
}
