package histories

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// plan is a history before it runs. The same seed leads to the same plan. A plan with fewer steps
// is a plan too.
type plan struct {
	Seed  uint64
	About string // an act, or ""
	Setup setup
	Steps []step
}

// setup is what does not change during a history.
type setup struct {
	Calm            bool // nobody changes what is known, so everything must be sent
	Postgres        bool // the ledger is in PostgreSQL
	Server          bool // a server of its own, if so
	Replica         bool // which has a replica
	ChangedAt       bool // the ERP has a column with the time of the last change
	Positional      bool // contracts are numbered by row_number()
	Style           int  // how numbers are written
	Child           trade.Kind
	ChildPositional bool
	Cascade         bool // children follow their contract to its new number
	Brakes          bool
	Coded           bool // wallets and farms stand in the ERP by codes, of which not all are known
	Farms           bool // traceability says the farm, which is not always known
	Recycled        bool // a number that another producer or product gets is looked at by a person
	Corrected       bool // codes of the de-para are corrected
	Bridge          bool // the bridge of the report is compared with the ERP after each pass
	Twice           int  // a second job reads the same contracts: 1 = under other keys, 2 = in another space
	InFlight        int
	Rows            int // at the beginning
}

// step is an op of the table with its arguments. Their meaning depends on the state of the history.
type step struct {
	Op   string
	A, B int
}

// jobOps are the ops that remove a job from the configuration.
var jobOps = []string{"rename", "split job", "merge jobs"}

// draw returns the plan of a seed.
func draw(seed uint64) plan {
	random := rand.New(rand.NewPCG(seed, 18))
	s := setup{
		Calm: random.IntN(4) == 0, Postgres: seed%10 == 0, ChangedAt: random.IntN(2) == 0, Style: random.IntN(3),
		InFlight: 1 + 3*random.IntN(2), Rows: 1 + random.IntN(4),
		Cascade: random.IntN(4) > 0, ChildPositional: random.IntN(2) == 0, Brakes: random.IntN(2) == 0,
		Coded: random.IntN(3) == 0,
	}
	switch random.IntN(6) {
	case 0, 1:
		s.Child = trade.Deliveries
	case 2:
		s.Child = trade.Traceability
	case 3:
		s.Positional = !s.Calm
	}
	var about *act
	if among := selected(); len(among) > 0 && (random.IntN(2) == 0 || *chosen != "") {
		about = &among[random.IntN(len(among))]
		for about.rare && len(among) > 1 && random.IntN(5) > 0 {
			about = &among[random.IntN(len(among))]
		}
		s.Calm = false
		if about.setup != nil {
			about.setup(&s, random)
		}
	}
	p := plan{Seed: seed, Setup: s}
	var ops []op
	for _, o := range steps {
		if o.calm || !s.Calm {
			ops = append(ops, slices.Repeat([]op{o}, o.weight)...)
		}
	}
	everyday := func() step { return step{ops[random.IntN(len(ops))].name, random.IntN(60), random.IntN(60)} }
	if about != nil {
		p.About = about.name
		p.Steps = about.play(random, everyday)
	}
	if random.IntN(3) > 0 {
		p.Steps = append(p.Steps, step{Op: "sync"})
	}
	length := 3 + random.IntN(10)
	if about != nil {
		length = random.IntN(6)
	}
	if seed%20 == 5 {
		length = 60
	}
	for range length {
		drawn := everyday()
		p.Steps = append(p.Steps, drawn)
		if slices.Contains(jobOps, drawn.Op) && random.IntN(2) == 0 { // both jobs then have the keys when joined
			p.Steps = append(p.Steps, step{Op: "release"}, step{Op: "sync"},
				step{"move", random.IntN(60), random.IntN(60)})
		}
		if drawn.Op == "overtake" && random.IntN(2) == 0 {
			p.Steps = append(p.Steps, step{Op: "sync"}, step{"person", random.IntN(60), random.IntN(60)})
		}
		if random.IntN(2) == 0 {
			p.Steps = append(p.Steps, step{Op: []string{"sync", "sweep"}[random.IntN(2)]})
		}
	}
	return p
}

// shorten removes what a history does not need in order to fail in the same way. It runs at most
// most histories.
func (p plan) shorten(most int, fails func(plan) bool) plan {
	try := func(shorter plan) bool {
		most--
		if most < 0 || !fails(shorter) {
			return false
		}
		p = shorter
		return true
	}
	for _, simplify := range simpler {
		shorter := p
		simplify(&shorter.Setup)
		if shorter.Setup != p.Setup {
			try(shorter)
		}
	}
	for size := len(p.Steps) / 2; size > 0; {
		cut := false
		for i := len(p.Steps) - size; i >= 0; i-- {
			shorter := p
			shorter.Steps = slices.Delete(slices.Clone(p.Steps), i, i+size)
			if try(shorter) {
				cut, i = true, min(i, len(p.Steps)-size+1)
			}
		}
		if !cut {
			size /= 2
		}
	}
	return p
}

// simpler are the possible simplifications of a setup.
var simpler = []func(*setup){
	func(s *setup) { s.Postgres = false },
	func(s *setup) { s.Replica = false },
	func(s *setup) { s.Child = "" },
	func(s *setup) { s.ChangedAt = false },
	func(s *setup) { s.Positional = false },
	func(s *setup) { s.ChildPositional = false },
	func(s *setup) { s.Cascade = true },
	func(s *setup) { s.Brakes = false },
	func(s *setup) { s.Coded = false },
	func(s *setup) { s.Farms = false },
	func(s *setup) { s.InFlight = 1 },
	func(s *setup) { s.Style = 0 },
	func(s *setup) { s.Rows = 1 },
	func(s *setup) { s.Rows = 2 },
	func(s *setup) { s.Twice = 0 },
}

func (s setup) String() string {
	out := fmt.Sprintf("%d rows", s.Rows)
	for text, set := range map[string]bool{
		"calm": s.Calm, "PostgreSQL": s.Postgres, "changed_at": s.ChangedAt, "row_number()": s.Positional,
		"children by row_number()": s.ChildPositional && s.Child != "",
		"children keep their numbers": !s.Cascade &&
			s.Child != "", "brakes": s.Brakes, "codes": s.Coded, "with " + string(s.Child): s.Child != "",
		"a second job with other keys": s.Twice == 1, "a second job in another space": s.Twice == 2,
	} {
		if set {
			out += ", " + text
		}
	}
	return out
}
