package console

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

var referenceRoutes = []route{
	{method: http.MethodGet, path: "/references", needs: trade.Reader, handle: showReferences},
	{method: http.MethodGet, path: "/references/{kind}", needs: trade.Reader, handle: showReferences},
	{method: http.MethodGet, path: "/references/{kind}/export", needs: trade.Accountant, handle: exportReferences},
	{method: http.MethodPost, path: "/references/{kind}/set", needs: trade.Administrator, handle: setReference},
	{method: http.MethodPost, path: "/references/{kind}/remove", needs: trade.Administrator, handle: removeReference},
	{
		method: http.MethodPost, path: "/references/{kind}/plan", needs: trade.Administrator, body: referenceFile,
		handle: planReferences,
	},
	{
		method: http.MethodPost, path: "/references/{kind}/import", needs: trade.Administrator, body: referenceFile,
		handle: importReferences,
	},
}

// referenceFile bounds a CSV that is uploaded: tens of thousands of lines fit. A larger one is for
// the command line.
const referenceFile = 4 << 20

// referencePage shows one de-para table, what is missing first.
type referencePage struct {
	Kinds   []kindShown
	Kind    string
	Source  string // ledger, erp, platform
	Missing []trade.Shortage
	Total   *trade.Shortage // of the missing ones, each row once
	Text    string
	Lines   []trade.Reference
	Count   int    // lines that the text finds
	Next    string // code after which the next page begins
	May     bool   // the person may change it here
	Code    string
	ID      string
	Reason  string
	Fault   string
}

type kindShown struct {
	Kind    string
	Missing int
	Here    bool
}

// missingShown is how many missing codes a page shows; the rest wait for their turn, those that
// block most come first.
const missingShown = 50

func showReferences(q *request) error {
	page, err := q.referencePage()
	if err != nil {
		return err
	}
	page.Code = q.FormValue("code")
	return q.page(http.StatusOK, "references", page)
}

func (q *request) referencePage() (referencePage, error) {
	page := referencePage{Kind: q.PathValue("kind"), Text: strings.TrimSpace(q.FormValue("text"))}
	if page.Kind == "" {
		page.Kind = trade.ReferenceKinds[0]
	}
	if !slices.Contains(trade.ReferenceKinds, page.Kind) {
		return page, errNotFound
	}
	page.Source = q.c.Desk.ReferenceSource(page.Kind)
	page.May = page.Source == "ledger" && q.login.User.Role.May(trade.Administrator)
	all, err := q.c.Ledger.Shortages(q.Context())
	if err != nil {
		return page, err
	}
	counts := map[string]int{}
	for _, s := range all {
		switch {
		case s.Code != "":
			counts[s.Kind]++
			if s.Kind == page.Kind && len(page.Missing) < missingShown {
				page.Missing = append(page.Missing, s)
			}
		case s.Kind == page.Kind:
			page.Total = &s
		}
	}
	for _, kind := range trade.ReferenceKinds {
		page.Kinds = append(page.Kinds, kindShown{kind, counts[kind], kind == page.Kind})
	}
	return page, q.lines(&page)
}

// lines finds a page of the lines in which a text stands, by code.
func (q *request) lines(page *referencePage) error {
	lines, err := q.c.Ledger.ListReferences(q.Context(), page.Kind)
	if err != nil {
		return err
	}
	text, after := strings.ToLower(page.Text), q.FormValue("after")
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
	return nil
}

// NextPath is the address of the next page.
func (p referencePage) NextPath() string {
	return "/references/" + p.Kind + "?" + url.Values{"after": {p.Next}, "text": {p.Text}}.Encode()
}

// mayChange refuses changes of what is kept elsewhere; a person is not offered them.
func (q *request) mayChange() (referencePage, error) {
	page, err := q.referencePage()
	if err == nil && !page.May {
		err = errForbidden
	}
	return page, err
}

// setReference stores one code with its id.
func setReference(q *request) error {
	page, err := q.mayChange()
	if err != nil {
		return err
	}
	page.Code, page.ID = q.PostFormValue("code"), q.PostFormValue("id")
	if page.Reason, page.Fault = q.reason(); page.Fault == "" {
		_, _, err = q.c.Desk.SetReferences(q.Context(), page.Kind, map[string]string{page.Code: page.ID}, nil,
			"refs set", q.person(page.Reason))
		var wrong *ReferenceFault
		switch {
		case errors.As(err, &wrong):
			page.Fault = "references.fault"
		case err != nil:
			return err
		default:
			q.tell("references.set")
			return q.redirect("/references/" + page.Kind)
		}
	}
	return q.page(http.StatusUnprocessableEntity, "references", page)
}

