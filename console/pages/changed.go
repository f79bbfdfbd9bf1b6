package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// changedPage lists what changed in the ERP, or on the platform, after rows were sent: in groups, by
// field.
type changedPage struct {
	Counts []flagCount
	Flag   trade.Flag     // only rows with this flag; "" = all
	Group  string         // only this group; "" = the first lines of each
	Rows   int            // all of them
	May    int            // of these a person may acknowledge so many
	All    int            // changes: a row may stand in several groups
	Groups []changedGroup // of all rows
	Read   []office.Sides // when the ERP was read, for each job on the page
	Jobs   []string       // these jobs
	Many   bool           // there are more than can be counted
	Next   string         // address of the next page; "" = this is the last one
	Pick   bool           // lines can be marked
}

// changedTabs are the flags of which each has a list.
var changedTabs = append(slices.Clip(trade.AcknowledgedByAct), trade.Replaced)

// flagCount is how many rows have a flag.
type flagCount struct {
	Flag trade.Flag
	Rows int
}

// changedGroup is a group with its first lines, as far as the page shows them.
type changedGroup struct {
	office.ChangedSums
	Path  string // address of all its lines
	Lines []changedLine
}

// changedLine is one line as it is shown.
type changedLine struct {
	office.ChangedLine
	Row   office.ChangedRow
	Entry trade.Entry
	Sides office.Sides // of when the three sides are
	Field *office.Field
	Unit  string         // of the numbers of the field; "" = none
	There []office.Field // where the platform has something else than was sent, and the ERP has not
}

// changedFew is how many lines of each group are shown, where all groups are.
const changedFew = 5

func (p *Pages) showChanged(q *web.Request) error {
	page := changedPage{Flag: trade.Flag(q.Form.Get("flag")), Group: q.Form.Get("group"), Pick: q.May(trade.Accountant)}
	if !slices.Contains(changedTabs, page.Flag) {
		page.Flag = ""
	}
	_, sums, err := p.office.ChangedCounts(q.Context())
	if err != nil {
		return err
	}
	for _, flag := range changedTabs {
		if sums[flag] > 0 || flag == page.Flag {
			page.Counts = append(page.Counts, flagCount{flag, sums[flag]})
		}
	}
	rows, many, err := p.office.ChangedRows(q.Context(), page.flags())
	if err != nil {
		return err
	}
	page.Many = many
	from := int(min(Number(q.Form.Get("after")), office.MaxRowsPerAct))
	if err := p.fill(q, &page, rows, from); err != nil {
		return err
	}
	for _, g := range page.Groups {
		if next := from + len(g.Lines); page.Group == g.Of.String() && next < g.Rows {
			page.Next = page.path(page.Group, next)
		}
	}
	return q.Page(http.StatusOK, "changed", page)
}

// flags returns the flags of the rows of the page.
func (p *changedPage) flags() []trade.Flag {
	if p.Flag != "" {
		return []trade.Flag{p.Flag}
	}
	return trade.AcknowledgedByAct
}

// path returns the address of the lines of a group, from one of them.
func (p *changedPage) path(group string, from int) string {
	v := url.Values{}
	if p.Flag != "" {
		v.Set("flag", string(p.Flag))
	}
	if group != "" {
		v.Set("group", group)
	}
	if from > 0 {
		v.Set("after", strconv.Itoa(from))
	}
	return "/changed?" + v.Encode()
}

