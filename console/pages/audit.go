package pages

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// auditPage is one page of audit records.
type auditPage struct {
	Query   trade.AuditQuery
	From    string // as typed in the form
	Until   string
	Records []auditShown
	Next    int64
	Checked bool
	Proof   trade.AuditProof
	Fault   string
	Acts    []string // choices of the filter
	Logins  bool     // logins too, which are no decisions
	People  []string // who acted, to choose from
}

// auditShown is a record, with the row that it is about; the zero row: none.
type auditShown struct {
	trade.AuditRecord
	Row   trade.Entry
	Cause string       // the cause that it is about, in words; "" = none
	Owner string       // another person to whom it was given
	Until trade.Date   // until when nobody is reminded of it; zero: no day
	More  []auditShown // of the same act, before it
}

// auditFact is a field of the details of a record, before and after.
type auditFact struct{ Name, Was, Is string }

// All returns the record with those that people see as one line with it.
func (a auditShown) All() []auditShown { return append([]auditShown{a}, a.More...) }

// Facts returns the details of the record that have a name for people; the file has all of them.
func (a auditShown) Facts(v view.Voice) (out []auditFact) {
	var codes []trade.ReferenceChange
	if json.Unmarshal([]byte(a.Detail), &codes) == nil {
		shown := func(id *string) string {
			if id == nil {
				return "–"
			}
			return *id
		}
		for _, c := range codes[:min(len(codes), missingShown)] {
			out = append(out, auditFact{view.Mask(c.Code), shown(c.From), shown(c.To)})
		}
		return out
	}
	var detail map[string]any
	if json.Unmarshal([]byte(a.Detail), &detail) != nil {
		return nil
	}
	before, _ := detail["before"].(map[string]any)
	after, changed := detail["after"].(map[string]any)
	if !changed {
		after = detail
	}
	role := func(of map[string]any) string {
		name, is := of["role"].(string)
		if !is {
			return ""
		}
		return v.Role(trade.Role(name))
	}
	if was, now := role(before), role(after); was != now {
		out = append(out, auditFact{v.T("Role"), was, now})
	}
	return out
}

// auditFolded is the time before a record within which others of the same act are in its line.
const auditFolded = 10 * time.Minute

// Kind returns the de-para table that the record is about; "" = none.
func (a auditShown) Kind() string {
	kind, _, _ := strings.Cut(a.Target, " ")
	if strings.HasPrefix(a.Act, "refs ") && slices.Contains(trade.ReferenceKinds, kind) {
		return kind
	}
	return ""
}

// Job returns the job that the record is about, if it is about no row; "" = none.
func (a auditShown) Job() string {
	onJobs := []string{"pause", "resume", "release", "run now", "resync", "job move"}
	if a.Row.ID == 0 && !strings.Contains(a.Target, " ") && slices.Contains(onJobs, a.Act) {
		return a.Target
	}
	return ""
}

