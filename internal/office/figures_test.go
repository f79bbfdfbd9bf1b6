package office

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config/configtest"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// figured is a ledger with seasons, products, branches, fixations and deliveries in every state.
type figured struct {
	t      *testing.T
	store  *ledgertest.Ledger
	jobs   []*mapping.Job
	office *Office
	sent   int
	begun  time.Time // of the runs that sent
}

type erpRow map[string]string

func (r erpRow) with(more erpRow) erpRow {
	out := maps.Clone(r)
	maps.Copy(out, more)
	return out
}

func (r erpRow) values() trade.Values {
	out := trade.Values{}
	for column, text := range r {
		out[column] = trade.Cell{Kind: 't', Text: text}
	}
	return out
}

var soyContract = erpRow{
	"amount": "100", "unit_of_measurement": "SC", "product": "SOJA", "haverst": "2026/27", "order_type": "COMPRA",
	"order_date": "2026-10-05", "currency": "BRL", "price": "130.50", "producer_id": "p", "delivery_place_id": "d",
	"wallet_id": "w", "issuer_id": "i",
}

// figuredWorld has contracts, and deliveries of those of some jobs beside.
func figuredWorld(t *testing.T, driver string, first ...string) *figured {
	t.Helper()
	w := &figured{t: t, store: ledgertest.Open(t, driver), begun: Now()}
	for _, kind := range []trade.Kind{trade.OrderCommitments, trade.Deliveries} {
		spec := mapping.JobSpec{
			Name:  map[trade.Kind]string{trade.OrderCommitments: "contracts", trade.Deliveries: "deliveries"}[kind],
			Sends: kind, Query: "SELECT 1", Key: []string{"filial", "num"}, Schedule: "@every 1h", Sweep: "@every 24h",
			Fields: map[string]mapping.FieldSpec{},
		}
		for _, rule := range trade.Rules(kind) {
			spec.Fields[rule.Field] = mapping.FieldSpec{Columns: []string{rule.Field}}
		}
		if kind == trade.Deliveries {
			parents := trade.Map(append(first, "contracts"), func(job string) mapping.ParentSpec {
				return mapping.ParentSpec{Job: job, Columns: []string{"filial", "contract"}}
			})
			spec.Fields["contract_id"] = mapping.FieldSpec{Columns: []string{"contract"}, SentBy: parents}
		}
		w.jobs = append(w.jobs, must.Get(mapping.Compile(spec, time.UTC))(t))
	}
	conf := configtest.Load(t, t.TempDir()+"/config.yaml", configtest.Sample(t), "x")
	w.office = New(Deps{
		Config: conf, Store: w.store.Store, Jobs: w.jobs, Board: NewRunProgress(), Log: zap.NewNop(), Now: Now,
		ReportPatience: time.Minute,
	})
	t.Cleanup(w.office.Close)
	w.fill()
	return w
}

// add records a row of a job.
func (w *figured) add(job, key string, r erpRow, state trade.State, cause string,
	more ...func(*trade.Entry),
) trade.Entry {
	w.t.Helper()
	spec := w.jobs[0]
	if job == "deliveries" {
		spec = w.jobs[1]
	}
	draft := spec.Mapping.Draft(mapping.ColumnsIn(r.values()), nil, nil)
	body := map[string]any{}
	for _, rule := range trade.Rules(spec.Spec.Sends) {
		if text := r[rule.Field]; text != "" && rule.Type == trade.Number {
			body[rule.Field] = json.Number(text)
		} else if text != "" {
			body[rule.Field] = text
		}
	}
	e := trade.Entry{
		Sends: spec.Spec.Sends, Key: key, KeyParts: []trade.Cell{{Kind: 't', Text: key}}, State: state, Cause: cause,
		Generation: 1, FirstSeenAt: Now().AddDate(0, 0, -len(key)%40), UpdatedAt: Now(), Values: r.values(),
		SourceHash: trade.HashOf("s" + key), MappedWith: "m", Payload: must.Get(json.Marshal(body))(w.t),
		PayloadHash: trade.HashOf("p" + key), Quantity: draft.Quantity(),
	}
	e.Facts.AddDraft(draft)
	if contracts := spec.ParentOf(e.Values); len(contracts) > 0 {
		e.Facts.Contract = contracts[0]
	}
	for _, change := range more {
		change(&e)
	}
	w.store.RecordPage(job, trade.Page{New: []trade.Entry{e}})
	return w.store.Read(job, key)
}

