package pages

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/web"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// doubtRoutes are the desk for what may be on the platform.
type doubtRoutes struct {
	rows     Rows
	audit    Audit
	fields   Fields
	acts     Acts
	doubts   Doubts
	sessions Sessions
	unknown  func(error) bool
}

func (p *doubtRoutes) routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/doubts", Needs: trade.Reader, Handle: p.showDoubts},
		{Method: http.MethodGet, Path: "/doubts/{id}", Needs: trade.Reader, Handle: p.showDoubt},
		{Method: http.MethodPost, Path: "/doubts/{id}/plan", Needs: trade.Accountant, Handle: p.planDoubt},
		{Method: http.MethodPost, Path: "/doubts/{id}/do", Needs: trade.Accountant, Handle: p.doDoubt},
	}
}

// doubtsPage lists what is in doubt, the oldest first.
type doubtsPage struct {
	Rows []doubtShown
	Next string
}

// doubtShown is a row that may be on the platform.
type doubtShown struct {
	Entry trade.Entry
	Doubt Doubt
	Since time.Time // of the last request
}

func (p *doubtRoutes) showDoubts(q *web.Request) error {
	rows, err := p.rows.RowPage(q.Context(),
		trade.RowQuery{
			States: []trade.State{trade.InDoubt}, Sort: trade.OldestFirst, After: after(q),
			Limit: pageRows,
		})
	if err != nil {
		return err
	}
	page := doubtsPage{Next: rows.Next}
	for _, entry := range rows.Rows {
		shown, err := p.doubt(q, entry)
		if err != nil {
			return err
		}
		page.Rows = append(page.Rows, shown)
	}
	return q.Page(http.StatusOK, "doubts", page)
}

func (p *doubtRoutes) doubt(q *web.Request, entry trade.Entry) (doubtShown, error) {
	doubt, err := p.doubts.Doubt(q.Context(), entry)
	shown := doubtShown{Entry: entry, Doubt: doubt, Since: entry.UpdatedAt}
	for _, a := range doubt.Attempts {
		shown.Since = a.StartedAt
	}
	return shown, err
}

// doubtPage is the desk of one row.
type doubtPage struct {
	doubtShown
	Open     bool               // it is still to be decided
	Decided  *trade.AuditRecord // by whom it was; nil: by nobody, or nobody knows
	NeedsID  bool               // its record can be read back
	Hints    hintsView
	Identify []lookFor // the fields by which people find it on the platform, first
	Proof    bool      // the password is asked for before it is sent again
	Act      Act
	ID       string
	Reason   string
	Checked  bool
	Fault    string // key of a phrase
	Refused  string // code of the engine
	Wait     time.Duration
	Plan     *Plan
	Step     engine.RowStep // of the plan
	Differs  bool           // what the platform has is not what was sent
}

// lookFor is one field to look for, with what the ERP has for it: people know its codes, not the
// platform's ids.
type lookFor struct {
	Field string
	Sent  string
	ERP   string
}

// identify gives what to look for on the platform.
func (p *doubtRoutes) identify(q *web.Request, entry trade.Entry, look []engine.FieldReading) ([]lookFor, error) {
	fields, err := p.fields.Fields(q.Context(), entry)
	if err != nil {
		return nil, err
	}
	codes := map[string]string{}
	for _, f := range fields {
		var parts []string
		for _, value := range f.ERP {
			if value != nil {
				parts = append(parts, strings.TrimSpace(*value))
			}
		}
		if !f.Secret {
			codes[f.Name] = strings.Join(parts, "|")
		}
	}
	out := make([]lookFor, 0, len(look))
	for _, r := range look {
		one := lookFor{Field: r.Field, ERP: codes[r.Field]}
		if r.Sent != nil {
			one.Sent = *r.Sent
		}
		if one.ERP == one.Sent {
			one.ERP = ""
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b lookFor) int { return placeOf(a.Field) - placeOf(b.Field) })
	return out, nil
}

// identifying are the fields by which people find a record on the platform, in the order in which
// they look for them.
var identifying = []string{
	"producer_id", "product", "amount", "unit_of_measurement", "price", "order_date",
	"wallet_id", "delivery_place_id", "delivered_volume", "delivery_date", "car", "allocated_volume",
	"contract_id", "farm_id",
}

func (p *doubtRoutes) doubtPage(q *web.Request) (doubtPage, error) {
	entry, err := entryOf(q, p.rows, p.unknown)
	if err != nil {
		return doubtPage{}, err
	}
	shown, err := p.doubt(q, entry)
	if err != nil {
		return doubtPage{}, err
	}
	page := doubtPage{
		doubtShown: shown, Open: undecided(entry), NeedsID: entry.Sends == trade.OrderCommitments,
		Proof: !p.sessions.Proved(q),
	}
	if page.Identify, err = p.identify(q, entry, shown.Doubt.Look); err != nil {
		return doubtPage{}, err
	}
	if page.Hints, err = hintsOf(q, p.doubts, entry, shown.Doubt.Attempts); err != nil {
		return doubtPage{}, err
	}
	if !page.Open {
		if page.Decided, err = p.decided(q, entry); err != nil {
			return doubtPage{}, err
		}
	}
	return page, nil
}

