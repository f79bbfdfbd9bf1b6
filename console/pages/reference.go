package pages

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// referenceFile limits an uploaded file: tens of thousands of lines fit. Larger files are for the
// command line.
const referenceFile = 4 << 20

// referencePage shows one de-para table, missing codes first.
type referencePage struct {
	Kinds   []kindShown
	Kind    string
	Source  string // ledger, erp, platform
	Query   string // of the ERP; "" = none
	Missing []trade.Shortage
	Names   []string        // of the missing codes, as [trade.NamesOf] returns them
	Total   *trade.Shortage // of all missing codes, each row counted once
	Text    string
	Lines   []trade.Reference
	Count   int       // number of lines that contain Text
	Next    string    // code after which the next page begins
	Asked   []request // codes that wait for consent
	May     bool      // the person may change it here
	Propose bool      // the person may propose a code, to which an administrator must agree
	Code    string
	ID      string
	Reason  string
	Fault   string
	Waits   *trade.Approval  // the proposal for the code that waits already
	Plan    *office.CodePlan // what storing the code would do; nil: it was not asked for yet
}

// Labelled reports whether a stored code has a name.
func (p referencePage) Labelled() bool {
	return slices.ContainsFunc(p.Lines, func(line trade.Reference) bool { return line.Label != "" })
}

// Named reports whether the ERP calls a missing code something.
func (p referencePage) Named() bool {
	return slices.ContainsFunc(p.Names, func(name string) bool { return name != "" })
}

type kindShown struct {
	Kind    string
	Missing int
}

// missingShown is how many missing codes a page shows, those that block most rows first.
const missingShown = 50

func (p *Pages) showReferences(q *web.Request) error {
	page, err := p.referencePage(q)
	if err != nil {
		return err
	}
	page.Code = q.Form.Get("code")
	return q.Page(http.StatusOK, "references", page)
}

func (p *Pages) referencePage(q *web.Request) (referencePage, error) {
	page := referencePage{Kind: q.PathValue("kind"), Text: strings.TrimSpace(q.Form.Get("text"))}
	if err := searchFits(page.Text); err != nil {
		return page, err
	}
	if page.Kind == "" {
		page.Kind = trade.ReferenceKinds[0]
	}
	if !slices.Contains(trade.ReferenceKinds, page.Kind) {
		return page, web.ErrNotFound
	}
	page.Source = p.office.ReferenceSource(page.Kind)
	page.Query = p.office.ReferenceQuery(page.Kind)
	page.May = page.Source == "ledger" && q.May(acts.RoleOf(acts.ActSetCode))
	page.Propose = page.Source == "ledger" && !page.May && q.May(trade.Accountant)
	var err error
	page.Asked, err = p.askedFor(q, page.Kind, "")
	if err != nil {
		return page, err
	}
	all, err := p.office.Shortages(q.Context())
	if err != nil {
		return page, err
	}
	counts := map[string]int{}
	for _, s := range all {
		switch {
		case s.Code != "":
			counts[s.Kind]++
		case s.Kind == page.Kind:
			page.Total = &s
		}
	}
	page.Missing, page.Names, err = p.office.Missing(q.Context(), page.Kind, missingShown)
	if err != nil {
		return page, err
	}
	for i, name := range page.Names { // the head of the column says whose it is
		if _, text, labelled := strings.Cut(name, ": "); labelled && !strings.Contains(text, ": ") {
			page.Names[i] = text
		}
	}
	for _, kind := range trade.ReferenceKinds {
		page.Kinds = append(page.Kinds, kindShown{kind, counts[kind]})
	}
	lines, err := p.office.ListReferences(q.Context(), page.Kind)
	if err != nil {
		return page, err
	}
	// one page of the lines that contain the text, sorted by code
	text, after := strings.ToLower(page.Text), q.Form.Get("after")
	for _, line := range lines {
		if !strings.Contains(strings.ToLower(line.Shown()), text) && !strings.Contains(line.ID, text) {
			continue
		}
		page.Count++
		if after != "" && trade.CompareCodes(line.Code, after) <= 0 {
			continue
		}
		if len(page.Lines) == pageRows {
			page.Next = page.Lines[pageRows-1].Code
			continue
		}
		page.Lines = append(page.Lines, line)
	}
	return page, nil
}