// send records a row, and that it was sent with an outcome.
func (w *figured) send(job, key string, r erpRow, outcome trade.Outcome) trade.Entry {
	w.t.Helper()
	e := w.add(job, key, r, trade.Pending, "")
	w.sent++
	a := trade.Attempt{
		ID: must.Get(uuid.NewV7())(w.t).String(), RunID: job, EntryID: e.ID, Payload: e.Payload,
		PayloadHash: e.PayloadHash, StartedAt: Now(),
	}
	w.store.CommitGroup(job, trade.Group{At: Now(), Intents: []trade.Intent{{Entry: e, Attempt: a}}})
	a.Outcome, a.FinishedAt = outcome, Now()
	s := trade.Settlement{Attempt: a, State: trade.Accepted, Counts: true}
	switch outcome {
	case trade.OutcomeCreated:
		s.Attempt.RemoteID, s.Attempt.Status = fmt.Sprintf("1b98fbe4-6680-4a11-9ba1-%012d", w.sent), 201
	case trade.OutcomeUnknown:
		s.State, s.Cause, s.Kind = trade.InDoubt, trade.CauseUnknown, trade.TransportError
		s.Attempt.Reason = trade.SenderGone()
	case trade.OutcomeNotCreated:
		s.State, s.Cause, s.Attempt.Status, s.Attempt.Messages = trade.Rejected, "message.wallet.not-found", 404,
			[]string{"message.wallet.not-found"}
		s.Kind, s.Attempt.Reason = trade.APIError, trade.Say("attempt.malformed")
	}
	w.store.CommitGroup(job, trade.Group{At: Now(), Settle: []trade.Settlement{s}})
	return w.store.Read(job, key)
}

func (w *figured) change(e trade.Entry, change func(*trade.Entry)) {
	w.t.Helper()
	after := e
	change(&after)
	after.UpdatedAt = Now()
	w.store.RecordPage(e.Job, trade.Page{Updates: []trade.Update{{From: e.State, Entry: after}}})
}

// now makes an entry differ from what was sent.
func (w *figured) now(e trade.Entry, r erpRow) {
	w.t.Helper()
	draft := w.jobs[0].Mapping.Draft(mapping.ColumnsIn(r.values()), nil, nil)
	w.change(e, func(e *trade.Entry) {
		e.Flags, e.Now, e.Quantity = e.Flags.With(trade.Changed, true), r.values(), draft.Quantity()
		e.Facts.AddDraft(draft)
	})
}

