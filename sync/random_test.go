package sync_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Whatever the ERP, the platform, the clock and people do, in any order: it adds up, no contract is
// on the platform twice, and when all is well again nothing that may go has stayed behind. A
// contract is known by its amount, which nobody changes.
func TestAnyHistoryAddsUpAndSendsNothingTwice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := &history{
				bench:  newBenchOn(t, databases[seed%6/5], sandbox.Options{}),
				random: rand.New(rand.NewPCG(seed, 7)),
			}
			h.run(60)
		})
	}
}

type history struct {
	*bench
	random *rand.Rand
	next   int
	log    []string
	late   []lateAnswer
}

// lateAnswer is what a process that was taken for dead still knows of its request; id is of the
// record that it made, "" when no byte left.
type lateAnswer struct {
	attempt trade.Attempt
	id      string
}

func (h *history) run(steps int) {
	h.exec(`CREATE TABLE copia AS SELECT * FROM contrato WHERE false`)
	h.spec.Query = `SELECT * FROM contrato UNION ALL SELECT * FROM copia`
	h.limits.StopAfterUnknown = 0
	for range steps {
		h.step()
		if h.t.Failed() {
			h.t.Fatalf("after %v", h.log)
		}
	}
	h.exec(`DELETE FROM copia`)
	h.exec(`UPDATE contrato SET pagamento = '2026-08-01', carteira = '1', situacao = 'aprovado' WHERE obs <> 'fixed'`)
	h.api.SetFaults()
	h.api.Know(sandbox.Wallets, walletID)
	for range 3 {
		h.clock.advance(25 * time.Hour)
		h.pass(engine.Options{Sweep: true})
	}
	r := h.pass(engine.Options{Sweep: true})
	if r.Sent != 0 || r.Stopped != nil ||
		r.States[trade.Pending]+r.States[trade.Waiting]+r.States[trade.Invalid]+r.States[trade.Sending] != 0 {
		h.t.Errorf("in the end: sent %d, states %v, stopped %+v\nafter %v", r.Sent, r.States, r.Stopped, h.log)
	}
	for _, e := range h.entries(trade.RowFilter{States: []trade.State{trade.Held, trade.Rejected}}) {
		if e.GoneSweeps == 0 && e.Cause != trade.CauseRetyped && !e.Weak() && e.Cause != trade.CauseExists {
			h.t.Errorf("%s stayed %s (%s): %+v\nafter %v", e.Key, e.State, e.Cause, e.Error, h.log)
		}
	}
}

