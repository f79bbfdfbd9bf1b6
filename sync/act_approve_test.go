package sync_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// withOthers are acts of which some need two people.
func (b *bench) withOthers(above string) *acts.Acts {
	b.t.Helper()
	people := b.acts()
	people.Approvals, people.Rules = b.ledger, acts.Rules{People: map[string]int{"resend": 2, "dismiss": 3}}
	if above != "" {
		var err error
		people.Rules.Above, err = trade.ParseDecimal(above)
		if err != nil {
			b.t.Fatal(err)
		}
	}
	return people
}

// asks orders that the one contract goes again and wants it to wait for somebody else.
func (b *bench) asks(people *acts.Acts) int64 {
	b.t.Helper()
	plan, err := people.Resend(b.t.Context(), "contracts", key(1), true)
	if err == nil {
		plan, err = people.Do(b.t.Context(), plan, maria)
	}
	if err != nil || plan.Asked == nil || plan.Steps[0].Done {
		b.t.Fatalf("nobody was asked: %+v, %v", plan, err)
	}
	b.expect(1, trade.InDoubt, trade.CauseUnknown)
	return plan.Asked.ID
}

// I3: what may double a record is done by the second person, once, and only as the first was shown
// it.
func TestI3WhatNeedsTwoPeopleIsDoneByTheSecondOnceAndOnlyAsItWasShown(t *testing.T) {
	onEither(t, failing("lost-before,reset@1"), func(t *testing.T, b *bench) {
		b.contracts(1)
		b.sync(engine.Options{})
		b.clock.advance(16 * time.Minute)
		people := b.withOthers("")
		ivo := trade.Person{Name: "ivo", From: "test@host", Reason: "seen on the platform, too"}
		answers := func(id int64, who trade.Person, want acts.Refusal) acts.Decided {
			t.Helper()
			d, err := people.Approve(t.Context(), id, who)
			if err != nil || d.Refused != want {
				t.Fatalf("%s: refused %q, want %q; %v", who.Name, d.Refused, want, err)
			}
			return d
		}
		first := b.asks(people)
		if again := b.asks(people); again != first {
			t.Errorf("the same plan waits twice: %d and %d", first, again)
		}
		answers(first, maria, "same_person")
		answers(first, trade.Person{Name: "root", Account: "MARIA", Reason: "by another name"}, "same_person")
		b.exec(`UPDATE contrato SET preco = 99 WHERE num = '0001'`)
		answers(first, ivo, acts.Moved) // the platform would get another price than the one that was shown
		b.expect(1, trade.InDoubt, trade.CauseUnknown)
		if d, err := people.Decline(t.Context(), first, ivo); err != nil || d.Refused != "" {
			t.Fatal(d.Refused, err)
		}
		late := b.asks(people)
		b.clock.advance(73 * time.Hour)
		answers(late, ivo, "lapsed")
		for range 2 { // the second time there is nothing
			must.Do(t, b.ledger.LapseApprovals(t.Context(), people.Now()))
		}
		answers(late, ivo, acts.NotAsked)
		second := b.asks(people)
		if second == late {
			t.Error("what has lapsed waits again")
		}
		if d := answers(second, ivo, acts.NotRefused); !d.Done || d.Waits != 0 {
			t.Errorf("it was not done: %+v", d)
		}
		if e := b.expect(1, trade.Pending, ""); e.Generation != 2 {
			t.Errorf("generation %d", e.Generation)
		}
		answers(second, ivo, acts.NotAsked)
		for _, days := range []time.Duration{90, 94} { // it could be answered for three days
			must.Do(t, b.ledger.LapseApprovals(t.Context(), people.Now().Add(days*24*time.Hour)))
			if _, err := b.ledger.Approval(t.Context(), second); (err == nil) != (days == 90) {
				t.Errorf("after %d days: %v", days, err)
			}
		}
		audit := must.Get(b.ledger.Audit(t.Context(), 0))(t)
		var acted []string
		for _, r := range audit {
			acted = append(acted, r.Act+" "+r.Who)
		}
		const want = "resend maria + ivo,approval give ivo,approval ask maria,approval lapsed safrasync," +
			"approval ask maria,approval decline ivo,approval ask maria"
		if got := strings.Join(acted, ","); got != want {
			t.Errorf("the audit has %s\nwant %s", got, want)
		}
		for _, who := range []string{"maria", "ivo"} {
			page, err := b.ledger.AuditPage(t.Context(), trade.AuditQuery{Who: who, Act: "resend", Limit: 5})
			if err != nil || len(page.Records) != 1 {
				t.Errorf("the acts of %s: %+v, %v", who, page, err)
			}
		}
	})
}

