package pages

import (
	"net/url"
	"slices"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// ReportShown is a report as a page shows it.
type ReportShown struct {
	*paper.Report
	Figures []ProductFigures
}

// ProductFigures are the weights and the money of one product. Contracts, deliveries and fixations
// are the same grain: they are shown beside each other, and never added up.
type ProductFigures struct {
	Product                      string
	Contracted, Delivered, Fixed Compared
	Values                       []Compared // of fixed prices, one for each currency
}

// Compared is the ERP's value beside what the platform confirmed, in kilograms or money.
type Compared struct {
	Currency  string // "" = kilograms
	ERP, Sent trade.Decimal
	Parts     []DifferencePart // of the difference; their sum is the difference
}

// DifferencePart is why a part of what the ERP has is not what the platform confirmed.
type DifferencePart struct {
	What   string // masked
	Rows   int
	Amount trade.Decimal
	Path   string // address of the list of these rows
}

// Difference returns how much of the ERP's value the platform has not confirmed.
func (c Compared) Difference() trade.Decimal { return c.ERP.Sub(c.Sent) }

// reportOf returns a copy of a report as a page shows it, with links to the rows behind its lines.
func reportOf(all *paper.Report, o reconcile.Options) *ReportShown {
	shown := *all
	shown.Sections = slices.Clone(all.Sections)
	for i := range shown.Sections {
		t := &shown.Sections[i]
		t.Rows = slices.Clone(t.Rows)
		line := slices.IndexFunc(t.Columns, func(c paper.Column) bool { return c.Lead })
		for j := range t.Rows {
			r := &t.Rows[j]
			r.Cells = slices.Clone(r.Cells)
			switch {
			case t.ID == reconcile.BridgeSection:
				r.Cells[line].Path = bridgePath(r.Names["job"], r.Names["line"])
			case t.ID == reconcile.DifferenceSection && r.Names["line"] == "state":
				r.Cells[line].Path = statePath(trade.State(r.Names["state"]), r.Names["cause"])
			}
		}
	}
	return &ReportShown{Report: &shown, Figures: figuresOf(all.Totals, all.Accounts, o)}
}

// bridgePath returns the link for a line of the bridge: the rows of the ledger or, if there are
// none, the run that reports them.
func bridgePath(job, line string) string {
	query := url.Values{"job": {job}}
	switch line {
	case string(trade.BesideNoKey):
		return "/routines?" + query.Encode()
	case string(trade.BesideDouble):
		query.Set("cause", trade.CauseDuplicateKey)
	case string(trade.BesideCancelled):
		query.Set("flag", string(trade.Cancelled))
	case "negative":
		query.Set("cause", "rule:price")
	}
	return "/rows?" + query.Encode()
}

// figuresOf returns the grain and the money of each product, the largest contracted weight first,
// with the parts of each difference.
func figuresOf(totals []reconcile.Total, accounts []reconcile.Account, o reconcile.Options) []ProductFigures {
	var out []ProductFigures
	for _, t := range totals {
		if t.By != reconcile.ByAll {
			continue
		}
		compared := func(m reconcile.Measure, currency string, erp, sent trade.Decimal) Compared {
			c := Compared{Currency: currency, ERP: erp, Sent: sent}
			i := slices.IndexFunc(accounts, func(a reconcile.Account) bool {
				return a.Product == t.Product && a.Measure == m && a.Currency == currency
			})
			if i >= 0 {
				c.Parts = partsOf(accounts[i], o)
			}
			return c
		}
		f := ProductFigures{
			Product:    t.Product,
			Contracted: compared(reconcile.Contracted, "", t.Contracted, t.ContractedSent),
			Delivered:  compared(reconcile.Delivered, "", t.Delivered, t.DeliveredSent),
			Fixed:      compared(reconcile.Fixed, "", t.Fixed, t.FixedSent),
		}
		for _, c := range t.Currencies() {
			f.Values = append(f.Values, compared(reconcile.Worth, c, t.Values[c], t.ValuesSent[c]))
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b ProductFigures) int { return b.Contracted.ERP.Cmp(a.Contracted.ERP) })
	return out
}

// partsOf returns the parts of the difference of an account, each with the list of its rows.
func partsOf(a reconcile.Account, o reconcile.Options) []DifferencePart {
	var out []DifferencePart
	for _, l := range a.States {
		if l.State != trade.Accepted {
			out = append(out, DifferencePart{
				What: trade.MaskDocuments(l.Why(o)), Rows: l.Rows, Amount: l.Amount, Path: statePath(l.State, l.Cause),
			})
		}
	}
	for _, l := range []struct {
		id, path string
		line     reconcile.AccountLine
	}{{"changed", "/changed?flag=changed", a.Changed}, {"left", "/changed?flag=missing", a.Left}} {
		if l.line.Rows > 0 {
			out = append(out, DifferencePart{
				What: reconcile.AccountWord(l.id, o.Lang), Rows: l.line.Rows,
				Amount: trade.Decimal{}.Sub(l.line.Amount), Path: l.path,
			})
		}
	}
	return out
}

// statePath returns the address of the list of the rows in a state, for a cause.
func statePath(state trade.State, cause string) string {
	query := url.Values{}
	if state != "" {
		query.Set("state", string(state))
	}
	if cause != "" {
		query.Set("cause", cause)
	}
	return "/rows?" + query.Encode()
}
