package sync_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// front stands between the engine and the sandbox, as a proxy does, and answers some requests in
// its place.
type front struct {
	url string

	mu    gosync.Mutex
	posts map[string]int // by amount
	gets  int
	// answer gives the answer to a request, by the amount in it ("" for a GET); false lets the
	// platform answer. executed lets the platform execute it first, and hides what it says.
	answer func(amount string) (status int, body string, executed, ok bool)
}

// behind puts a front before the bench's platform.
func (b *bench) behind(answer func(amount string) (int, string, bool, bool)) *front {
	b.t.Helper()
	target := must.Get(url.Parse(b.parts.URL))(b.t)
	f := &front{posts: map[string]int{}, answer: answer}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		amount := ""
		if _, rest, ok := strings.Cut(string(body), `"amount":`); ok {
			amount, _, _ = strings.Cut(rest, ",")
		}
		f.mu.Lock()
		if r.Method == http.MethodGet {
			f.gets++
		} else {
			f.posts[amount]++
		}
		status, text, executed, ok := f.answer(amount)
		f.mu.Unlock()
		if !ok {
			proxy.ServeHTTP(w, r)
			return
		}
		if executed {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
		}
		if strings.HasPrefix(text, "<") {
			w.Header().Set("Content-Type", "text/html")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	b.t.Cleanup(server.Close)
	f.url, b.parts.URL = server.URL, server.URL
	return f
}

func (f *front) asked(amount string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.posts[amount]
}

func (f *front) questions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gets
}

// A refusal in any form of the API concerns its own row, which shows what came back. The others
// go, and the row is not sent again. (Package outcome has every status with each form.)
func TestARefusalInAFormOfTheAPIConcernsItsRowAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		body, said string
	}{
		{404, `{"detail":"Produtor bloqueado"}`, "Produtor bloqueado"},
		{404, `[{"code":17}]`, `[{"code":17}]`},
		{404, `{"messages":["message.odd"]}`, "message.odd"},
		{404, `{"timestamp":"2026-11-21T09:00:00Z","status":404,"error":"Not Found"}`, "Not Found"},
		{405, `Request method 'POST' not supported`, "Request method 'POST' not supported"},
		{415, ``, "415"},
		{501, `[]`, "[]"},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.body), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			f := b.behind(func(amount string) (int, string, bool, bool) {
				return c.status, c.body, false, amount == "5"
			})
			b.contracts(12)
			for range 3 {
				b.wants(b.sync(engine.Options{}), "stop none, accepted 11")
			}
			e := b.entry(5)
			if e.State != trade.Rejected || e.Weak() || e.Error == nil || !strings.Contains(e.Error.Text(), c.said) ||
				f.asked("5") != 1 {
				t.Errorf("the row is %s, weak %t, %+v; sent %d times", e.State, e.Weak(), e.Error, f.asked("5"))
			}
			attempts, err := b.ledger.Attempts(t.Context(), e.ID)
			if err != nil || len(attempts) != 1 || attempts[0].AnswerBody != c.body {
				t.Errorf("the attempt keeps %+v, %v; want %q", attempts, err, c.body)
			}
			// cured: it goes by itself
			b.exec(`UPDATE contrato SET preco = 99, atualizado = '2026-03-11 08:00:00' WHERE num = '0005'`)
			f.mu.Lock()
			f.answer = func(string) (int, string, bool, bool) { return 0, "", false, false }
			f.mu.Unlock()
			b.sync(engine.Options{Sweep: true})
			b.expect(5, trade.Accepted, "")
		})
	}
}