func TestOnlyWhatIsWorthMoreNeedsSeveralPeople(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "lost-before,reset@1")})
	b.contracts(1)
	b.sync(engine.Options{})
	b.clock.advance(16 * time.Minute)
	currency, value, ok := b.entry(1).Value()
	if !ok || currency != "BRL" {
		t.Fatal("the contract has no value")
	}
	one, _ := trade.ParseDecimal("1")
	b.asks(b.withOthers(value.Sub(one).String()))
	people := b.withOthers(value.String())
	plan, err := people.Resend(t.Context(), "contracts", key(1), true)
	if err == nil {
		plan, err = people.Do(t.Context(), plan, maria)
	}
	if err != nil || plan.Asked != nil || !plan.Steps[0].Done {
		t.Errorf("what is worth no more was not done: %+v, %v", plan, err)
	}
}

func TestThreePeopleAreThree(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "lost-before,reset@1")})
	b.contracts(1)
	b.sync(engine.Options{})
	people := b.withOthers("")
	plan, err := people.Dismiss(t.Context(), "contracts", []string{key(1)})
	if err == nil {
		plan, err = people.Do(t.Context(), plan, maria)
	}
	if err != nil || plan.Asked == nil {
		t.Fatal(plan, err)
	}
	// a file of decisions leaves rows out of a plan: what waits is what it left
	part, err := people.Dismiss(t.Context(), "contracts", []string{key(77), key(1)})
	part.Steps = part.Steps[1:]
	if err == nil {
		part, err = people.Do(t.Context(), part, maria)
	}
	if err != nil || part.Asked == nil || part.Asked.ID != plan.Asked.ID {
		t.Fatal(part.Asked, err)
	}
	for i, name := range []string{"ivo", "ivo", "ana"} {
		d, err := people.Approve(t.Context(), plan.Asked.ID, trade.Person{Name: name, Reason: "seen by me"})
		wants := []acts.Refusal{"", "same_person", ""}[i]
		if err != nil || d.Refused != wants || d.Done != (i == 2) {
			t.Errorf("answer %d of %s: %+v, %v", i, name, d, err)
		}
	}
	b.expect(1, trade.Dismissed, trade.CauseUnknown)
}

// between is what happens between the last consent to an act and its doing.
type between struct {
	acts.Approvals
	happens func()
}

func (b *between) Agree(ctx context.Context, a trade.Approval, r trade.AuditRecord) (bool, error) {
	done, err := b.Approvals.Agree(ctx, a, r)
	happens := b.happens
	b.happens = func() {}
	happens()
	return done, err
}

// An act to which all agreed, and that is not done because its row has changed just then, is not shown as done.
func TestAnActThatAllAgreedToAndThatWasNotDoneSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "lost-before,reset@1")})
	b.contracts(1)
	b.sync(engine.Options{})
	b.clock.advance(16 * time.Minute)
	people := b.withOthers("")
	id := b.asks(people)
	people.Approvals = &between{people.Approvals, func() { b.dismiss(1) }}
	d, err := people.Approve(t.Context(), id, trade.Person{Name: "ivo", Reason: "seen by me"})
	if err != nil || d.Done || d.Refused != acts.Moved {
		t.Errorf("it was done: %+v, %v", d, err)
	}
	decided, err := b.ledger.Decided(t.Context(), 5)
	if err != nil || len(decided) != 1 || decided[0].Outcome != trade.ApprovalUndone || len(decided[0].People) != 2 {
		t.Errorf("what was decided: %+v, %v", decided, err)
	}
}

// More people may be needed by now than when an act was ordered: nobody counts twice.
func TestWhatNeedsMorePeopleByNowWaitsForThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "lost-before,reset@1")})
	b.contracts(1)
	b.sync(engine.Options{})
	b.clock.advance(16 * time.Minute)
	people := b.withOthers("")
	id := b.asks(people)
	people.Rules.People["resend"] = 3
	for i, name := range []string{"ivo", "maria", "ana"} {
		d, err := people.Approve(t.Context(), id, trade.Person{Name: name, Reason: "seen by me"})
		wants := []acts.Refusal{"", "same_person", ""}[i]
		if err != nil || d.Refused != wants || d.Done != (i == 2) || i == 0 && d.Waits != 1 {
			t.Errorf("answer %d of %s: %+v, %v", i, name, d, err)
		}
	}
	if e := b.expect(1, trade.Pending, ""); e.Generation != 2 {
		t.Errorf("generation %d", e.Generation)
	}
}
