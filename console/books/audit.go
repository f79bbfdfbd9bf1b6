package books

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// auditRoutes are the pages of the audit.
type auditRoutes struct {
	audit pages.Audit
}

func (p *auditRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/audit", trade.Reader, p.showAudit),
		web.Get("/audit/check", trade.Reader, p.checkAudit),
		web.Get("/audit/export", trade.Accountant, p.exportAudit),
	}
}

// auditPage is one page of audit records.
type auditPage struct {
	Query   trade.AuditQuery
	From    string // as typed in the form
	Until   string
	Records []trade.AuditRecord
	Next    int64
	Checked bool
	Proof   trade.AuditProof
	Fault   string
	Acts    []string // choices of the filter
}

// actsNamed returns the acts to choose from, by their codes.
func actsNamed() []string {
	names := i18n.Console.Names("did.")
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "_", " ")
	}
	return names
}

// address returns the filter as query parameters.
func (p auditPage) address() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{
		"who": p.Query.Who, "act": p.Query.Act, "target": p.Query.Target,
		"from": p.From, "until": p.Until,
	} {
		if text != "" {
			v.Set(name, text)
		}
	}
	return v
}

// NextPath returns the address of the next page.
func (p auditPage) NextPath() string {
	v := p.address()
	v.Set("before", strconv.FormatInt(p.Next, 10))
	return "/audit?" + v.Encode()
}

// ExportPath returns the address of the file.
func (p auditPage) ExportPath() string { return "/audit/export?" + p.address().Encode() }

// auditQuery reads the filter. Days are in the cooperative's zone, and the last day is included.
func (p *auditRoutes) auditQuery(q *web.Request) auditPage {
	page := auditPage{Acts: actsNamed(), From: q.Form.Get("from"), Until: q.Form.Get("until")}
	page.Query = trade.AuditQuery{
		Who: strings.TrimSpace(q.Form.Get("who")), Act: strings.TrimSpace(q.Form.Get("act")),
		Target: strings.TrimSpace(q.Form.Get("target")),
		Before: pages.Number(q.Form.Get("before")), Limit: pages.PageRows,
	}
	var err, late error
	page.Query.From, err = pages.ReadDay(page.From, q.Site.Zone, 0)
	if page.Query.Until, late = pages.ReadDay(page.Until, q.Site.Zone, 1); err != nil || late != nil {
		page.Fault = "audit.day"
	}
	return page
}

func (p *auditRoutes) showAudit(q *web.Request) error { return p.answer(q, p.auditQuery(q)) }

func (p *auditRoutes) answer(q *web.Request, page auditPage) error {
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "audit", page)
	}
	found, err := p.audit.AuditPage(q.Context(), page.Query)
	if err != nil {
		return err
	}
	page.Records, page.Next = found.Records, found.Next
	return q.Page(http.StatusOK, "audit", page)
}

// checkAudit verifies the whole chain of hashes.
func (p *auditRoutes) checkAudit(q *web.Request) error {
	page := p.auditQuery(q)
	var err error
	if page.Proof, err = p.audit.VerifyAudit(q.Context()); err != nil {
		return err
	}
	page.Checked = true
	return p.answer(q, page)
}

// auditFile is how many records are read at a time for an export.
const auditFile = 1000

// exportAudit returns the selected records as a file for Brazilian spreadsheets. The export is
// recorded in the audit before the file is sent.
func (p *auditRoutes) exportAudit(q *web.Request) error {
	page := p.auditQuery(q)
	if page.Fault != "" {
		return web.BadRequest("form")
	}
	if err := p.audit.AppendAudit(q.Context(), q.Record("audit export", "audit", "", "")); err != nil {
		return err
	}
	pages.Attach(q, "auditoria.csv", "text/csv; charset=utf-8")
	if _, err := q.Writer.Write([]byte("\xef\xbb\xbf")); err != nil {
		return err
	}
	v := q.Voice()
	file := csv.NewWriter(q.Writer)
	file.Comma, file.UseCRLF = ';', true
	head := []string{
		"audit.no", "desk.when", "desk.who", "audit.from", "audit.act", "audit.target", "desk.why",
		"audit.detail", "audit.hash",
	}
	for i, key := range head {
		head[i] = v.T(key)
	}
	if err := file.Write(head); err != nil {
		return err
	}
	page.Query.Limit, page.Query.Before = auditFile, 0
	for {
		found, err := p.audit.AuditPage(q.Context(), page.Query)
		if err != nil {
			return err
		}
		for _, r := range found.Records {
			cells := []string{
				strconv.FormatInt(r.Seq, 10), r.At.In(q.Site.Zone).Format("02/01/2006 15:04:05"), r.Who,
				r.From, r.Act, r.Target, r.Reason, r.Detail, r.Hash,
			}
			for i := range cells[:len(cells)-1] { // the last cell is the hash, which cannot be a formula
				cells[i] = trade.GuardFormula(trade.Visible(view.Mask(cells[i])))
			}
			if err := file.Write(cells); err != nil {
				return err
			}
		}
		if page.Query.Before = found.Next; found.Next == 0 {
			break
		}
	}
	file.Flush()
	return file.Error()
}
