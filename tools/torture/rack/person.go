package rack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Decide acts as a person who reads the platform's log and decides about every row that is in doubt
// or held. It adopts what exists and orders the rest to be sent again, after the quarantine.
// Contracts come first, because deliveries depend on them.
func (t *Trial) Decide(ctx context.Context) error {
	wait := time.NewTimer(quarantine)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
	}
	for range 2 { // deliveries whose contract was decided come into doubt no more, but they may be held
		entries, err := t.entries(ctx)
		if err != nil {
			return err
		}
		rows, err := t.Work.rows(ctx)
		if err != nil {
			return err
		}
		records, _, err := t.records()
		if err != nil {
			return err
		}
		open := 0
		for _, at := range slices.SortedFunc(maps.Keys(entries), func(a, b rowKey) int { return cmpKeys(a, b) }) {
			state := entries[at].State
			if state != "in_doubt" && state != "held" {
				continue
			}
			open++
			ids := records[at.job+" "+rows[at]]
			args := []string{"resend", at.job, at.key, "--checked"}
			switch {
			case len(ids) > 0:
				args = []string{"adopt", at.job, at.key, ids[0]}
			case state == "held":
				args = []string{"retry", at.job, at.key}
			}
			if err := t.act(ctx, append(args, "--reason", "looked into the platform's log", "--as", "torture",
				"--yes")); err != nil {
				return err
			}
		}
		if open == 0 {
			return nil
		}
		if err := t.Child.Settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

func cmpKeys(a, b rowKey) int {
	switch {
	case a.job != b.job && a.job < b.job, a.job == b.job && a.key < b.key:
		return -1
	}
	return 1
}

func (t *Trial) act(ctx context.Context, args []string) error {
	if err := t.Child.command(ctx, args...).Run(); err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, t.Child.last())
	}
	return nil
}
