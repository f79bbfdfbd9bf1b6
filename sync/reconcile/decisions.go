// The file of rows about which people decide in a spreadsheet.

package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// Form is the format of a file of decisions.
type Form string

// The formats.
const (
	Workbook Form = "xlsx"
	Commas   Form = "csv"
)

// decisionActs are the decisions that a person may write into the file, in the order of the
// drop-down list. Resend is not among them: it may create a second record, and is decided row by
// row.
var decisionActs = []string{"retry", "dismiss", "adopt", "adopt-no-id", "acknowledge"}

// decisionColumns are the columns of the file. People fill in the last three visible ones; the
// columns after those are hidden.
var decisionColumns = columnsOf(TextColumn.of("title"), CodeColumn.of("show", "key"),
	TextColumn.of("day"), CodeColumn.of("product", "producer"),
	TextColumn.of("kg", "state", "reason", "who", "where", "do", "again", "allowed", "decision"),
	CodeColumn.of("id"), TextColumn.of("why"), CodeColumn.of("decision.job", "version", "check"))

// hiddenFrom is the first hidden column.
const hiddenFrom = "job"

func decisionColumn(id string) int {
	return slices.IndexFunc(decisionColumns, func(c column) bool { return c.id == id })
}

// allowed returns the decisions that may be taken for a row. Whether the ledger accepts one is
// checked when the file is read.
func allowed(r *Row) []string {
	switch r.State {
	case trade.Rejected:
		// the refusal was in no form of the API: an earlier step may have happened
		if r.Entry().Weak() {
			return []string{"dismiss"}
		}
		return []string{"retry", "dismiss"}
	case trade.Invalid:
		return []string{"dismiss"}
	// dismissing it would hide that it may exist, so that is decided for one row at a time
	case trade.InDoubt:
		return adoptable(r)
	case trade.Held:
		return append([]string{"dismiss"}, adoptable(r)...)
	case trade.Accepted:
		if slices.ContainsFunc(r.Flags,
			func(f trade.Flag) bool { return slices.Contains(trade.AcknowledgedByAct, f) }) {
			return []string{"acknowledge"}
		}
	}
	return nil
}

func adoptable(r *Row) []string {
	if r.Sends == trade.OrderCommitments {
		return []string{"adopt"}
	}
	return []string{"adopt", "adopt-no-id"}
}

// Decisions writes rows into a file that people fill in and [ReadDecisions] reads: those with these ids, also if
// nothing can be decided about them; nil: those that need a decision.
func (s *Snapshot) Decisions(o Options, form Form, only []int64, to io.Writer) error {
	p := &printer{Snapshot: s, Options: o}
	out, err := newDecisionFile(form, to, o.Lang)
	if err != nil {
		return err
	}
	err = s.rows.each("", true, only, func(r *Row) error {
		acts := allowed(r)
		if only == nil && (len(acts) == 0 || r.After || r.Moved || !o.Filter.Match(r)) {
			return nil
		}
		reason, _ := p.reason(r)
		a := trade.ExplainEntry(r.Entry(), p.Lang)
		if r.State == trade.Accepted {
			for _, f := range r.Flags {
				if slices.Contains(trade.AcknowledgedByAct, f) {
					a = trade.ExplainFlag(f, p.Lang)
					reason = a.What
				}
			}
		}
		words := actWords(acts, p.Lang)
		kg := ""
		if weight, ok := r.ERP.Kilograms(); ok {
			kg = decimalText(weight, p.Lang)
		}
		cells := []string{
			p.Titles.Of(r.Job), r.Show.Masked().Line(),
			keyCell(r.Key), dayText(r.Day, p.Lang), r.Product, r.Producer, kg, p.stateLabel(r).Text,
			inWords(reason, p.Lang),
			a.Who, i18n.InBrowser(p.Lang, a.Where),
			inWords(a.Do, p.Lang), a.Again.Label(p.Lang), strings.Join(words, ", "),
			"", "", "", r.Job, strconv.FormatInt(r.Version, 10), "",
		}
		for i, c := range decisionColumns {
			if c.id != "key" { // only the key names the row when the file is read
				cells[i] = trade.MaskDocuments(cells[i])
			}
		}
		cells[len(cells)-1] = decisionCheck(cells)
		return out.Row(cells)
	})
	return errors.Join(err, out.Close())
}

// keyCell returns a key with its characters that cannot be seen as \u{202E}: a spreadsheet would lose
// them. No key has this text itself, as a \ in a part is written \\.
func keyCell(key string) string {
	for _, r := range key {
		if trade.Unseen(r) {
			key = strings.ReplaceAll(key, string(r), fmt.Sprintf(`\u{%X}`, r))
		}
	}
	return key
}

