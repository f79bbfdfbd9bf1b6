package sync_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// F044, F045: Whatever happens to contracts, deliveries, references, the platform and the process,
// in any order: each job adds up, no delivery is on the platform twice or without its contract, and
// no child stays behind whose parent is there. A delivery is known by its volume, which nobody
// changes.
func TestAnyHistoryOfChildrenAddsUpAndLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f := &family{random: rand.New(rand.NewPCG(seed, 11))}
			f.bench = withChildren(newBenchOn(t, databases[seed/5], sandbox.Options{OnPost: f.onPost}))
			f.limits.StopAfterUnknown, f.limits.MaxInFlight = 0, 2
			f.brakes = run.Brakes{}
			for range 70 {
				f.step()
				if t.Failed() {
					t.Fatalf("after %v", f.log)
				}
			}
			f.heal()
		})
	}
}

var children = []string{"deliveries", "traceability"}

type family struct {
	*bench
	random              *rand.Rand
	contracts, children int
	log                 []string
	cancel              atomic.Pointer[context.CancelFunc] // ends the pass at its next POST; nil = never
}

func (f *family) onPost(int) {
	if cancel := f.cancel.Load(); cancel != nil {
		(*cancel)()
	}
}

func (f *family) contractKey() string {
	return fmt.Sprintf("%04d", 1+f.random.IntN(f.contracts+2)) // some do not exist yet
}

func (f *family) do(query string, args ...any) {
	f.exec(query, args...)
	f.log = append(f.log, fmt.Sprint(query, args))
}

func (f *family) step() {
	child := fmt.Sprintf("%04d", 1+f.random.IntN(f.children+1))
	switch f.random.IntN(20) {
	case 0, 1, 2:
		f.contracts++
		f.contract(f.contracts)
		f.log = append(f.log, fmt.Sprint("contract ", f.contracts))
	case 3, 4, 5, 6:
		f.children++
		farm := []any{nil, "F1"}[f.random.IntN(2)]
		f.do(`INSERT INTO entrega VALUES ('01', ?, ?, ?, 'KG', '2026-05-10', NULL)`, fmt.Sprintf("%04d", f.children),
			f.contractKey(), f.children)
		f.do(`INSERT INTO rateio VALUES (?, '01', ?, ?, ?, 'TON')`, fmt.Sprint(f.children), f.contractKey(), farm,
			f.children)
	case 7:
		f.do(`UPDATE contrato SET pagamento = NULL WHERE num = ?`, f.contractKey())
	case 8:
		f.do(`UPDATE contrato SET pagamento = '2026-08-01', situacao = 'aprovado' WHERE num = ?`, f.contractKey())
	case 9:
		f.do(`UPDATE contrato SET situacao = 'cancelado' WHERE num = ?`, f.contractKey())
	case 10:
		f.do(`UPDATE entrega SET num = ? WHERE ticket = ?`, f.contractKey(), child)
	case 11:
		f.do(`UPDATE entrega SET um = CASE um WHEN 'KG' THEN 'XX' ELSE 'KG' END WHERE ticket = ?`, child)
	case 12:
		f.do(`DELETE FROM entrega WHERE ticket = ?`, child)
	case 13:
		f.imports("farms", map[string]string{"F1": "0b3d9f0e-6f0a-4f0e-9a51-6cf7a0c0f0f1"})
		f.log = append(f.log, "farm")
	case 14:
		list := []string{
			"lost-after@1", "deliveries:lost-after@1", "deliveries:status=500,commit@2", "refused@1",
			"deliveries:status=403@1", "status=401@2", "deliveries:throttle=1s@1", "traceability:noid@1",
		}
		f.api.SetFaults()
		if spec := list[f.random.IntN(len(list))]; f.random.IntN(3) > 0 {
			f.api.SetFaults(faults(f.t.(*testing.T), spec)...)
			f.log = append(f.log, spec)
		}
	case 15:
		f.clock.advance(time.Duration(f.random.IntN(300)) * time.Minute)
	case 16:
		f.atOnce()
	default:
		jobs := [][]string{nil, nil, {"contracts"}, {"deliveries"}, {"traceability", "contracts"}}[f.random.IntN(5)]
		f.sync3(jobs, f.random.IntN(4) == 0, f.random.IntN(8) == 0)
	}
}

