// The file of decisions read back, and its decisions planned as acts.

package reconcile

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// ReadDecisions reads a file that [Snapshot.Decisions] wrote and a person filled in, a workbook or
// a CSV in either language. It leaves out rows without a decision. The faults, in lang, are for
// single rows; the error is for a file that has another form, or a workbook that is larger than
// unpacked, or the context's.
func ReadDecisions(ctx context.Context, r io.Reader, unpacked int64, lang trade.Lang) ([]Decision, []WrongRow, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDecisionBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxDecisionBytes {
		return nil, nil, fmt.Errorf(sentence("is larger than %d MiB", lang), maxDecisionBytes>>20)
	}
	t := &decisionReader{ctx: ctx, lang: lang}
	if workbook.IsWorkbook(data) {
		_, err = workbook.Read(data, "", unpacked, t.row)
		switch {
		case errors.Is(err, workbook.ErrUnpacks):
			err = fmt.Errorf(sentence("is larger than %d MiB when unpacked and was not opened for that reason; split the rows into smaller files, or save it as CSV", lang), unpacked>>20)
		case errors.Is(err, workbook.ErrNoWorkbook), errors.Is(err, workbook.ErrNoSheet):
			err = errors.New(sentence("is no file of decisions: export one in the console, from Rows or To do (on the command line: `safrasync report --failed --format xlsx --output FILE`)", lang))
		}
	} else {
		err = t.csv(data)
	}
	if err == nil && t.place == nil {
		err = errors.New(sentence("is no file of decisions: export one in the console, from Rows or To do (on the command line: `safrasync report --failed --format xlsx --output FILE`)", lang))
	}
	return t.list, t.faults, err
}

type decisionReader struct {
	ctx    context.Context
	lang   trade.Lang
	place  []int // index in the file of each of decisionColumns; nil before the header
	list   []Decision
	faults []WrongRow
	seen   map[trade.ParentKey]int // line numbers, by row
}

func (t *decisionReader) fault(line int, column string, p i18n.Key, args ...any) {
	title := ""
	if column != "" {
		title = sentence(decisionColumns[decisionColumn(column)].title, t.lang)
	}
	t.faults = append(t.faults, WrongRow{line, title, i18n.Format(sentence(p, t.lang), args...)})
}

func (t *decisionReader) csv(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New(sentence(`is not UTF-8: save it as "CSV UTF-8", or use the workbook`, t.lang))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	c := csv.NewReader(bytes.NewReader(data))
	c.Comma, c.FieldsPerRecord = ';', -1
	head, _, _ := bytes.Cut(data, []byte("\n"))
	for _, separator := range "\t," {
		if !bytes.ContainsRune(head, c.Comma) && bytes.ContainsRune(head, separator) {
			c.Comma = separator
		}
	}
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New(sentence("is no file of decisions: export one in the console, from Rows or To do (on the command line: `safrasync report --failed --format xlsx --output FILE`)", t.lang))
		}
		line, _ := c.FieldPos(0)
		for i := range cells {
			cells[i] = trade.UnguardFormula(cells[i])
		}
		if err := t.row(cells, line); err != nil {
			return err
		}
	}
}

// row reads one line; the first non-empty one is the header.
func (t *decisionReader) row(cells []string, line int) error {
	switch {
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case strings.TrimSpace(strings.Join(cells, "")) == "":
		return nil
	case t.place == nil: // the columns are found by their titles, in either language and any order
		place := make([]int, len(decisionColumns))
		for i, c := range decisionColumns {
			place[i] = slices.IndexFunc(cells, func(title string) bool {
				return matchesEither(foldWord(title), c.title)
			})
			if place[i] < 0 {
				return errors.New(sentence("is no file of decisions: export one in the console, from Rows or To do (on the command line: `safrasync report --failed --format xlsx --output FILE`)", t.lang))
			}
		}
		t.place, t.seen = place, map[trade.ParentKey]int{}
		return nil
	}
	own := make([]string, len(decisionColumns))
	for i, at := range t.place {
		if at < len(cells) {
			own[i] = strings.TrimSpace(cells[at])
		}
	}
	cell := func(id string) string { return own[decisionColumn(id)] }
	if cell("decision") == "" {
		if cell("id") != "" || cell("why") != "" {
			t.fault(line, "decision", "is empty, but there is an id or a reason")
		}
		return nil
	}
	d := Decision{
		Line: line, Job: cell("job"), Key: keyOf(cell("key")), ID: cell("id"), Reason: cell("why"),
	}
	before := len(t.faults)
	typed := foldWord(cell("decision"))
	for _, act := range decisionActs {
		if typed == act || matchesEither(typed, "decision."+act) {
			d.Act = act
		}
	}
	switch {
	case d.Act == "adopt" && d.ID == "":
		t.fault(d.Line, "id", "is missing: without it the record cannot be adopted")
	case d.Act != "" && d.Act != "adopt" && d.ID != "":
		t.fault(d.Line, "id", `is only for "adopt id"`)
	case d.Act != "":
	case slices.Contains([]string{"enviar de novo", "enviar outra vez", "reenviar", "resend", "send again"}, typed):
		t.fault(d.Line, "decision", "sending again can duplicate and is not decided in bulk: check on the platform and decide in the console, row by row")
	default:
		offered := strings.Join(actWords(decisionActs, t.lang), ", ")
		t.fault(d.Line, "decision", "is not a decision; the decisions are: %s", offered)
	}
	version, err := strconv.ParseInt(cell("version"), 10, 64)
	d.Version = version
	if err != nil {
		t.fault(line, "version", "was altered; export again")
	} else {
		for _, id := range altered(own) {
			text := cell(id)
			if id != "key" {
				t.fault(line, id, "was altered, or moved from another row; export again")
				continue
			}
			// some programs replace a character that cannot be seen
			hidden := func(r rune) bool { return trade.Unseen(r) || r == utf8.RuneError }
			at := strings.IndexFunc(text, hidden)
			if at < 0 {
				t.fault(line, id, `"%s" is not the key that was exported: the row was moved, or the spreadsheet removed leading zeros; export again as .xlsx`, text)
				continue
			}
			r, _ := utf8.DecodeRuneInString(text[at:])
			t.fault(line, id, "\"%s\" has a character that cannot be seen (%s, at position %d) and that the exported key does not have; export again, and neither type nor paste into the column of the key", text, fmt.Sprintf("U+%04X", r),
				utf8.RuneCountInString(text[:at])+1)
		}
	}
	if utf8.RuneCountInString(d.Reason) < LeastReason {
		t.fault(line, "why", "is missing: write at least %d characters; it is recorded in the audit", LeastReason)
	}
	key := trade.ParentKey{Job: d.Job, Key: d.Key}
	if first := t.seen[key]; first > 0 {
		t.fault(line, "key", "already appears in line %d", first)
	}
	t.seen[key] = line
	if len(t.faults) == before {
		t.list = append(t.list, d)
	}
	return nil
}

