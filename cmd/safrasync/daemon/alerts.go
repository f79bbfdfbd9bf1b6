package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/alerts"
	engine "github.com/safrasync/safrasync/sync"
)

// alertEvery is how often alerts are looked at, and messages that are due delivered.
const alertEvery = time.Minute

// alertTimes are at once when the service starts, whenever an earlier process looked last, and then
// every minute.
type alertTimes struct{ begun atomic.Bool }

// Next is the time after another one.
func (a *alertTimes) Next(after time.Time) time.Time {
	if a.begun.Load() {
		return after.Add(alertEvery)
	}
	return after
}

// alertTasks are the tasks that tell people; none when there is nobody to be told.
func (g *generation) alertTasks() ([]engine.Task, error) {
	service, err := alerts.Service(g.App, g.daemon.store, g.daemon.log)
	if err != nil || len(service.Channels) == 0 {
		return nil, err
	}
	if platform, ok := g.engine.Platform.(interface{ CertificateEnds() time.Time }); ok {
		service.Certificate = platform.CertificateEnds
	}
	times := &alertTimes{}
	return []engine.Task{{Name: "alerts", Schedule: times, Run: func(ctx context.Context) error {
		times.begun.Store(true)
		return service.Tick(ctx)
	}}}, nil
}