func (w *figured) fill() {
	waits := func(awaited ...trade.Awaited) func(*trade.Entry) {
		return func(e *trade.Entry) { e.WaitingFor, e.Payload, e.PayloadHash = awaited, nil, "" }
	}
	invalid := func(field, rule string) func(*trade.Entry) {
		return func(e *trade.Entry) {
			e.Payload, e.PayloadHash = nil, ""
			e.Error = &trade.EntryError{Kind: trade.ValidationError, Fields: []trade.Problem{{
				Field: field,
				Rule:  rule,
			}}}
		}
	}
	n := 0
	for _, season := range []string{"2025/26", "2026/27"} {
		for _, product := range []string{"SOJA", "MILHO"} {
			for _, branch := range []string{"01", "02"} {
				for _, kind := range []string{"COMPRA", "A_FIXAR", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO"} {
					n++
					row := soyContract.with(erpRow{
						"haverst": season, "product": product, "order_type": kind, "amount": fmt.Sprint(100 + n),
					})
					if kind == "A_FIXAR" {
						row["price"], row["currency"] = "", ""
					}
					key := func(what string) string { return fmt.Sprintf("%s|%s%d", branch, what, n) }
					w.send("contracts", key("sent"), row, trade.OutcomeCreated)
					w.send("contracts", key("refused"), row, trade.OutcomeNotCreated)
					w.send("contracts", key("doubt"), row, trade.OutcomeUnknown)
					w.add("contracts", key("due"), row, trade.Pending, "")
					w.add("contracts", key("code"), row, trade.Waiting, "ref:wallets",
						waits(trade.Awaited{Ref: "wallets", Code: "12"}))
					w.add("contracts", key("price"), row, trade.Invalid, "rule:price", invalid("price", "required"))
					w.add("contracts", key("below"), row.with(erpRow{"price": "-1"}), trade.Invalid, "rule:price",
						invalid("price", "positive"))
					w.add("contracts", key("twin"), row, trade.Held, trade.CauseTwin)
				}
			}
		}
	}
	for i, r := range []erpRow{
		soyContract.with(erpRow{"amount": "150"}), soyContract.with(erpRow{"price": "10"}),
		soyContract.with(erpRow{"product": "MILHO"}), soyContract.with(erpRow{"currency": "USD"}),
	} {
		w.now(w.send("contracts", fmt.Sprintf("01|changed%d", i), soyContract, trade.OutcomeCreated), r)
	}
	w.change(w.send("contracts", "01|gone", soyContract, trade.OutcomeCreated), func(e *trade.Entry) {
		e.Flags, e.GoneSweeps = e.Flags.With(trade.MissingInERP, true), 1
	})
	w.change(w.send("contracts", "01|cancelled", soyContract, trade.OutcomeCreated), func(e *trade.Entry) {
		e.Flags = e.Flags.With(trade.Cancelled, true)
	})
	// of a job that is not configured any more
	w.change(w.send("former", "03|former", soyContract.with(erpRow{"amount": "555"}), trade.OutcomeCreated),
		func(e *trade.Entry) { e.Flags = e.Flags.With(trade.MissingInERP, true) })
	w.add("contracts", "01|bare", soyContract.with(erpRow{"amount": "", "product": ""}), trade.Invalid, "rule:amount",
		invalid("amount", "required"))
	old := w.send("contracts", "01|old", soyContract.with(erpRow{"amount": "777"}), trade.OutcomeCreated)
	w.add("contracts", "01|new", soyContract.with(erpRow{"amount": "777"}), trade.Held, trade.CauseRetyped,
		func(e *trade.Entry) {
			e.Error = &trade.EntryError{Kind: trade.ConflictError, Counterpart: &trade.Counterpart{
				Job: old.Job, Key: old.Key, RemoteID: old.RemoteID, Gone: true,
			}}
		})
	load := erpRow{
		"filial": "01", "contract": "sent1", "delivered_volume": "6001", "delivered_volume_unit_of_measure": "KG",
		"delivery_date": "2026-10-20",
	}
	w.send("deliveries", "01|d1", load, trade.OutcomeCreated)
	w.add("deliveries", "01|d2", load.with(erpRow{"contract": "code1"}), trade.Waiting, trade.CauseParent,
		waits(trade.Awaited{Job: "contracts", Key: "01|code1"}))
	w.add("deliveries", "01|d3", load.with(erpRow{"contract": "due1"}), trade.Waiting, trade.CauseParent,
		waits(trade.Awaited{Job: "contracts", Key: "01|due1"}))
}

// figuresIn calls fn for each number with rows behind it in an answer.
func figuresIn(where string, v reflect.Value, fn func(string, trade.Figure)) {
	if v.Type() == reflect.TypeFor[trade.Figure]() {
		fn(where, v.Interface().(trade.Figure))
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			figuresIn(where, v.Elem(), fn)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				figuresIn(where+"."+v.Type().Field(i).Name, v.Field(i), fn)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			figuresIn(fmt.Sprintf("%s[%d]", where, i), v.Index(i), fn)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			figuresIn(fmt.Sprintf("%s[%v]", where, key), v.MapIndex(key), fn)
		}
	}
}

