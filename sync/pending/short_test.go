package pending_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

func wallet(code string) trade.Awaited   { return trade.Awaited{Ref: "wallets", Code: code} }
func producer(code string) trade.Awaited { return trade.Awaited{Ref: "producers", Code: code} }

// shortages writes down what a view says is missing, one line for each code.
func shortages(v *pending.View) (out []string) {
	for _, one := range v.Short {
		line := one.Kind + " " + one.Code
		for i, piles := range []map[trade.Pile]*trade.Load{one.Blocked, one.Invalid} {
			for _, pile := range []trade.Pile{
				{Kind: trade.OrderCommitments}, {Kind: trade.OrderCommitments, Fixing: true}, {Kind: trade.Deliveries},
			} {
				if l := piles[pile]; l != nil {
					line += fmt.Sprintf("; %s %d %s fixing=%v, %s kg, %d unweighed",
						[]string{"blocks", "invalid"}[i], l.Rows, pile.Kind, pile.Fixing, l.Kilograms, l.Unweighed)
				}
			}
		}
		if one.Elsewhere > 0 {
			line += fmt.Sprintf("; %d elsewhere", one.Elsewhere)
		}
		out = append(out, line)
	}
	return out
}

// What a code keeps from going is counted as its cause is: fixations apart from contracts, and of a kind
// as many rows as its cause has, but for those that stand under another cause.
func TestAMissingCodeCountsTheRowsOfItsCause(t *testing.T) {
	t.Parallel()
	s := must.Get(state.OpenMemory(t.Context()))(t)
	t.Cleanup(func() { _ = s.Close() })
	waits := func(key, cause, amount, price string, awaited ...trade.Awaited) trade.Entry {
		e := contract(key, trade.Waiting, cause, amount, "SOJA", price, awaited...)
		e.Payload, e.PayloadHash = nil, ""
		return e
	}
	unweighed := waits("d", "ref:wallets", "1", "50", wallet("9"))
	unweighed.Quantity = trade.Quantity{}
	typo := waits("t", "ref:wallets", "-5", "50", wallet("9"))
	wrong := waits("e", "rule:price", "1", "50", wallet("10"))
	wrong.State = trade.Invalid
	wrong.Error = &trade.EntryError{
		Kind: trade.ValidationError, Fields: []trade.Problem{{Field: "price", Rule: "required"}},
	}
	record(t, s, "contracts", contract("goes", trade.Pending, "", "1", "SOJA", "100"),
		waits("a", "ref:wallets", "100", "50", wallet("10")),
		waits("b", "ref:producers", "2", "50", wallet("10"), producer("7")),
		waits("c", "ref:wallets", "3", "", wallet("2"), wallet("2"), wallet("10")),
		unweighed, typo, wrong,
		waits("f", "message.wallet.not-found", "5", "50", trade.Awaited{Platform: "wallets", ID: "x"}),
	)
	both := delivery("5", "4", "a") // a code of its own stands before its contract, which lacks another one
	both.Cause, both.WaitingFor = "ref:producers", append(both.WaitingFor, producer("7"))
	record(t, s, "deliveries", delivery("1", "1", "a"), delivery("2", "2", "b"),
		delivery("3", "1", "e"), // its contract is invalid: the wallet alone does not help
		delivery("4", "1", "goes"), both)
	board := &pending.Index{Ledger: s, Jobs: jobsOf(t), Now: func() time.Time { return at }}
	take := func(want ...string) {
		t.Helper()
		view := must.Get(board.Update(t.Context()))(t)
		if diff := cmp.Diff(want, shortages(view)); diff != "" {
			t.Errorf("what is missing (-want +got):\n%s", diff)
		}
		of := map[string]int{}
		for _, g := range view.Groups {
			of[g.Key] = g.Rows()
		}
		for _, one := range view.Short {
			if own := one.Rows() - one.Elsewhere; one.Code == "" && of["ref:"+one.Kind] != own {
				t.Errorf("the cause of %s keeps %d rows, its codes %d", one.Kind, of["ref:"+one.Kind], own)
			}
		}
	}
	take(
		"producers 7; blocks 1 order_commitments fixing=false, 120 kg, 0 unweighed; blocks 2 deliveries fixing=false, 360 kg, 0 unweighed",
		"producers ; blocks 1 order_commitments fixing=false, 120 kg, 0 unweighed; blocks 2 deliveries fixing=false, 360 kg, 0 unweighed",
		"wallets 10; blocks 2 order_commitments fixing=false, 6120 kg, 0 unweighed; "+
			"blocks 1 order_commitments fixing=true, 180 kg, 0 unweighed; blocks 3 deliveries fixing=false, 420 kg, 0 unweighed; "+
			"invalid 1 order_commitments fixing=false, 60 kg, 0 unweighed; 3 elsewhere",
		"wallets 9; blocks 2 order_commitments fixing=false, 0 kg, 2 unweighed",
		"wallets 2; blocks 1 order_commitments fixing=true, 180 kg, 0 unweighed",
		"wallets ; blocks 4 order_commitments fixing=false, 6120 kg, 2 unweighed; "+
			"blocks 1 order_commitments fixing=true, 180 kg, 0 unweighed; blocks 3 deliveries fixing=false, 420 kg, 0 unweighed; "+
			"invalid 1 order_commitments fixing=false, 60 kg, 0 unweighed; 3 elsewhere",
	)
	// A code that has come keeps nothing any more, although its rows stand as waiting until the next run.
	must.Get(s.ReplaceReferences(t.Context(), "producers", map[string]string{"7": "x"}, nil))(t)
	view := must.Get(board.Update(t.Context()))(t)
	if got := shortages(view); len(got) != 4 || got[0][:10] != "wallets 10" {
		t.Errorf("after the code came: %q", got)
	}
}

// The key of a cause stands in addresses, whose ends are cut off, also where the ERP's text has a blank there.
func TestTheKeyOfACauseEndsWithoutABlank(t *testing.T) {
	t.Parallel()
	key, _ := pending.CauseOf(trade.Entry{State: trade.Invalid, Cause: "rule:invalid", Error: &trade.EntryError{
		Fields: []trade.Problem{{Field: "invalid", Rule: trade.RuleDeclared, Detail: "falta produto "}},
	}})
	if key != "rule:invalid falta produto" {
		t.Errorf("the key is %q", key)
	}
}