// Piles returns what the missing codes block; the first of all kinds is always among it.
func (p referencePage) Piles() []trade.Pile {
	return slices.DeleteFunc(slices.Clone(trade.Piles), func(pile trade.Pile) bool {
		return pile != trade.Piles[0] && p.Total != nil && p.Total.Blocked[pile] == nil
	})
}

// Path returns the address of the list of the rows of a pile that a code blocks.
func (referencePage) Path(s trade.Shortage, pile trade.Pile) string {
	return figurePath(trade.RowQuery{Of: trade.Selection{Group: s.Group(), Kind: pile.Name()}})
}

// NextPath returns the address of the next page.
func (p referencePage) NextPath() string {
	return "/references/" + p.Kind + "?" + url.Values{"after": {p.Next}, "text": {p.Text}}.Encode()
}

// mayChange returns an error if the person may not change this table here; the page then offers no
// change either.
func (p *Pages) mayChange(q *web.Request) (referencePage, error) {
	page, err := p.referencePage(q)
	if err == nil && !page.May {
		err = web.ErrForbidden
	}
	return page, err
}

// setReference stores one code with its id.
func (p *Pages) setReference(q *web.Request) error {
	page, err := p.mayChange(q)
	if err != nil {
		return err
	}
	return p.oneCode(q, page, func(page referencePage) error {
		seen, err := p.planCode(q, page)
		if err != nil || !seen {
			return err
		}
		if _, _, err := p.office.SetReferences(q.Context(), page.Kind, map[string]string{page.Code: page.ID}, nil,
			"refs set", q.Person(page.Reason)); err != nil {
			return err
		}
		return q.Done("references.set", "/references/"+page.Kind)
	})
}

// oneCode reads the code, the id and the reason of a form, and passes them to store.
func (p *Pages) oneCode(q *web.Request, page referencePage, store func(referencePage) error) error {
	page.Code, page.ID = q.PostForm.Get("code"), q.PostForm.Get("id")
	page.Reason, page.Fault = Reason(q)
	if page.Fault == "" {
		var wrong *office.ReferenceFault
		if err := store(page); !errors.As(err, &wrong) {
			return err
		}
		page.Fault = "references.fault." + wrong.What()
	}
	return q.Page(http.StatusUnprocessableEntity, "references", page)
}

// planCode reports whether the person has seen what storing the code of a page would do. If not, it shows that.
func (p *Pages) planCode(q *web.Request, page referencePage) (seen bool, err error) {
	plan, err := p.office.PlanCode(q.Context(), page.Kind, page.Code, page.ID)
	if err != nil || plan.Mark == q.PostForm.Get("mark") {
		return err == nil, err
	}
	page.Plan = &plan
	return false, q.Page(http.StatusOK, "references", page)
}

// proposeReference stores a proposed code until an administrator agrees.
func (p *Pages) proposeReference(q *web.Request) error {
	page, err := p.referencePage(q)
	if err != nil {
		return err
	}
	return p.oneCode(q, page, func(page referencePage) error {
		for _, a := range page.Asked {
			planned, err := acts.PlannedOf(a.Approval)
			if err != nil {
				return err
			}
			if a.Act == acts.ActSetCode && slices.Contains(planned.Order.Keys, mapping.NormalCode(page.Code)) {
				page.Fault, page.Waits = "An order for this code waits for approval already:", &a.Approval
				return q.Page(http.StatusConflict, "references", page)
			}
		}
		seen, err := p.planCode(q, page)
		if err != nil || !seen {
			return err
		}
		waits, err := p.office.Propose(q.Context(), page.Kind, page.Code, page.ID, q.Person(page.Reason))
		if err != nil {
			return err
		}
		return Asked(q, waits)
	})
}

// removeReference removes one code. Rows that need it wait from the next run on.
func (p *Pages) removeReference(q *web.Request) error {
	page, err := p.mayChange(q)
	if err != nil {
		return err
	}
	page.Reason, page.Fault = Reason(q)
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "references", page)
	}
	removed, err := p.office.RemoveReference(q.Context(), page.Kind, q.PostForm.Get("code"),
		q.Person(page.Reason))
	if err != nil {
		return err
	}
	told := "references.removed"
	if !removed {
		told = "references.gone"
	}
	return q.Done(told, "/references/"+page.Kind)
}