// standFigures are those of a bar.
func standFigures(s reconcile.StateSum) (out []trade.Figure) {
	for state := range s.States {
		out = append(out, s.Figure(state))
	}
	return append(out, s.Figure(trade.Pending, trade.Sending, trade.Waiting))
}

// Each number of an answer leads to a list that has exactly its rows, and their sum in its foot, for every
// season, product, branch, type, state and cause.
func TestEachNumberOfAnAnswerLeadsToItsRows(t *testing.T) {
	ledgertest.Both(t, func(t *testing.T, driver string) {
		w := figuredWorld(t, driver)
		answers := map[string]any{}
		season := must.Get(w.office.Season(t.Context()))(t)
		answers["season"] = season
		for _, one := range season.Seasons {
			for _, s := range slices.Concat(one.Products, one.Branches) {
				name := "season of " + one.Harvest + " " + s.Name
				answers[name] = append(figuresOf(answers[name]), standFigures(s)...)
			}
		}
		stuck := must.Get(w.office.Stuck(t.Context(), trade.Portuguese, true))(t)
		for _, c := range stuck.Causes {
			var parts []trade.Figure
			for _, p := range c.Own {
				parts = append(parts, trade.Figure{Sums: trade.Sums{Rows: p.Rows, Unweighed: -1}, Of: trade.RowQuery{
					Jobs: []string{p.Job}, States: []trade.State{p.State}, Of: trade.Selection{Group: c.Key},
				}})
			}
			answers["cause "+c.Key], answers["parts of "+c.Key] = c.Kinds(), parts
		}
		for _, filter := range []reconcile.Filter{
			{},
			{Harvests: []string{"2026/27"}},
			{Harvests: []string{trade.NotKnown}},
			{Products: []string{"SOJA"}, Branches: []string{"02"}},
			{From: must.Get(trade.ParseDate("2026-10-05"))(t), To: must.Get(trade.ParseDate("2026-10-05"))(t)},
		} {
			must.Do(t, w.office.Report(t.Context(), ReportQuery{Filter: filter}, func(s *reconcile.Snapshot) error {
				view, err := s.Overview(reconcile.Options{Filter: filter, Tolerance: reconcile.DefaultTolerance()})
				for _, a := range view.Accounts {
					name := fmt.Sprintf("report %+v %s %s %s", filter, a.Product, a.Measure, a.Currency)
					var list []trade.Figure
					later := []reconcile.AccountLine{a.Changed, a.Left, a.Renumbered}
					for _, l := range slices.Concat(a.Outside, a.States, later) {
						if of, ok := a.Figure(filter, l); ok && l.Rows > 0 {
							list = append(list, of)
						}
					}
					for _, of := range []trade.Figure{
						a.Total(filter, reconcile.InERP), a.Total(filter, reconcile.OnPlatform),
						a.Total(filter, reconcile.Difference),
					} {
						of.Rows = -1
						list = append(list, of)
					}
					answers[name] = list
				}
				for _, sum := range view.Summaries {
					for _, part := range sum.Open {
						name := fmt.Sprintf("closing %+v %s %s %v", filter, sum.Job, part.State, part.Fixing)
						answers[name] = part.Figure(sum.Job, must.Get(trade.ParseDate("2027-01-01"))(t))
					}
				}
				return err
			}))
		}
		followed := 0
		for name, answer := range answers {
			figuresIn(name, reflect.ValueOf(answer), func(where string, f trade.Figure) {
				if f.Of.Of == (trade.Selection{}) {
					return // an empty band
				}
				followed++
				w.follow(where, f)
			})
		}
		if followed < 200 {
			t.Errorf("only %d numbers were followed", followed)
		}
		w.followSeasons(true)
		for _, job := range []string{"contracts", "deliveries"} {
			run := trade.RunReport{ID: job, Job: job, StartedAt: w.begun, EndedAt: trade.End{Time: Now()}}
			must.Do(w.t, w.office.store.StartRun(w.t.Context(), run))
			w.followRun(run)
		}
		w.followChanged()
	})
}