// What a 409 says is shown, in whatever form it comes, and only a person moves the row.
func TestWhatA409SaysIsShown(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"messages":["Ja existe o contrato 77"]}`, `{"detail":"Ja existe o contrato 77"}`,
		`["Ja existe o contrato 77"]`,
	} {
		b := newBench(t, sandbox.Options{})
		b.behind(func(amount string) (int, string, bool, bool) { return 409, body, false, amount == "2" })
		b.contracts(3)
		b.sync(engine.Options{})
		if e := b.expect(2, trade.Held, trade.CauseExists); !strings.Contains(e.Error.Text(),
			"Ja existe o contrato 77") {
			t.Errorf("%s: %+v", body, e.Error)
		}
	}
}

// A request that is refused for its form three times, with nothing accepted between, stops its job,
// and no other.
func TestThreeRefusalsOfTheRequestStopTheirJobAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 1
	b.behind(func(amount string) (int, string, bool, bool) {
		return 404, `{"detail":"x"}`, false, amount != "" && amount != "2" && amount != "100"
	})
	other := b.spec
	other.Name, other.Query = "others",
		`SELECT filial, num, quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE num = '0100'`
	b.spec.Query += ` AND num <> '0100'`
	b.more = []mapping.JobSpec{other}
	b.contracts(9)
	b.contract(100)
	reports := must.Get(b.engine().Sync(t.Context(), nil, engine.Options{}))(t)
	r := reports[0]
	if r.Stopped == nil || r.Stopped.Code != "refusals" || r.Stopped.All || r.States[trade.Rejected] != 4 ||
		r.States[trade.Accepted] != 1 || r.States[trade.Pending] != 4 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
	if r.Stopped != nil && (!strings.Contains(r.Stopped.Text(), "404") ||
		!strings.Contains(r.Stopped.Text(), "why contracts")) {
		t.Errorf("the stop says %q", r.Stopped.Text())
	}
	if r := reports[1]; r.Stopped != nil || r.States[trade.Accepted] != 1 {
		t.Errorf("the other job: states %v, stopped %+v", r.States, r.Stopped)
	}
}

// I2: a filter that lets a request through and answers in its place proves nothing: the row is in
// doubt and is never sent again by itself. The harmless question is asked again, and while it is
// answered well the others go. Package outcome has every status.
func TestAnAnswerInNoFormOfTheAPIProvesNothing(t *testing.T) {
	t.Parallel()
	const page = "<html><body>Blocked</body></html>"
	for _, c := range []struct {
		status int
		body   string
	}{
		{401, page},
		{403, ""},
		{404, "no"},
		{501, page},
	} {
		t.Run(fmt.Sprintf("%d %.5s", c.status, c.body), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{})
			f := b.behind(func(amount string) (int, string, bool, bool) {
				return c.status, c.body, true, amount == "2" || amount == "6"
			})
			b.limits.MaxInFlight = 1
			b.contracts(8)
			for range 4 {
				b.wants(b.sync(engine.Options{Sweep: true}), "stop none, accepted 6, in_doubt 2")
				b.clock.advance(26 * time.Hour)
			}
			b.expect(2, trade.InDoubt, "unknown")
			b.expect(6, trade.InDoubt, "unknown")
			if f.asked("2") != 1 || f.asked("6") != 1 || f.questions() != 3 || len(b.api.Created()) != 8 {
				t.Errorf("sent %d and %d times, %d harmless questions, %d records", f.asked("2"), f.asked("6"),
					f.questions(), len(b.api.Created()))
			}
		})
	}
}

// Where the harmless question is answered in no form of the API either, the address is wrong or a
// proxy stands in the way: all jobs stop, with one row in doubt for each request in flight.
func TestWhenTheHarmlessQuestionFailsTooAllJobsStop(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.limits.MaxInFlight = 1
	blocked := false
	b.behind(func(amount string) (int, string, bool, bool) {
		blocked = blocked || amount == "3"
		return 404, "<html>", true, blocked
	})
	b.contracts(8)
	r := b.sync(engine.Options{})
	if r.Stopped == nil || r.Stopped.Code != "api_address" || !r.Stopped.All || r.States[trade.Accepted] != 2 ||
		r.States[trade.InDoubt] != 1 || r.States[trade.Pending] != 5 {
		t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
	}
}

// The document's own 401 without a body is taken as it says, or with `doubt: strict` as nothing.
func TestTheEmpty401OfTheDocumentIsTakenAsConfigured(t *testing.T) {
	t.Parallel()
	for strict, want := range map[bool]trade.State{false: trade.Pending, true: trade.InDoubt} {
		b := newBench(t, sandbox.Options{})
		b.limits.MaxInFlight, b.limits.Strict = 1, strict
		b.behind(func(amount string) (int, string, bool, bool) { return 401, "", false, amount == "2" })
		b.contracts(3)
		r := b.sync(engine.Options{})
		if e := b.entry(2); e.State != want || (r.Stopped == nil) != strict {
			t.Errorf("strict %t: the row is %s, stopped %+v", strict, e.State, r.Stopped)
		}
	}
}

// Deliveries that the platform counts from 1 in each contract are accepted, all of them, also
// when the ledger is rebuilt from its journal; the second of one contract with the same id is in
// doubt.
func TestDeliveriesThatAreCountedInTheirContract(t *testing.T) {
	either(t, func(t *testing.T, db database) {
		var mu gosync.Mutex
		made := map[string]int{}
		b := withChildren(newBenchOn(t, db, sandbox.Options{
			Intercept: func(r *http.Request, _ int) *sandbox.Disturbance {
				if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/deliveries") {
					return nil
				}
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				_, contract, _ := strings.Cut(string(body), `"contract_id":"`)
				mu.Lock()
				defer mu.Unlock()
				made[contract[:36]]++
				fault, err := sandbox.ParseFault(fmt.Sprintf(`status=201,commit,body={"id":%d}`,
					min(made[contract[:36]], 3)))
				if err != nil {
					panic(err)
				}
				return &fault
			},
		}))
		b.contracts(4)
		for c := 1; c <= 4; c++ {
			for n := range 3 {
				b.delivery(10*c+n, c, 100*c+n)
			}
		}
		r := b.pass()["deliveries"]
		if r.Stopped != nil || r.States[trade.Accepted] != 12 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
		b.delivery(99, 1, 999) // its id is that of another delivery of the contract
		r = b.pass()["deliveries"]
		if r.States[trade.InDoubt] != 1 || r.States[trade.Accepted] != 12 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
		b.row("deliveries", "01|0099", trade.InDoubt, "unknown")
	})
}

