package sent

import (
	"fmt"
	"slices"
)

// push takes up a world that may follow the present one, with a sentence about the step.
type push[W comparable] func(w W, label string, args ...any)

// found is the result of an exploration.
type found struct {
	worlds int
	fault  string
	trace  []string
}

// explore visits every world that can be reached from start, nearest first, until one has the
// wanted fault; "" means any fault.
func explore[W comparable](start W, steps func(W, push[W]), fault func(W) string, wanted string) found {
	type came struct {
		from  int32
		label string
	}
	seen := map[W]struct{}{start: {}}
	queue := []W{start}
	from := []came{{-1, ""}}
	at := 0
	add := func(w W, label string, args ...any) {
		if _, ok := seen[w]; ok {
			return
		}
		seen[w] = struct{}{}
		queue = append(queue, w)
		if len(args) > 0 {
			label = fmt.Sprintf(label, args...)
		}
		from = append(from, came{int32(at), label})
	}
	var f found
	for ; at < len(queue) && f.fault == ""; at++ {
		wrong := fault(queue[at])
		if wrong == "" || wanted != "" && wrong != wanted {
			steps(queue[at], add)
			continue
		}
		f.fault = wrong
		for i := int32(at); from[i].from >= 0; i = from[i].from {
			f.trace = append(f.trace, from[i].label)
		}
		slices.Reverse(f.trace)
	}
	f.worlds = len(seen)
	return f
}