// removeReference takes one code out. Rows that need it wait from the next run on.
func removeReference(q *request) error {
	page, err := q.mayChange()
	if err != nil {
		return err
	}
	if page.Reason, page.Fault = q.reason(); page.Fault != "" {
		return q.page(http.StatusUnprocessableEntity, "references", page)
	}
	removed, err := q.c.Desk.RemoveReference(q.Context(), page.Kind, q.PostFormValue("code"), q.person(page.Reason))
	if err != nil {
		return err
	}
	q.tell("references.removed")
	if !removed {
		q.tell("references.gone")
	}
	return q.redirect("/references/" + page.Kind)
}

// exportReferences gives a table as a file. The act stands in the audit before the file leaves.
func exportReferences(q *request) error {
	kind := q.PathValue("kind")
	if !slices.Contains(trade.ReferenceKinds, kind) {
		return errNotFound
	}
	if err := q.c.People.AppendAudit(q.Context(), q.record("refs export", kind, "", "")); err != nil {
		return err
	}
	q.attach(kind+".csv", "text/csv; charset=utf-8")
	return q.c.Desk.WriteReferences(q.Context(), kind, q.w)
}

// attach begins an answer that browsers keep as a file.
func (q *request) attach(name, contentType string) {
	q.wrote = true
	q.w.Header().Set("Content-Type", contentType)
	q.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// importPage is the plan of an import.
type importPage struct {
	Kind    string
	Plan    ReferencePlan
	Added   int
	Changed int
	Shown   []trade.ReferenceChange
	Text    string // the file, for the confirmation
	Reason  string
	Fault   string
}

// planImport reads the file, or what the plan kept of it.
func (q *request) planImport(file io.Reader) (importPage, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return importPage{}, &fault{http.StatusRequestEntityTooLarge, "long", err}
	}
	page := importPage{Kind: q.PathValue("kind"), Text: string(text), Reason: q.PostFormValue("reason")}
	page.Plan, err = q.c.Desk.ReadReferences(q.Context(), page.Kind, strings.NewReader(page.Text), q.lang)
	for _, c := range page.Plan.Changes { // what is overwritten matters more than what is new
		if c.From == nil {
			page.Added++
			continue
		}
		page.Changed++
		page.Shown = append(page.Shown, c)
	}
	for _, c := range page.Plan.Changes {
		if c.From == nil {
			page.Shown = append(page.Shown, c)
		}
	}
	page.Shown = page.Shown[:min(len(page.Shown), missingShown)]
	return page, err
}

func planReferences(q *request) error {
	if _, err := q.mayChange(); err != nil {
		return err
	}
	file, _, err := q.FormFile("file")
	if err != nil {
		return badRequest("form")
	}
	defer func() { _ = file.Close() }() // it was only read
	page, err := q.planImport(file)
	if err != nil {
		return err
	}
	return q.page(http.StatusOK, "references_plan", page)
}

// importReferences imports what the plan showed, all or nothing: the file comes back with the
// confirmation and is read again.
func importReferences(q *request) error {
	if _, err := q.mayChange(); err != nil {
		return err
	}
	page, err := q.planImport(strings.NewReader(q.PostFormValue("csv")))
	if err != nil {
		return err
	}
	var reason string
	reason, page.Fault = q.reason()
	switch {
	case page.Plan.Fault != "", len(page.Plan.Bad) > 0, len(page.Plan.Changes)+page.Plan.Renamed == 0:
		return q.page(http.StatusUnprocessableEntity, "references_plan", page)
	case page.Fault == "" && (number(q.PostFormValue("added")) != int64(page.Added) ||
		number(q.PostFormValue("changed")) != int64(page.Changed)):
		page.Fault = "desk.moved"
	}
	if page.Fault != "" {
		return q.page(http.StatusUnprocessableEntity, "references_plan", page)
	}
	if _, _, err := q.c.Desk.SetReferences(q.Context(), page.Kind, page.Plan.Codes, page.Plan.Labels,
		"refs import", q.person(reason)); err != nil {
		return err
	}
	q.tell("references.imported")
	return q.redirect("/references/" + page.Kind)
}
