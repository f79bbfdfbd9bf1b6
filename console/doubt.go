package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

var doubtRoutes = []route{
	{method: http.MethodGet, path: "/doubts", needs: trade.Reader, handle: showDoubts},
	{method: http.MethodGet, path: "/doubts/{id}", needs: trade.Reader, handle: showDoubt},
	{method: http.MethodPost, path: "/doubts/{id}/plan", needs: trade.Accountant, handle: planDoubt},
	{method: http.MethodPost, path: "/doubts/{id}/do", needs: trade.Accountant, handle: doDoubt},
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

func showDoubts(q *request) error {
	rows, err := q.c.Ports.Rows.RowPage(q.Context(),
		trade.RowQuery{
			States: []trade.State{trade.InDoubt}, Sort: trade.OldestFirst, After: q.after(),
			Limit: pageRows,
		})
	if err != nil {
		return err
	}
	page := doubtsPage{Next: rows.Next}
	for _, entry := range rows.Rows {
		shown, err := q.doubt(entry)
		if err != nil {
			return err
		}
		page.Rows = append(page.Rows, shown)
	}
	return q.page(http.StatusOK, "doubts", page)
}

// after is where the page before ended, as the address has it.
func (q *request) after() string {
	if n := number(q.FormValue("after")); n > 0 {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

func (q *request) doubt(entry trade.Entry) (doubtShown, error) {
	doubt, err := q.c.Ports.Doubts.Doubt(q.Context(), entry)
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
func (q *request) identify(entry trade.Entry, look []engine.FieldReading) ([]lookFor, error) {
	fields, err := q.c.Ports.Fields.Fields(q.Context(), entry)
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

func (q *request) doubtPage() (doubtPage, error) {
	entry, err := q.entryOf()
	if err != nil {
		return doubtPage{}, err
	}
	shown, err := q.doubt(entry)
	if err != nil {
		return doubtPage{}, err
	}
	page := doubtPage{
		doubtShown: shown, Open: undecided(entry), NeedsID: entry.Sends == trade.OrderCommitments,
		Proof: !q.proved(),
	}
	if page.Identify, err = q.identify(entry, shown.Doubt.Look); err != nil {
		return doubtPage{}, err
	}
	if page.Hints, err = q.hints(entry, shown.Doubt.Attempts); err != nil {
		return doubtPage{}, err
	}
	if !page.Open {
		if page.Decided, err = q.decided(entry); err != nil {
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
func (q *request) decided(entry trade.Entry) (*trade.AuditRecord, error) {
	records, err := q.c.Ports.Audit.AuditOf(q.Context(), entry.Job+" "+entry.Key, 20)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if act := Act(r.Act); act == Adopt || act == Resend || act == Dismiss {
			return &r, nil
		}
	}
	return nil, nil //nolint:nilnil // nobody decided
}

func showDoubt(q *request) error {
	page, err := q.doubtPage()
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
	return q.page(status, "doubt", page)
}

// doubtOrder is what a person wants done, as the form says.
func (q *request) doubtOrder(page *doubtPage) Order {
	page.Act, page.ID, page.Checked = Act(q.PostFormValue("act")), q.PostFormValue("id"),
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

// planDoubt shows what a decision would do: an id is read back and compared.
func planDoubt(q *request) error {
	page, err := q.doubtPage()
	if err != nil {
		return err
	}
	if !page.Open {
		return q.page(http.StatusConflict, "doubt", page)
	}
	order := q.doubtOrder(&page)
	if !slices.Contains([]Act{Adopt, Resend, Dismiss}, order.Act) {
		return badRequest("form")
	}
	if page.Reason, page.Fault = q.reason(); page.Fault != "" {
		return q.page(http.StatusUnprocessableEntity, "doubt", page)
	}
	return q.showPlan(page, order, http.StatusOK)
}

// showPlan shows a plan to confirm, or why there is none. Differences are no refusal here: they are
// shown, and confirmed by themselves.
func (q *request) showPlan(page doubtPage, order Order, status int) error {
	order.DespiteDifferences = false
	plan, err := q.c.Ports.Acts.Plan(q.Context(), order)
	if err == nil && plan.Steps[0].Refused == "differs" {
		page.Differs, order.DespiteDifferences = true, true
		plan, err = q.c.Ports.Acts.Plan(q.Context(), order)
	}
	if err != nil {
		return err
	}
	page.Plan, page.Step = &plan, plan.Steps[0]
	if refused := page.Step.Refused; refused != "" {
		page.Plan, page.Refused, page.Wait = nil, string(refused), page.Step.Remaining
		return q.page(http.StatusUnprocessableEntity, "doubt", page)
	}
	return q.page(status, "doubt_plan", page)
}

// doDoubt does what a person saw, if the row stands as it was shown: the second of two people is
// told who was first (F157).
func doDoubt(q *request) error {
	page, err := q.doubtPage()
	if err != nil {
		return err
	}
	if !page.Open {
		return q.page(http.StatusConflict, "doubt", page)
	}
	order := q.doubtOrder(&page)
	if !slices.Contains([]Act{Adopt, Resend, Dismiss}, order.Act) {
		return badRequest("form")
	}
	if page.Reason, page.Fault = q.reason(); page.Fault != "" {
		return q.page(http.StatusUnprocessableEntity, "doubt", page)
	}
	if order.Act == Resend {
		fault, err := q.prove(q.PostFormValue("password"))
		if err != nil {
			return err
		}
		if page.Fault = fault; fault != "" {
			return q.showPlan(page, order, http.StatusUnprocessableEntity)
		}
	}
	done, err := q.c.Ports.Acts.Do(q.Context(), order, q.PostFormValue("mark"), q.person(page.Reason))
	if err != nil {
		return err
	}
	if done.Done == 1 {
		q.tell("doubt.done")
		return q.redirect("/doubts")
	}
	again, err := q.doubtPage()
	if err != nil {
		return err
	}
	if !again.Open {
		return q.page(http.StatusConflict, "doubt", again)
	}
	again.Act, again.ID, again.Reason, again.Checked, again.Fault = page.Act, page.ID, page.Reason, page.Checked,
		"desk.moved"
	return q.showPlan(again, order, http.StatusConflict)
}