func (h *history) step() {
	h.next++
	row := func() string { return fmt.Sprintf("%04d", 1+h.random.IntN(h.next)) }
	at := fmt.Sprintf("2026-03-%02d %02d:00:00", 10+h.next/24%18, h.next%24)
	change := func(set string, num string) {
		h.exec(`UPDATE contrato SET `+set+`, atualizado = ? WHERE num = ? AND obs <> 'fixed'`, at, num)
		h.log = append(h.log, set+" "+num)
	}
	switch h.random.IntN(24) {
	case 0, 1, 2, 3:
		h.contract(h.next)
		// a contract that is renumbered is found again by its content, which must stay
		kind := []string{"", "fixed"}[h.random.IntN(2)]
		h.exec(`UPDATE contrato SET obs = ?, atualizado = ? WHERE num = ?`, kind, at, fmt.Sprintf("%04d", h.next))
		h.log = append(h.log, fmt.Sprint("new ", h.next))
	case 4:
		change(fmt.Sprintf("preco = %d", 50+h.random.IntN(5)), row())
	case 5:
		change(fmt.Sprintf("carteira = '%d'", h.random.IntN(2)), row())
	case 6:
		change("pagamento = NULL", row())
	case 7:
		change("pagamento = '2026-08-01', situacao = 'aprovado'", row())
	case 8:
		change("situacao = 'cancelado'", row())
	case 9:
		num := row()
		h.exec(`DELETE FROM contrato WHERE num = ?`, num)
		h.log = append(h.log, "gone "+num)
	case 10:
		num := row()
		h.exec(`DELETE FROM copia WHERE num = ?`, num)
		h.exec(`UPDATE contrato SET num = ?, atualizado = ? WHERE num = ? AND obs = 'fixed'`,
			fmt.Sprintf("%04d", 1000+h.next), at, num)
		h.log = append(h.log, "renumbered "+num)
	case 11:
		num := row()
		if h.random.IntN(3) == 0 {
			h.exec(`DELETE FROM copia`)
			num = "none"
		}
		h.exec(`INSERT INTO copia SELECT * FROM contrato WHERE num = ?`, num)
		h.log = append(h.log, "double "+num)
	case 12:
		list := []string{
			"lost-after@1", "lost-before,reset@1", "status=500,commit@2", "refused@1", "status=401@1",
			"status=403@2", "noid@1", "garbage@1", "throttle=1s@1", "status=503@2",
		}
		spec := list[h.random.IntN(len(list))]
		parsed, err := sandbox.ParseFaults([]string{spec})
		if err != nil {
			h.t.Fatal(err)
		}
		h.api.SetFaults(parsed...)
		h.log = append(h.log, spec)
	case 13:
		if h.random.IntN(2) == 0 {
			h.api.Forget(sandbox.Wallets, walletID)
		} else {
			h.api.Know(sandbox.Wallets, walletID)
		}
		h.log = append(h.log, "wallet")
	case 16, 17, 18, 19:
		h.person()
	case 20, 21:
		h.crash()
	case 22, 23:
		h.answer()
	case 14:
		h.clock.advance(time.Duration(h.random.IntN(300)) * time.Minute)
	default:
		h.pass(engine.Options{Sweep: h.random.IntN(2) == 0, DryRun: h.random.IntN(8) == 0})
	}
}

// crash lets a process be lost with a request in flight: the platform executed it, or no byte
// left.
func (h *history) crash() {
	var attempt trade.Attempt
	h.wrap = func(l Ledger) Ledger { return &dyingLedger{l, &attempt} }
	if _, err := h.engine().Sync(h.t.Context(), nil, engine.Options{}); err != nil {
		h.t.Fatal(err)
	}
	h.wrap = nil
	if attempt.ID == "" {
		return
	}
	lost := lateAnswer{attempt: attempt}
	if h.random.IntN(2) == 0 {
		h.api.SetFaults()
		h.api.Know(sandbox.Wallets, walletID)
		answer, err := h.submit(attempt.Payload)
		if err != nil {
			h.t.Fatal(err)
		}
		lost.id = answer.ID
	}
	h.late = append(h.late, lost)
	h.log = append(h.log, fmt.Sprintf("lost %d (%s)", attempt.EntryID, lost.id))
}

// answer lets what a lost process knows be stored after all.
func (h *history) answer() {
	if len(h.late) == 0 {
		return
	}
	i := h.random.IntN(len(h.late))
	l := h.late[i]
	h.late = slices.Delete(h.late, i, i+1)
	st := trade.Settlement{Attempt: l.attempt, State: trade.Pending}
	st.Attempt.Outcome, st.Attempt.RemoteID, st.Attempt.FinishedAt = trade.OutcomeNotSent, l.id, h.clock.Now()
	if l.id != "" {
		st.Attempt.Outcome, st.State, st.Counts = trade.OutcomeCreated, trade.Accepted, true
	}
	result, err := h.ledger.Commit(h.t.Context(), trade.Lease{Job: "contracts"},
		trade.Group{At: h.clock.Now(), Settle: []trade.Settlement{st}})
	if err != nil || !result.Settled[l.attempt.ID] {
		h.t.Errorf("a late answer was not stored: %+v, %v\nafter %v", result, err, h.log)
	}
	for _, a := range result.Alarms {
		if a.Kind == trade.LateDouble || a.Kind == trade.LateContradiction {
			h.t.Errorf("somebody who looks first doubled a record: %+v\nafter %v", a, h.log)
		}
	}
	h.log = append(h.log, fmt.Sprintf("late answer of %d (%s): %v", l.attempt.EntryID, l.id, result.Alarms))
	h.generations()
}