// matchesEither reports whether a folded word is the text in one of the languages.
func matchesEither(typed string, key i18n.Key) bool {
	return typed == foldWord(sentence(key, trade.Portuguese)) || typed == foldWord(sentence(key, trade.English))
}

// Planned is a group of decisions with the same act and reason, and what the ledger would do to
// their rows.
type Planned struct {
	Plan   acts.RowPlan
	Reason string
	Lines  map[string]int // lines in the file, by key
}

// Refused is one decision that the ledger does not accept.
type Refused struct {
	Line    int
	Job     string
	Key     string
	Act     string
	Refusal acts.Refusal // acts.Moved: the row has changed since the file was made
	// it may double or hide something, so it must be decided for one row at a time
	OneByOne bool
}

// Why returns the code of the refusal.
func (r Refused) Why() string {
	if r.OneByOne {
		return "one_by_one"
	}
	return string(r.Refusal)
}

// PlanDecisions plans the decisions of a file through the same acts as the command line and the
// console. It returns refused decisions row by row; the plans have no refused steps. It plans
// nothing that may double or hide a record: no second sending, and no retry or dismissal of a row
// that the platform may have.
func PlanDecisions(ctx context.Context, people *acts.Acts, list []Decision) ([]Planned, []Refused, error) {
	var out []Planned
	var refused []Refused
	type key struct{ job, act, reason string }
	at := map[key]int{}
	var groups [][]Decision // in the order of the file; each adoption is a group of its own
	for _, d := range list {
		k := key{d.Job, d.Act, d.Reason}
		i, known := at[k]
		if d.Act == "adopt" || d.Act == "adopt-no-id" || !known {
			at[k] = len(groups)
			groups = append(groups, []Decision{d})
			continue
		}
		groups[i] = append(groups[i], d)
	}
	for _, group := range groups {
		first := group[0]
		keys := trade.Map(group, func(d Decision) string { return d.Key })
		var plan acts.RowPlan
		var err error
		switch first.Act {
		case "retry":
			plan, err = people.Retry(ctx, first.Job, keys, true) // what may double is refused by the caller
		case "dismiss":
			plan, err = people.Dismiss(ctx, first.Job, keys)
		case "acknowledge":
			plan, err = people.Acknowledge(ctx, first.Job, keys)
		default:
			adoption := acts.Adoption{ID: first.ID, NoID: first.Act == "adopt-no-id"}
			plan, err = people.Adopt(ctx, first.Job, first.Key, adoption)
		}
		if err != nil {
			return nil, nil, phrase.Errorf("line %d: %w", first.Line, err)
		}
		p := Planned{Plan: plan, Reason: first.Reason, Lines: map[string]int{}}
		p.Plan.Steps = nil
		for _, step := range plan.Steps {
			d := group[slices.IndexFunc(group, func(d Decision) bool { return d.Key == step.Key })]
			no := Refused{Line: d.Line, Job: d.Job, Key: d.Key, Act: d.Act, Refusal: step.Refused}
			switch {
			case step.Refused == acts.UnknownRow:
			case step.Before.Version != d.Version:
				no.Refusal = acts.Moved
			case step.Refused != acts.NotRefused:
			case step.MayDouble, (d.Act == "retry" || d.Act == "dismiss") &&
				!slices.Contains(acts.BulkStates(d.Act), step.Before.State):
				no.OneByOne = true
			default:
				p.Plan.Steps, p.Lines[step.Key] = append(p.Plan.Steps, step), d.Line
				continue
			}
			refused = append(refused, no)
		}
		if len(p.Plan.Steps) > 0 {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(refused, func(a, b Refused) int { return a.Line - b.Line })
	return out, refused, nil
}

// ActWord returns the name of a decision for people.
func ActWord(act string, lang trade.Lang) string { return sentence("decision."+act, lang) }

func actWords(acts []string, lang trade.Lang) []string {
	return trade.Map(acts, func(act string) string { return ActWord(act, lang) })
}