// A list of a season is that of the report where a delivery may have a contract of several jobs, too.
func TestAListOfASeasonFollowsTheContractThatTheLedgerHas(t *testing.T) {
	ledgertest.Both(t, func(t *testing.T, driver string) { figuredWorld(t, driver, "former").followSeasons(false) })
}

// followSeasons compares the lists of seasons, also of those rows only that need somebody or that a run sent, with
// the report. joined: the ledger itself narrows by the season.
func (w *figured) followSeasons(joined bool) {
	w.t.Helper()
	ids := func(of trade.Selection) (out []int64) {
		q, _, err := w.office.Chosen(w.t.Context(), trade.RowQuery{Of: of, Sort: trade.OldestFirst, Limit: 2000})
		must.Do(w.t, err)
		if q.Of != of || of == (trade.Selection{Harvest: of.Harvest}) && (q.IDs == nil) != joined {
			w.t.Errorf("the selection %+v became %+v, with %d ids", of, q.Of, len(q.IDs))
		}
		sums := trade.Sums{}
		for _, sum := range must.Get(w.office.RowSums(w.t.Context(), q, true))(w.t) {
			sums.Join(sum)
		}
		page := must.Get(w.office.RowPage(w.t.Context(), q))(w.t)
		if sums.Rows != len(page.Rows) {
			w.t.Errorf("%+v has %d rows, its sum is of %d", of, len(page.Rows), sums.Rows)
		}
		return trade.Map(page.Rows, func(e trade.Entry) int64 { return e.ID })
	}
	run := trade.RunReport{ID: "seasons", Job: "deliveries", StartedAt: w.begun, EndedAt: trade.End{Time: Now()}}
	must.Do(w.t, w.office.store.StartRun(w.t.Context(), run))
	parts := map[string]trade.Selection{"": {}, "stuck": {Group: trade.AnyCause}}
	for _, part := range must.Get(w.office.RunParts(w.t.Context(), run))(w.t) {
		parts[string(part.Result)] = part.Of.Of
	}
	followed := map[string]bool{}
	for _, season := range []string{"2025/26", "2026/27", "2026/27," + trade.NotKnown, trade.NotKnown, "2001/02"} {
		var want reconcile.Selected // by the report
		err := w.office.snapshot(w.t.Context(), reconcile.Cut{}, ReportSources{},
			func(s *reconcile.Snapshot) (err error) {
				want, err = s.Select(trade.Selection{Harvest: season}, w.office.fixer())
				return err
			})
		must.Do(w.t, err)
		for name, of := range parts {
			rows := want.IDs
			if of != (trade.Selection{}) {
				all := ids(of)
				rows = slices.DeleteFunc(slices.Clone(rows), func(id int64) bool { return !slices.Contains(all, id) })
				followed[name] = followed[name] || len(rows) > 0 && len(rows) < len(all)
			}
			of.Harvest = season
			if got := ids(of); !slices.Equal(got, rows) || len(got) > 0 && season == "2001/02" {
				w.t.Errorf("of the season %s the list of %q has the rows %v, the report %v", season, name, got, rows)
			}
		}
	}
	if !followed["stuck"] {
		w.t.Error("a season is no part of what needs somebody")
	}
}

// followRun compares the numbers of a run with the rows of their lists, which may be chosen from further.
func (w *figured) followRun(run trade.RunReport) {
	w.t.Helper()
	parts := must.Get(w.office.RunParts(w.t.Context(), run))(w.t)
	seen := map[int64]bool{}
	for _, part := range parts {
		part.Of.IDs = nil // an address has none
		w.follow("run of "+run.Job+" "+string(part.Result), part.Figure)
		q := part.Of
		q.Limit, q.Sort = 2000, trade.NewestFirst
		for _, e := range must.Get(w.office.RowPage(w.t.Context(), q))(w.t).Rows {
			if seen[e.ID] {
				w.t.Errorf("run of %s: row %s stands in two parts", run.Job, e.Key)
			}
			seen[e.ID] = true
		}
		if q.States = []trade.State{trade.Withdrawn}; len(must.Get(w.office.RowPage(w.t.Context(), q))(w.t).Rows) > 0 {
			w.t.Errorf("run of %s: what is chosen further is not fewer", run.Job)
		}
	}
	if len(parts) < 2 {
		w.t.Errorf("run of %s: it has only the parts %v", run.Job, parts)
	}
}