// atOnce runs the parents in one process and their children in another, then looks whether a child
// that the parents passed by is found.
func (f *family) atOnce() {
	f.t.Helper()
	done := make(chan error)
	first, second := f.engine(), f.engine()
	go func() {
		_, err := first.Sync(f.t.Context(), []string{"contracts"}, engine.Options{})
		done <- err
	}()
	_, err := second.Sync(f.t.Context(), children, engine.Options{})
	if err = errors.Join(err, <-done); err != nil {
		f.t.Fatal(err)
	}
	f.log = append(f.log, "[at once]")
	f.sync3(children, false, false)
}

// sync3 makes one pass and checks what must hold after it.
func (f *family) sync3(jobs []string, interrupted, dry bool) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	if f.cancel.Store(nil); interrupted {
		f.cancel.Store(&cancel)
	}
	reports, err := f.engine().Sync(ctx, jobs, engine.Options{DryRun: dry, Sweep: f.random.IntN(2) == 0})
	if err != nil && !errors.Is(err, context.Canceled) {
		f.t.Fatal(err)
	}
	stopped := slices.ContainsFunc(reports, func(r trade.RunReport) bool { return r.Stopped != nil })
	f.log = append(f.log, f.sound(reports, dry))
	f.platform()
	if !dry && !stopped && (len(jobs) == 0 || slices.Equal(jobs, children)) {
		f.orphans()
	}
}

// platform checks from outside that no record is there twice, and none without its contract.
func (f *family) platform() {
	f.t.Helper()
	ids, seen := map[any]bool{}, map[string]bool{}
	for _, r := range f.createdOf(sandbox.ResourceOrderCommitments) {
		ids[r.ID] = true
	}
	for resource, field := range map[string]string{
		sandbox.ResourceDeliveries:   "delivered_volume",
		sandbox.ResourceTraceability: "allocated_volume", sandbox.ResourceOrderCommitments: "amount",
	} {
		for _, r := range f.createdOf(resource) {
			name := fmt.Sprint(resource, " ", r.Fields[field])
			if seen[name] {
				f.t.Errorf("%s is on the platform twice", name)
			}
			seen[name] = true
			if parent, ok := r.Fields["contract_id"]; ok && !ids[parent] {
				f.t.Errorf("%s hangs on %v, which is no contract", name, parent)
			}
		}
	}
}

// orphans looks for children that wait although their parent is there.
func (f *family) orphans() {
	f.t.Helper()
	for _, e := range f.entries(trade.RowFilter{States: []trade.State{trade.Waiting, trade.Pending, trade.Sending}}) {
		if e.State != trade.Waiting && e.NextAttemptAt.IsZero() && e.Job != "contracts" {
			f.t.Errorf("%s %s stayed %s", e.Job, e.Key, e.State)
		}
		for _, w := range e.WaitingFor {
			if w.ParentState == trade.Accepted && e.Cause == trade.CauseParent {
				f.t.Errorf("%s %s waits for %+v", e.Job, e.Key, w)
			}
		}
	}
}

// heal makes all well again: then nothing that may go stays behind.
func (f *family) heal() {
	f.t.Helper()
	f.api.SetFaults()
	f.do(`UPDATE contrato SET pagamento = '2026-08-01', situacao = 'aprovado'`)
	f.do(`UPDATE entrega SET um = 'KG'`)
	f.imports("farms", map[string]string{"F1": "0b3d9f0e-6f0a-4f0e-9a51-6cf7a0c0f0f1"})
	for range 2 {
		f.clock.advance(25 * time.Hour)
		f.sync3(nil, false, false)
	}
	for _, e := range f.entries(trade.RowFilter{States: []trade.State{
		trade.Waiting, trade.Pending, trade.Invalid, trade.Rejected, trade.Sending,
	}}) {
		if e.GoneSweeps > 0 || len(e.WaitingFor) == 1 &&
			(e.WaitingFor[0].ParentState == "" || e.WaitingFor[0].ParentState == trade.InDoubt) {
			continue
		}
		f.t.Errorf("%s %s stayed %s (%s), waits for %+v\nafter %v", e.Job, e.Key, e.State, e.Cause, e.WaitingFor, f.log)
	}
}