// person lets somebody decide about any row: somebody who looks at the platform first, so that no
// decision doubles.
func (h *history) person() {
	people, ctx := h.acts(), h.t.Context()
	open := slices.DeleteFunc(h.entries(trade.RowFilter{}),
		func(e trade.Entry) bool { return e.State == trade.Accepted && h.random.IntN(20) > 0 })
	if len(open) == 0 {
		return
	}
	e := open[h.random.IntN(len(open))]
	key := e.Key
	var plan acts.RowPlan
	var err error
	id := ""
	for _, r := range h.api.Created() {
		if fmt.Sprint(r.Fields["amount"]) == e.Quantity.Amount.String() {
			id = r.ID
		}
	}
	switch h.random.IntN(6) {
	case 0:
		plan, err = people.Dismiss(ctx, "contracts", []string{key})
	case 1, 2:
		plan, err = people.Reopen(ctx, "contracts", []string{key})
	case 3:
		if e.Cause == trade.CauseRetyped { // it is never another one here
			return
		}
		plan, err = people.Retry(ctx, "contracts", []string{key})
	case 4:
		if id == "" {
			return
		}
		plan, err = people.Adopt(ctx, "contracts", key, acts.Adoption{ID: id, DespiteDifferences: true})
	default:
		if id != "" {
			return
		}
		plan, err = people.Resend(ctx, "contracts", key, true)
	}
	if err == nil {
		plan, err = people.Do(ctx, plan, maria)
	}
	if err != nil {
		h.t.Fatalf("%v\nafter %v", err, h.log)
	}
	s := plan.Steps[0]
	h.log = append(h.log, fmt.Sprintf("%s %s: %s", plan.Act, key, s.Refused))
	h.generations()
}

// generations checks I3 from inside: at most one attempt of each generation may have created a
// record, and each generation after the first names its act.
func (h *history) generations() {
	for _, e := range h.entries(trade.RowFilter{}) {
		attempts, err := h.ledger.Attempts(h.t.Context(), e.ID)
		if err != nil {
			h.t.Fatal(err)
		}
		may := map[int]int{}
		for _, a := range attempts {
			if a.Outcome == trade.OutcomeOpen || a.Outcome == trade.OutcomeUnknown ||
				a.Outcome == trade.OutcomeCreated {
				may[a.Generation]++
			}
		}
		for generation, n := range may {
			if n > 1 || generation > e.Generation {
				h.t.Errorf("%s: %d attempts of generation %d may have created a record\nafter %v", e.Key, n,
					generation, h.log)
			}
		}
		if e.Generation > 1 && e.ResentBy == 0 {
			h.t.Errorf("%s is of generation %d without an act", e.Key, e.Generation)
		}
	}
	if broken, err := h.ledger.VerifyAudit(h.t.Context()); broken != 0 || err != nil {
		h.t.Errorf("record %d of the audit is broken, %v", broken, err)
	}
}

func (h *history) pass(opts engine.Options) trade.RunReport {
	h.t.Helper()
	reports, err := h.engine().Sync(h.t.Context(), nil, opts)
	if err != nil {
		h.t.Fatal(err)
	}
	h.log = append(h.log, h.sound(reports, opts.DryRun))
	h.once()
	return reports[0]
}

// sound checks what holds after each pass of a history, and writes it down.
func (b *bench) sound(reports []trade.RunReport, dry bool) (line string) {
	b.t.Helper()
	for _, r := range reports {
		stop := ""
		if r.Stopped != nil {
			stop = r.Stopped.Code
		}
		line += fmt.Sprintf("[%s: sent %d, %v %s]", r.Job, r.Sent, r.States, stop)
		if slices.Contains([]string{"uneven", "ledger", "erp", "lease", "refs"}, stop) {
			b.t.Errorf("%s stopped: %+v", r.Job, r.Stopped)
		}
		if !dry {
			b.adds(r)
		}
	}
	return line
}