// exportReferences returns a table as a file. The export is recorded in the audit before the file
// is sent.
func (p *Pages) exportReferences(q *web.Request) error {
	kind := q.PathValue("kind")
	if !slices.Contains(trade.ReferenceKinds, kind) {
		return web.ErrNotFound
	}
	if err := p.office.AppendAudit(q.Context(), q.Record("refs export", kind, "")); err != nil {
		return err
	}
	if q.Form.Get("missing") != "" {
		attach(q, "de-para-"+kind+".xlsx", reportForms["xlsx"])
		title := q.Voice().T("Codes without a match") + ": " + q.Voice().T("kind."+kind)
		return p.office.WriteMissing(q.Context(), kind, title, q.Lang, q.Writer)
	}
	attach(q, kind+".csv", "text/csv; charset=utf-8")
	return p.office.WriteReferences(q.Context(), kind, q.Writer)
}

// importPage is the plan of an import.
type importPage struct {
	orderForm
	Kind    string
	Plan    office.ReferencePlan
	Added   int
	Changed int
	Shown   []trade.ReferenceChange
}

// planImport reads the uploaded file, or its text from the page with the plan. The form says where in it
// the references are: nothing for a file with the header code,id or code,id,label.
func (p *Pages) planImport(q *web.Request, data []byte) (page importPage, err error) {
	form, kind := q.PostForm, q.PathValue("kind")
	page = importPage{Kind: kind, orderForm: orderForm{
		Path: "/references/" + kind + "/import", Hidden: url.Values{}, Label: "Reason (recorded in the audit)",
		Button: "Import", Back: "/references/" + kind, Leave: "Back",
	}}
	for _, name := range []string{"code", "id", "label", "where", "pad", "as"} {
		page.Hidden.Set(name, form.Get(name))
	}
	layout := office.ParseReferenceLayout(form.Get("code"), form.Get("id"), form.Get("label"), form.Get("where"),
		form.Get("pad"), form.Get("as"))
	layout.Sheet = strings.TrimSpace(form.Get("sheet")) // the text that the page has is of that sheet
	page.Plan, err = p.office.PlanReferences(q.Context(), page.Kind, bytes.NewReader(data), layout, q.Lang)
	page.Shown = slices.Clone(page.Plan.Changes)
	// overwritten ids matter more than new codes
	slices.SortStableFunc(page.Shown, func(a, b trade.ReferenceChange) int {
		return trade.CompareBool(a.From == nil, b.From == nil)
	})
	for _, c := range page.Shown {
		if c.From != nil {
			page.Changed++
		}
	}
	page.Added = len(page.Shown) - page.Changed
	page.Shown = page.Shown[:min(len(page.Shown), missingShown)]
	page.Mark = page.Plan.Mark()
	page.Hidden.Set("csv", page.Plan.Text)
	return page, err
}

func (p *Pages) planReferences(q *web.Request) error {
	if _, err := p.mayChange(q); err != nil {
		return err
	}
	file, err := upload(q)
	if err != nil {
		return err
	}
	page, err := p.planImport(q, file)
	return q.Show("references_plan", page, err)
}

// importReferences imports what the plan showed, all or nothing. The text of the file returns with
// the confirmation and is read again.
func (p *Pages) importReferences(q *web.Request) error {
	if _, err := p.mayChange(q); err != nil {
		return err
	}
	page, err := p.planImport(q, []byte(q.PostForm.Get("csv")))
	if err != nil {
		return err
	}
	complete, same := page.read(q), page.Mark == q.PostForm.Get("mark")
	switch {
	case page.Mark == "":
		page.Fault = "" // the plan says why
	case complete && !same:
		page.Fault = planMoved
	}
	if page.Mark == "" || !complete || !same {
		return q.Page(http.StatusUnprocessableEntity, "references_plan", page)
	}
	if _, _, err := p.office.SetReferences(q.Context(), page.Kind, page.Plan.Codes, page.Plan.Labels,
		"refs import", q.Person(page.Reason)); err != nil {
		return err
	}
	return q.Done("references.imported", "/references/"+page.Kind)
}
