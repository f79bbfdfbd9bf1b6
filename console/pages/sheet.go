package pages

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/reconcile"
)

const (
	listMost      = 50_000  // rows in a file
	decisionsMost = 10_000  // and in one of decisions, which must fit in an upload
	sheetFile     = 6 << 20 // bytes of an upload, also when it returns for confirmation
)

// exportRows returns the rows of a filter as a file.
func (p *Pages) exportRows(q *web.Request) error {
	values, err := url.ParseQuery(q.PostForm.Get("query"))
	if err != nil {
		return web.BadRequest("filter")
	}
	f, err := readFilter(values, q.Site.Zone)
	if err != nil {
		return err
	}
	format, decisions := strings.CutPrefix(q.PostForm.Get("format"), "decisoes.")
	if format != "csv" && format != "xlsx" {
		return web.BadRequest("form")
	}
	title, chips := q.Voice().T("rows.title"), p.chips(q, f) // which list it is
	for _, name := range slices.Sorted(maps.Keys(chips)) {
		title += " · " + chips[name].Text
	}
	var chosen reconcile.Selected
	f.RowQuery, chosen, err = p.office.Chosen(q.Context(), f.RowQuery)
	if err != nil {
		return err
	}
	f.After, f.Limit = "", listMost
	if decisions {
		f.Limit = decisionsMost
	}
	list, err := p.office.RowPage(q.Context(), f.RowQuery)
	switch {
	case err != nil:
		return err
	case list.Next != "":
		return web.BadRequest("rows_many")
	}
	var file bytes.Buffer // so that an error half-way can still be answered with a page
	if err := p.office.WriteRows(q.Context(), list.Rows, format, decisions, chosen, title, values.Encode(), q.Lang,
		&file, q.Person("")); err != nil {
		return err
	}
	attach(q, "documentos."+q.PostForm.Get("format"), reportForms[format])
	_, err = file.WriteTo(q.Writer)
	return err
}

// sheetPage is the plan of a file of decisions.
type sheetPage struct {
	Plan  *office.SheetPlan
	File  string // content, for the confirmation
	Fault string
}

func (p *Pages) showSheets(q *web.Request) error {
	return q.Page(http.StatusOK, "decisions", sheetPage{})
}

func (p *Pages) planSheet(q *web.Request) error {
	text, err := upload(q)
	if err != nil {
		return err
	}
	plan, err := p.office.PlanSheet(q.Context(), bytes.NewReader(text), q.Lang)
	return q.Show("decisions", sheetPage{Plan: &plan, File: base64.StdEncoding.EncodeToString(text)}, err)
}

// doSheet does what the plan showed. It skips wrong and refused lines only if the person chose
// that.
func (p *Pages) doSheet(q *web.Request) error {
	page := sheetPage{File: q.PostForm.Get("sheet")}
	text, err := base64.StdEncoding.DecodeString(page.File)
	if err != nil {
		return web.BadRequest("form")
	}
	plan, err := p.office.PlanSheet(q.Context(), bytes.NewReader(text), q.Lang)
	if err != nil {
		return err
	}
	page.Plan = &plan
	switch {
	case plan.Rows == 0:
		page.Fault = "The file contains no decision that can be carried out."
	case len(plan.Wrong)+len(plan.Refused)+plan.LeftOut > 0 && q.PostForm.Get("skip") == "":
		page.Fault = "Some rows cannot be processed: choose whether to process the others."
	case plan.Rows > typeAbove && !typedFits(q, plan.Rows):
		page.Fault = wrongCount
	}
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "decisions", page)
	}
	done, err := p.office.DoSheet(q.Context(), bytes.NewReader(text), q.PostForm.Get("mark"), q.Lang,
		q.Person(""))
	if err != nil {
		return phrase.Errorf("decisions of a file: %w", err)
	}
	if done.Moved {
		page.Plan, page.Fault = &done, planMoved
		return q.Page(http.StatusConflict, "decisions", page)
	}
	if done.Asked > 0 {
		q.SetFlash("decisions.asked", done.Done, done.Asked)
		return q.Redirect("/approvals")
	}
	return q.Done("decisions.done", "/decisions")
}
