package daemon

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
)

// retentionTask returns the task that does what `safrasync purge` does, on the configured schedule.
func (g *generation) retentionTask() (engine.Task, error) {
	schedule, err := clock.ParseSchedule(g.Config.Retention.Schedule, g.Config.Zone())
	if err != nil {
		return engine.Task{}, err
	}
	store, log := g.daemon.store, g.daemon.log
	return engine.Task{Name: "retention", Schedule: schedule, Run: func(ctx context.Context) error {
		began := office.Now()
		if err := store.LapseApprovals(ctx, began); err != nil {
			return err
		}
		plan, err := store.Retain(ctx, g.Config.Retention.Ledger(), began, cli.ProgramRecord())
		if err != nil {
			return err
		}
		fields := []zap.Field{zap.Duration("duration", office.Now().Sub(began).Round(time.Millisecond))}
		for _, k := range plan {
			if k.Rows > 0 {
				fields = append(fields, zap.Int(k.Kind, k.Rows))
			}
		}
		log.Info("retention", fields...)
		return nil
	}}, nil
}