// An answer that proves nothing about the row leaves it in doubt, and three in a row stop the job. A pass
// by hand goes on with the rest.
func TestThreeAnswersThatProveNothingStopTheJob(t *testing.T) {
	for _, fault := range []string{"status=410", "status=412", "status=423", "status=500,commit"} {
		t.Run(fault, func(t *testing.T) {
			b := newBench(t, sandbox.Options{Faults: faults(t, fault+"@2-")})
			b.limits.MaxInFlight = 1
			b.contracts(6)
			b.wants(b.sync(engine.Options{}), "stop in_doubt, sent 4, accepted 1, in_doubt 3, pending 2")
			b.api.SetFaults()
			b.wants(b.sync(engine.Options{}), "accepted 3, in_doubt 3")
		})
	}
}

// Twenty refusals for the same reason are no longer a matter of single rows.
func TestManyEqualRefusalsInARowStopTheJob(t *testing.T) {
	onEither(t, failing("status=422@1-"), func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(25)
		b.wants(b.sync(engine.Options{}), "stop refusals, rejected 20, pending 5")
		b.api.SetFaults()
		b.wants(b.sync(engine.Options{}), "stop none, accepted 5")
	})
}

// Refusals that are not in a row are those of single rows.
func TestRefusalsBetweenAcceptedRowsStopNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Faults: faults(t, "status=422@1-19", "status=422@21-39")})
	b.limits.MaxInFlight = 1
	b.contracts(41)
	b.wants(b.sync(engine.Options{}), "stop none, rejected 38, accepted 3")
}

