package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// Planned is one group of decisions: what the ledger would do to its rows. All of a group have one act and one reason.
type Planned struct {
	Plan   engine.RowPlan
	Reason string
	Lines  map[string]int // of the file, by key
}

// Refused is one decision that the ledger does not take.
type Refused struct {
	Line     int
	Job      string
	Key      string
	Act      string
	Refusal  engine.Refusal // engine.Moved: the row has moved since the file was made
	OneByOne bool           // it may double, or hide something: it is decided for one row at a time
}

// PlanDecisions plans the decisions of a file through the acts that the command line and the console have too. What it refuses is told row by row; what it plans has no refused
// step. Nothing that may double or hide a record is planned: no second sending, no retry or dismissal of a row that the platform may have.
func PlanDecisions(ctx context.Context, acts *engine.Acts, list []Decision) ([]Planned, []Refused, error) {
	var out []Planned
	var refused []Refused
	for _, group := range groups(list) {
		first := group[0]
		plan, err := planGroup(ctx, acts, group)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", first.Line, err)
		}
		p := Planned{Plan: plan, Reason: first.Reason, Lines: map[string]int{}}
		p.Plan.Steps = nil
		for _, step := range plan.Steps {
			d := group[slices.IndexFunc(group, func(d Decision) bool { return d.Key == step.Key })]
			no := Refused{Line: d.Line, Job: d.Job, Key: d.Key, Act: d.Act, Refusal: step.Refused}
			switch {
			case step.Refused == engine.UnknownRow:
			case step.Before.Version != d.Version:
				no.Refusal = engine.Moved
			case step.Refused != engine.NotRefused:
			case bulk(d.Act) && !slices.Contains(engine.BulkStates(d.Act), step.Before.State), d.Act == "retry" && step.Before.Weak():
				no.OneByOne = true
			default:
				p.Plan.Steps, p.Lines[step.Key] = append(p.Plan.Steps, step), d.Line
				continue
			}
			refused = append(refused, no)
		}
		if len(p.Plan.Steps) > 0 {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(refused, func(a, b Refused) int { return a.Line - b.Line })
	return out, refused, nil
}

// bulk tells whether an act may only be ordered for many rows where nothing can be doubled or hidden by it.
func bulk(act string) bool { return act == "retry" || act == "dismiss" }

func planGroup(ctx context.Context, acts *engine.Acts, group []Decision) (engine.RowPlan, error) {
	first := group[0]
	var keys []string
	for _, d := range group {
		keys = append(keys, d.Key)
	}
	switch first.Act {
	case "retry":
		return acts.Retry(ctx, first.Job, keys)
	case "dismiss":
		return acts.Dismiss(ctx, first.Job, keys)
	case "acknowledge":
		return acts.Acknowledge(ctx, first.Job, keys)
	}
	return acts.Adopt(ctx, first.Job, first.Key, engine.Adoption{ID: first.ID, NoID: first.Act == "adopt-no-id"})
}

// groups puts decisions of one job, act and reason together, in the order of the file; an adoption stands alone.
func groups(list []Decision) [][]Decision {
	type key struct{ job, act, reason string }
	at := map[key]int{}
	var out [][]Decision
	for _, d := range list {
		k := key{d.Job, d.Act, d.Reason}
		i, known := at[k]
		if d.Act == "adopt" || d.Act == "adopt-no-id" || !known {
			at[k] = len(out)
			out = append(out, []Decision{d})
			continue
		}
		out[i] = append(out[i], d)
	}
	return out
}

// ActWord is what a decision is called.
func ActWord(act string, lang trade.Lang) string { return sentence(i18n.Key("decision."+act), lang) }