// followChanged compares the numbers of what changed after it was sent with the rows to which they lead,
// and the sums of the groups with those of all rows.
func (w *figured) followChanged() {
	w.t.Helper()
	ctx := w.t.Context()
	rows, _, err := w.office.ChangedRows(ctx, trade.AcknowledgedByAct)
	must.Do(w.t, err)
	n, counts, err := w.office.ChangedCounts(ctx)
	must.Do(w.t, err)
	if n != len(rows) || n == 0 {
		w.t.Errorf("%d rows changed, and %d are listed", n, len(rows))
	}
	for _, flag := range trade.AcknowledgedByAct {
		flagged, _, err := w.office.ChangedRows(ctx, []trade.Flag{flag})
		must.Do(w.t, err)
		if len(flagged) != counts[flag] {
			w.t.Errorf("%d rows are %s, and %d are listed", counts[flag], flag, len(flagged))
		}
	}
	var total, parts ChangedSums
	for _, row := range rows {
		total.Add(row, row.Effect)
	}
	for _, group := range ChangedGroups(rows) {
		listed := 0
		for _, row := range rows {
			if slices.ContainsFunc(row.Lines, func(l ChangedLine) bool { return l.Of == group.Of }) {
				listed++
			}
		}
		if flag := group.Of.Flag; flag == trade.MissingInERP && counts[flag] != group.Rows {
			w.t.Errorf("%d rows in the group %s, and %d under its flag", group.Rows, flag, counts[flag])
		}
		if listed != group.Rows {
			w.t.Errorf("%d rows in the group %s, and %d are listed", group.Rows, group.Of, listed)
		}
		parts.Add(ChangedRow{}, Effect{Weight: group.Kilograms})
		for currency, value := range group.Values {
			parts.Add(ChangedRow{}, Effect{Valued: true, Currency: currency, Value: value})
		}
	}
	if total.Kilograms.Cmp(parts.Kilograms) != 0 || fmt.Sprint(total.Values) != fmt.Sprint(parts.Values) {
		w.t.Errorf("the changes are %s kg and %v, their groups %s kg and %v", total.Kilograms, total.Values,
			parts.Kilograms, parts.Values)
	}
}

// figuresOf returns what was collected of an answer.
func figuresOf(have any) []trade.Figure {
	list, _ := have.([]trade.Figure)
	return list
}

// follow compares a number with the list to which it leads: -1 is not compared.
func (w *figured) follow(where string, f trade.Figure) {
	w.t.Helper()
	q, rows, err := w.office.Chosen(w.t.Context(), f.Of)
	must.Do(w.t, err)
	q.Limit, q.Sort = 2000, trade.NewestFirst
	page := must.Get(w.office.RowPage(w.t.Context(), q))(w.t)
	var foot trade.Sums
	for _, sums := range must.Get(w.office.SumsOf(w.t.Context(), q, rows, true))(w.t) {
		foot.Join(sums)
	}
	if len(page.Rows) != foot.Rows || f.Rows >= 0 && f.Rows != foot.Rows {
		w.t.Errorf("%s counts %d rows, the list has %d, its foot %d (%+v)", where, f.Rows, len(page.Rows), foot.Rows, q.Of)
	}
	if f.Unweighed < 0 {
		return
	}
	kg := f.Kilograms
	if q.Of.Measure == string(reconcile.Worth) { // the grain of the same documents
		for _, e := range page.Rows {
			kg = kg.Add(e.Listing().Kg)
		}
	}
	if kg.Cmp(foot.Kilograms) != 0 {
		w.t.Errorf("%s weighs %s, its rows %s (%+v)", where, kg, foot.Kilograms, q.Of)
	}
	for currency, value := range f.Values {
		if value.Cmp(foot.Values[currency]) != 0 {
			w.t.Errorf("%s is %s %s, its rows %s (%+v)", where, currency, value, foot.Values[currency], q.Of)
		}
	}
}
