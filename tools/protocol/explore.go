package protocol

import (
	"fmt"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// found is the result of an exploration.
type found struct {
	worlds int
	fault  string
	trace  []string
	moves  map[[2]trade.State]bool // moves that were made
}

// explore visits every reachable world, nearest first, until one has the wanted fault; "" means any
// fault.
func explore(size limits, rules rule, wanted string) found {
	type came struct {
		from  int32
		label string
	}
	start := world{state: stateNo(trade.Pending), gen: 1}
	seen := map[world]struct{}{start: {}}
	queue := []world{start}
	from := []came{{-1, ""}}
	p := &model{limits: size, rules: rules, verdicts: verdicts(rules)}
	f := found{moves: map[[2]trade.State]bool{}}
	at := 0
	p.push = func(w world, label string, args ...any) {
		if w.state != queue[at].state && !w.restored {
			f.moves[[2]trade.State{trade.States[queue[at].state], trade.States[w.state]}] = true
		}
		if _, ok := seen[w]; ok {
			return
		}
		seen[w] = struct{}{}
		queue = append(queue, w)
		from = append(from, came{int32(at), label})
		if len(args) > 0 {
			from[len(from)-1].label = fmt.Sprintf(label, args...)
		}
	}
	for ; at < len(queue); at++ {
		w := queue[at]
		if fault := w.fault(); fault != "" && (wanted == "" || fault == wanted) {
			for i := int32(at); from[i].from >= 0; i = from[i].from {
				f.trace = append(f.trace, from[i].label)
			}
			slices.Reverse(f.trace)
			f.fault = fault
			break
		}
		if w.created < 2 {
			p.steps(w)
		}
	}
	f.worlds = len(seen)
	return f
}

const twice = "the record is on the platform twice"