// undecided reports whether a person has to say if the platform has a row.
func undecided(e trade.Entry) bool { return e.State == trade.InDoubt || e.State == trade.Held }

func placeOf(field string) int {
	if i := slices.Index(identifying, field); i >= 0 {
		return i
	}
	return len(identifying)
}

// decided finds who decided about a row last.
func (p *doubtRoutes) decided(q *web.Request, entry trade.Entry) (*trade.AuditRecord, error) {
	records, err := p.audit.AuditOf(q.Context(), entry.Job+" "+entry.Key, 20)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if act := r.Act; act == Adopt || act == Resend || act == Dismiss {
			return &r, nil
		}
	}
	return nil, nil //nolint:nilnil // nobody decided
}

func (p *doubtRoutes) showDoubt(q *web.Request) error {
	page, err := p.doubtPage(q)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if !page.Open {
		status = http.StatusConflict
	}
	if id, err := trade.ParseID(q.FormValue("id")); err == nil { // of a record that was suggested
		page.ID = id
	}
	return q.Page(status, "doubt", page)
}

// doubtOrder is what a person wants done, as the form says.
func doubtOrder(q *web.Request, page *doubtPage) Order {
	page.Act, page.ID, page.Checked = q.PostFormValue("act"), q.PostFormValue("id"),
		q.PostFormValue("checked") == "1"
	noID := page.Act == "adopt_no_id"
	order := Order{
		Act: page.Act, Job: page.Entry.Job, Keys: []string{page.Entry.Key},
		DespiteDifferences: q.PostFormValue("despite") == "1",
	}
	switch {
	case noID:
		order.Act, order.NoID = Adopt, true
	case page.Act == Adopt:
		order.ID = page.ID
	case page.Act == Resend:
		order.Checked = page.Checked
	}
	return order
}

// ordered reads what a person wants done with a row. ok is false where that is answered: the row is
// decided already, or the form gives no reason.
func (p *doubtRoutes) ordered(q *web.Request) (page doubtPage, order Order, ok bool, err error) {
	if page, err = p.doubtPage(q); err != nil {
		return page, order, false, err
	}
	if !page.Open {
		return page, order, false, q.Page(http.StatusConflict, "doubt", page)
	}
	order = doubtOrder(q, &page)
	if !slices.Contains([]Act{Adopt, Resend, Dismiss}, order.Act) {
		return page, order, false, web.BadRequest("form")
	}
	if page.Reason, page.Fault = reason(q); page.Fault != "" {
		return page, order, false, q.Page(http.StatusUnprocessableEntity, "doubt", page)
	}
	return page, order, true, nil
}

// planDoubt shows what a decision would do: an id is read back and compared.
func (p *doubtRoutes) planDoubt(q *web.Request) error {
	page, order, ok, err := p.ordered(q)
	if err != nil || !ok {
		return err
	}
	return p.showPlan(q, page, order, http.StatusOK)
}

// showPlan shows a plan to confirm, or why there is none. Differences are no refusal here: they are
// shown, and confirmed by themselves.
func (p *doubtRoutes) showPlan(q *web.Request, page doubtPage, order Order, status int) error {
	order.DespiteDifferences = false
	plan, err := p.acts.Plan(q.Context(), order)
	if err == nil && plan.Steps[0].Refused == "differs" {
		page.Differs, order.DespiteDifferences = true, true
		plan, err = p.acts.Plan(q.Context(), order)
	}
	if err != nil {
		return err
	}
	page.Plan, page.Step = &plan, plan.Steps[0]
	if refused := page.Step.Refused; refused != "" {
		page.Plan, page.Refused, page.Wait = nil, string(refused), page.Step.Remaining
		return q.Page(http.StatusUnprocessableEntity, "doubt", page)
	}
	return q.Page(status, "doubt_plan", page)
}

// doDoubt does what a person saw, if the row stands as it was shown: the second of two people is
// told who was first (F157).
func (p *doubtRoutes) doDoubt(q *web.Request) error {
	page, order, ok, err := p.ordered(q)
	if err != nil || !ok {
		return err
	}
	if order.Act == Resend {
		fault, err := p.sessions.Prove(q, q.PostFormValue("password"))
		if err != nil {
			return err
		}
		if page.Fault = fault; fault != "" {
			return p.showPlan(q, page, order, http.StatusUnprocessableEntity)
		}
	}
	done, err := p.acts.Do(q.Context(), order, q.PostFormValue("mark"), person(q, page.Reason))
	if err != nil {
		return err
	}
	if done.Asked != nil {
		return asked(q, done.Asked)
	}
	if done.Done == 1 {
		q.Tell("doubt.done")
		return q.Redirect("/doubts")
	}
	again, err := p.doubtPage(q)
	if err != nil {
		return err
	}
	if !again.Open {
		return q.Page(http.StatusConflict, "doubt", again)
	}
	again.Act, again.ID, again.Reason, again.Checked, again.Fault = page.Act, page.ID, page.Reason, page.Checked,
		"desk.moved"
	return p.showPlan(q, again, order, http.StatusConflict)
}