var unseenRune = regexp.MustCompile(`\\u\{([0-9A-F]{1,6})\}|\\.`)

// keyOf returns the key of a cell that keyCell wrote.
func keyOf(cell string) string {
	return unseenRune.ReplaceAllStringFunc(cell, func(found string) string {
		m := unseenRune.FindStringSubmatch(found)
		n, err := strconv.ParseInt(m[1], 16, 32)
		if err != nil { // \\ or \|
			return found
		}
		return string(rune(n))
	})
}

// typedCommand matches a command that an advice tells people to type.
var typedCommand = regexp.MustCompile("`safrasync ([a-z]+)[^`]*`")

// inWords replaces the commands of an advice by the words of the sheet, else by the names of the
// console's buttons and pages: whoever fills it in has no command line.
func inWords(advice string, lang trade.Lang) string {
	advice = typedCommand.ReplaceAllStringFunc(advice, func(found string) string {
		act := "decision." + typedCommand.FindStringSubmatch(found)[1]
		// what the sheet retries was not created; what is held goes as a second document
		if word := i18n.Report.Find(lang, act); word != "" && !strings.Contains(found, "--checked") {
			return "“" + word + "”"
		}
		named := i18n.InBrowser(lang, found)
		if strings.HasPrefix(named, "“") {
			named += sentence(" in the console", lang)
		}
		return named
	})
	return i18n.InBrowser(lang, advice)
}

// checkedColumns are the columns that identify a row and the reason why it is in the file.
var checkedColumns = []string{"job", "key", "product", "producer", "state", "reason", "version"}

// checkSize is how many characters of the check belong to one column.
const checkSize = 4

// decisionCheck returns a short hash of each cell that identifies the row, so that a cell that was
// changed, or sorted apart from its row, is detected and can be named. Changes that spreadsheets
// make by themselves (blanks, leading zeros) are ignored, except in the key: 0900 and 900 are two
// rows.
func decisionCheck(cells []string) string {
	out := "v2-"
	for _, id := range checkedColumns {
		cell := cells[decisionColumn(id)]
		if id != "key" {
			cell = strings.Join(strings.Fields(norm.NFC.String(cell)), " ")
			if strings.Trim(cell, "0123456789") == "" {
				cell = strings.TrimLeft(cell, "0")
			}
		}
		sum := sha256.Sum256([]byte(id + "\x00" + cell))
		out += hex.EncodeToString(sum[:])[:checkSize]
	}
	return out
}

// altered returns the columns whose cells do not match the check; "check" if the check itself is
// invalid.
func altered(cells []string) []string {
	have, want := cells[decisionColumn("check")], decisionCheck(cells)
	if len(have) != len(want) || have[:3] != want[:3] {
		return []string{"check"}
	}
	var out []string
	for i, id := range checkedColumns {
		if at := 3 + i*checkSize; have[at:at+checkSize] != want[at:at+checkSize] {
			out = append(out, id)
		}
	}
	return out
}

// foldWord normalizes what a person typed: lower case, without accents and repeated blanks.
func foldWord(text string) string {
	text = norm.NFD.String(strings.ToLower(strings.Join(strings.Fields(text), " ")))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
}

// newDecisionFile begins the file in one of the formats.
func newDecisionFile(form Form, to io.Writer, lang trade.Lang) (workbook.List, error) {
	spec := workbook.ListForm{Name: sentence("Decisions", lang), Hidden: decisionColumn(hiddenFrom)}
	for i, c := range decisionColumns {
		spec.Columns = append(spec.Columns, workbook.ListColumn{
			Title: sentence(c.title, lang),
			Wide:  slices.Contains([]string{"reason", "where", "do", "again", "allowed", "why", "id"}, c.id),
			Fill:  slices.Contains([]string{"decision", "id", "why"}, c.id),
		})
		if c.id == "decision" {
			spec.Columns[i].Offers = actWords(decisionActs, lang)
		}
	}
	if form == Workbook {
		return workbook.NewList(to, spec)
	}
	return workbook.NewCSV(to, spec)
}

// WrongRow is what is wrong in one row of a file of decisions.
type WrongRow struct {
	Line   int    // in the file, from 1
	Column string // its title; "" = the whole row
	Text   string
}

// Decision is one row in which a decision was entered.
type Decision struct {
	Line    int
	Job     string
	Key     string
	Version int64
	Act     string // retry, dismiss, acknowledge, adopt, adopt-no-id
	ID      string
	Reason  string
}

// LeastReason is the smallest number of characters in a reason.
const LeastReason = 5

// maxDecisionBytes is the largest size of a file of decisions.
const maxDecisionBytes = 256 << 20