// fill adds up rows, and shows the first lines of each group, the largest in money first; or of one
// group those from a place on.
func (p *Pages) fill(q *web.Request, page *changedPage, rows []office.ChangedRow, from int) error {
	page.Rows = len(rows)
	for _, row := range rows {
		if row.May {
			page.May++
		}
		page.All += len(row.Lines)
	}
	var ids []int64
	for _, sums := range office.ChangedGroups(rows) {
		group := changedGroup{ChangedSums: sums, Path: page.path(sums.Of.String(), 0)}
		for _, row := range rows {
			for _, line := range row.Lines {
				if line.Of == sums.Of && (page.Group == "" || page.Group == sums.Of.String()) {
					group.Lines = append(group.Lines, changedLine{ChangedLine: line, Row: row})
				}
			}
		}
		slices.SortStableFunc(group.Lines, func(a, b changedLine) int {
			return cmp.Or(b.Effect.Value.Abs().Cmp(a.Effect.Value.Abs()),
				b.Effect.Weight.Abs().Cmp(a.Effect.Weight.Abs()))
		})
		most := changedFew
		if page.Group != "" {
			most = pageRows
			group.Lines = group.Lines[min(from, len(group.Lines)):]
		}
		group.Lines = group.Lines[:min(most, len(group.Lines))]
		ids = append(ids, trade.Map(group.Lines, func(line changedLine) int64 { return line.Row.ID })...)
		page.Groups = append(page.Groups, group)
	}
	if len(ids) == 0 { // then the de-para need not be read
		return nil
	}
	slices.Sort(ids)
	entries, err := p.office.Entries(q.Context(), slices.Compact(ids))
	if err != nil {
		return err
	}
	sides, err := p.office.FieldsOf(q.Context(), entries)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if !slices.Contains(page.Jobs, e.Job) {
			page.Jobs, page.Read = append(page.Jobs, e.Job), append(page.Read, sides[i])
		}
	}
	for _, group := range page.Groups {
		for i := range group.Lines {
			line := &group.Lines[i]
			n := slices.IndexFunc(entries, func(e trade.Entry) bool { return e.ID == line.Row.ID })
			if n < 0 {
				continue
			}
			line.Entry, line.Sides = entries[n], sides[n]
			// TON is t
			unit := strings.TrimSuffix(strings.ToLower(string(line.Entry.Quantity.Unit)), "on")
			switch line.Of.Field {
			case "amount", "delivered_volume", "allocated_volume":
				line.Unit = unit
			case "price":
				line.Unit = trade.Symbol(line.Entry.Listing().Currency) + "/" + unit
			}
			another := func(l office.ChangedLine) bool {
				return strings.Contains(l.Of.Field, "unit") || l.Of.Field == "currency"
			}
			if slices.ContainsFunc(line.Row.Lines, another) { // what was sent had another one
				line.Unit = ""
			}
			for _, f := range line.Sides.Fields {
				f.Hide(trade.MaskColumn)
				of := office.ChangedGroup{Field: f.Name}
				if f.Name == "" {
					of.Column = strings.Join(f.Columns, ", ")
				}
				switch {
				case of == line.Of:
					if line.Now != nil && f.Now == nil { // of which the de-para alone is another one
						f.Now = line.Now
					}
					line.Now, line.Field = f.Now, &f
				case f.Apart && !f.Differs && !f.Secret && line.Of == line.Row.Lines[0].Of:
					line.There = append(line.There, f)
				}
			}
		}
	}
	return nil
}

// every is the value of a mark on all rows of the list, whatever has changed in them.
const every = "*"

// chooseChanged chooses the rows that a form marks in the list of changes: one by one, by group, or all
// of the list.
func (p *Pages) chooseChanged(q *web.Request, page *actPage) error {
	form, list := q.Form, &changedPage{Flag: trade.Flag(q.Form.Get("flag"))}
	if list.Flag != "" && !slices.Contains(trade.AcknowledgedByAct, list.Flag) {
		return web.BadRequest("form")
	}
	page.Hidden = url.Values{"row": form["row"], "group": form["group"], "flag": form["flag"]}
	page.Back, page.Changes, page.Several = "/changed", list, true
	rows, _, err := p.office.ChangedRows(q.Context(), list.flags())
	if err != nil {
		return err
	}
	also, keys := 0, map[string][]string{}
	page.versions = map[trade.ParentKey]int64{}
	for _, row := range rows {
		marked := slices.Contains(form["group"], every) || slices.Contains(form["row"], strconv.FormatInt(row.ID, 10))
		other := false
		for _, line := range row.Lines {
			in := slices.Contains(form["group"], line.Of.String())
			marked, other = marked || in, other || !in
		}
		if !marked || !row.May {
			continue
		}
		if len(form["group"]) > 0 && other && !slices.Contains(form["group"], every) {
			also++
		}
		page.changed, keys[row.Job] = append(page.changed, row), append(keys[row.Job], row.Key)
		page.versions[trade.ParentKey{Job: row.Job, Key: row.Key}] = row.Version
	}
	if also > 0 {
		page.Notes = append(page.Notes, q.Voice().T("changed.also", q.Voice().Documents(also)))
	}
	page.Orders = p.office.OrdersOf(acts.ActAcknowledge, false, keys)
	return nil
}