// address returns the filter as query parameters.
func (p auditPage) address() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{
		"who": p.Query.Who, "act": p.Query.Act, "target": p.Query.Target,
		"from": p.From, "until": p.Until, "logins": map[bool]string{true: "1"}[p.Logins],
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
func (p *Pages) auditQuery(q *web.Request) auditPage {
	page := auditPage{From: q.Form.Get("from"), Until: q.Form.Get("until")}
	page.Acts = trade.Map(i18n.Console.Names("did."), func(name string) string {
		return strings.ReplaceAll(name, "_", " ")
	})
	page.Query = trade.AuditQuery{
		Who: strings.TrimSpace(q.Form.Get("who")), Act: strings.TrimSpace(q.Form.Get("act")),
		Target: strings.TrimSpace(q.Form.Get("target")),
		Before: Number(q.Form.Get("before")), Limit: 2 * pageRows,
	}
	page.Logins = q.Form.Get("logins") == "1"
	if !page.Logins && page.Query.Act == "" {
		page.Query.Not = []string{"login", "login failed", "logout", "proof"}
	}
	var err, late error
	page.Query.From, err = readDay(page.From, q.Site.Zone, 0)
	page.Query.Until, late = readDay(page.Until, q.Site.Zone, 1)
	if err != nil || late != nil {
		page.Fault = "This is not a date. Use the calendar, or YYYY-MM-DD."
	}
	return page
}

func (p *Pages) showAudit(q *web.Request) error { return p.answer(q, p.auditQuery(q)) }

func (p *Pages) answer(q *web.Request, page auditPage) error {
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "audit", page)
	}
	found, err := p.office.AuditPage(q.Context(), page.Query)
	if err != nil {
		return err
	}
	page.Next = found.Next
	names, err := p.office.AuditNames(q.Context())
	if err != nil {
		return err
	}
	for _, who := range names { // some acts are of several together
		page.People = append(page.People, strings.Split(who, trade.Together)...)
	}
	slices.Sort(page.People)
	page.People = slices.DeleteFunc(slices.Compact(page.People),
		func(name string) bool { return name == "" || name == "?" })
	for _, r := range found.Records {
		shown := auditShown{AuditRecord: r}
		if job, key, one := strings.Cut(r.Target, " "); one && !r.Reduced && shown.Kind() == "" {
			shown.Row, err = p.office.Entry(q.Context(), job, key)
			if err != nil && !errors.Is(err, trade.ErrNotFound) {
				return err
			}
		}
		if strings.HasPrefix(r.Act, "cause ") && !r.Reduced {
			shown.Cause = p.office.CauseName(r.Target, q.Lang)
			shown.Owner, shown.Until = office.CauseOwner(r)
			if strings.EqualFold(shown.Owner, r.Who) {
				shown.Owner = ""
			} else if shown.Owner != "" {
				shown.Act = "cause give"
			}
		}
		if n := len(page.Records); n > 0 && !r.Reduced { // one more of the same is in the line of the first
			if first := &page.Records[n-1]; !first.Reduced && first.Who == r.Who && first.Act == shown.Act &&
				first.Reason == r.Reason && first.At.Sub(r.At) < auditFolded {
				first.More = append(first.More, shown)
				continue
			}
		}
		page.Records = append(page.Records, shown)
	}
	return q.Page(http.StatusOK, "audit", page)
}

// checkAudit verifies the whole chain of hashes.
func (p *Pages) checkAudit(q *web.Request) (err error) {
	page := p.auditQuery(q)
	page.Proof, err = p.office.VerifyAudit(q.Context())
	if err != nil {
		return err
	}
	page.Checked = true
	return p.answer(q, page)
}

// auditFile is how many records are read at a time for an export.
const auditFile = 1000

// exportAudit returns the selected records as a file for Brazilian spreadsheets. The export is
// recorded in the audit before the file is sent.
func (p *Pages) exportAudit(q *web.Request) error {
	page := p.auditQuery(q)
	if page.Fault != "" {
		return web.BadRequest("form")
	}
	if err := p.office.AppendAudit(q.Context(), q.Record("audit export", "audit", "")); err != nil {
		return err
	}
	attach(q, "auditoria.csv", "text/csv; charset=utf-8")
	if _, err := q.Writer.Write([]byte("\xef\xbb\xbf")); err != nil {
		return err
	}
	v := q.Voice()
	file := csv.NewWriter(q.Writer)
	file.Comma, file.UseCRLF = ';', true
	head := []string{"No.", "When", "Who", "Origin", "Action", "Target", "Reason", "Detail", "Hash"}
	if err := file.Write(trade.Map(head, func(key string) string { return v.T(key) })); err != nil {
		return err
	}
	page.Query.Limit, page.Query.Before = auditFile, 0
	for {
		found, err := p.office.AuditPage(q.Context(), page.Query)
		if err != nil {
			return err
		}
		for _, r := range found.Records {
			cells := []string{
				strconv.FormatInt(r.Seq, 10), r.At.In(q.Site.Zone).Format("02/01/2006 15:04:05"), r.Who,
				r.From, r.Act, r.Target, v.Because(r), r.Detail, r.Hash,
			}
			for i := range cells[:len(cells)-1] { // the last cell is the hash, which cannot be a formula
				cells[i] = trade.GuardFormula(trade.Visible(view.Mask(cells[i])))
			}
			if err := file.Write(cells); err != nil {
				return err
			}
		}
		page.Query.Before = found.Next
		if found.Next == 0 {
			break
		}
	}
	file.Flush()
	return file.Error()
}
