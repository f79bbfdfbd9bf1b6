package main

import (
	"context"
	"time"

	"go.uber.org/zap"

	engine "github.com/safrasync/safrasync/sync"
)

// retentionTask does what `safrasync purge` does, on the schedule of the configuration.
func (g *generation) retentionTask() (engine.Task, error) {
	schedule, err := engine.ParseSchedule(g.config.Retention.Schedule, g.config.Zone())
	if err != nil {
		return engine.Task{}, err
	}
	store, log := g.daemon.store, g.daemon.log
	return engine.Task{Name: "retention", Schedule: schedule, Run: func(ctx context.Context) error {
		began := now()
		plan, err := store.Retain(ctx, g.config.Retention.ledger(), began, byTheProgram())
		if err != nil {
			return err
		}
		fields := []zap.Field{zap.Duration("duration", now().Sub(began).Round(time.Millisecond))}
		for _, k := range plan {
			if k.Rows > 0 {
				fields = append(fields, zap.Int(k.Kind, k.Rows))
			}
		}
		log.Info("retention", fields...)
		return nil
	}}, nil
}