// Doubts that never come three in a row are bounded all the same: each of them costs a person's
// time.
func TestTwentyDoubtsInARunStopTheJob(t *testing.T) {
	t.Parallel()
	var specs []string
	for n := 1; n <= 41; n += 2 {
		specs = append(specs, fmt.Sprintf("lost-after@%d", n))
	}
	for name, want := range map[string]struct {
		limit, doubts int
		code          string
	}{"as configured": {3, 20, "in_doubt"}, "never": {0, 21, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sandbox.Options{Faults: faults(t, specs...)})
			b.limits.MaxInFlight, b.limits.StopAfterUnknown = 1, want.limit
			b.contracts(42)
			r := b.sync(engine.Options{})
			code := ""
			if r.Stopped != nil {
				code = r.Stopped.Code
			}
			if code != want.code || r.States[trade.InDoubt] != want.doubts {
				t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
			}
		})
	}
}

func TestARecordOfAKindWithoutANameIsAskedForFor45DaysFromTheRefusal(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.exec(`UPDATE contrato SET pagamento = NULL`)
	b.sync(engine.Options{})
	b.clock.advance(60 * 24 * time.Hour)
	b.exec(`UPDATE contrato SET pagamento = '2026-08-01'`)
	b.api.SetFaults(faults(t, `status=404,type=application/json@1-,body={"messages":["message.season.not-found"]}`)...)
	b.sync(engine.Options{Sweep: true})
	if e := b.expect(1, trade.Rejected, "message.season.not-found"); e.NextAttemptAt.IsZero() {
		t.Error("it is never asked for again")
	}
	asked := 1
	for range 60 {
		b.clock.advance(25 * time.Hour)
		asked += b.sync(engine.Options{}).Sent
	}
	if asked < 45 || asked > 50 || !b.entry(1).NextAttemptAt.IsZero() {
		t.Errorf("it was asked for %d times, next at %s", asked, b.entry(1).NextAttemptAt)
	}
}

// An answer is stored whatever its text is: without that the row would be in doubt.
func TestARefusalOfManyWordsIsARefusal(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.api.SetFaults(faults(t, `status=400,type=application/json@1,body={"messages":["`+strings.ToUpper(noise(8000))+
			` do Produtor"]}`)...)
		b.limits.MaxInFlight = 1
		b.contracts(2)
		b.wants(b.sync(engine.Options{}), "stop none, accepted 1")
		if e := b.expect(1, trade.Rejected, ""); e.Error == nil || len(e.Error.Messages) != 1 ||
			strings.Contains(e.Error.Text(), "Produtor") {
			t.Errorf("error %.300v", e.Error)
		}
	})
}

// A row that is held and edited since counts with what it has now, and goes so.
func TestAHeldRowThatIsEditedCountsWithItsNewQuantity(t *testing.T) {
	onEither(t, plain, func(t *testing.T, b *bench) {
		b.api.SetFaults(faults(t, "status=409@1")...)
		b.contracts(2)
		b.sync(engine.Options{})
		b.expect(1, trade.Held, trade.CauseExists)
		b.exec(`UPDATE contrato SET quantidade = 7, atualizado = '2026-03-01 00:00:00' WHERE num = '0001'`) // only a sweep sees it
		b.sync(engine.Options{Sweep: true})
		if e := b.expect(1, trade.Held, trade.CauseExists); e.Quantity.Amount.String() != "7" {
			t.Errorf("%s counts, want 7", e.Quantity.Amount)
		}
		b.done(b.retry(1), acts.NotRefused) // a person knows that it is another one
		b.wants(b.sync(engine.Options{}), "sweep false, sent 1")
		if e := b.expect(1, trade.Accepted, ""); e.Flags.Has(trade.Changed) {
			t.Errorf("flags %v of what was just sent", e.Flags)
		}
		b.onPlatform("2", "7")
	})
}
