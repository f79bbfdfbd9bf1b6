package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/internal/office"
	engine "github.com/safrasync/safrasync/sync"
)

// alertEvery is how often alerts are evaluated and due messages are delivered.
const alertEvery = time.Minute

// alertTimes is the schedule of the alerts: at once when the service starts, even if an earlier
// process evaluated them a moment ago, and then every minute.
type alertTimes struct{ begun atomic.Bool }

// Next returns the first time after another one; until the first tick has begun, that is after
// itself.
func (a *alertTimes) Next(after time.Time) time.Time {
	if a.begun.Load() {
		return after.Add(alertEvery)
	}
	return after
}

// alertTasks returns the tasks that send alerts; none if there are no channels.
func (g *generation) alertTasks() ([]engine.Task, error) {
	service, err := office.Alerts(g.Config, g.Voice(), g.daemon.store, g.daemon.log)
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
