package reconcile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/safrasync/safrasync/trade"
)

// maxUnpacked bounds what a workbook may unpack to.
const maxUnpacked = 256 << 20

var errNoDecisions = phrase{
	"não é um arquivo de decisões: `safrasync report --failed --format xlsx --output ARQUIVO` faz um",
	"is no file of decisions: `safrasync report --failed --format xlsx --output FILE` makes one",
}

// ReadDecisions reads a file that [Snapshot.Decisions] wrote and a person filled in, a workbook or CSV in either language. Rows without a decision are left out. Faults say what is
// wrong with single rows, in lang; the error is for a file that is none of ours.
func ReadDecisions(r io.Reader, lang trade.Lang) ([]Decision, []Fault, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDecisionBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxDecisionBytes {
		return nil, nil, fmt.Errorf((phrase{"tem mais de %d MiB", "is larger than %d MiB"}).in(lang), maxDecisionBytes>>20)
	}
	t := &decisionReader{lang: lang}
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) { // a workbook is a ZIP
		err = t.workbook(data)
	} else {
		err = t.csv(data)
	}
	if err == nil && t.place == nil {
		err = errors.New(errNoDecisions.in(lang))
	}
	return t.list, t.faults, err
}

type decisionReader struct {
	lang   trade.Lang
	place  []int // of each of decisionColumns in the file; nil before the header
	list   []Decision
	faults []Fault
	seen   map[trade.ParentKey]int // lines by row
}

func (t *decisionReader) fault(line int, column string, p phrase, args ...any) {
	title := ""
	if column != "" {
		title = decisionColumns[decisionColumn(column)].title.in(t.lang)
	}
	t.faults = append(t.faults, Fault{line, title, fmt.Sprintf(p.in(t.lang), args...)})
}

func (t *decisionReader) workbook(data []byte) error {
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{UnzipSizeLimit: maxUnpacked, RawCellValue: true})
	if err != nil {
		return errors.New(errNoDecisions.in(t.lang)) // its own text may quote the file
	}
	defer func() { _ = book.Close() }()
	rows, err := book.Rows(book.GetSheetName(0))
	if err != nil {
		return errors.New(errNoDecisions.in(t.lang))
	}
	defer func() { _ = rows.Close() }()
	for line := 1; rows.Next(); line++ {
		cells, err := rows.Columns()
		if err != nil {
			return errors.New(errNoDecisions.in(t.lang))
		}
		if err := t.row(cells, line); err != nil {
			return err
		}
	}
	return nil
}

func (t *decisionReader) csv(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New((phrase{"não está em UTF-8: salve como «CSV UTF-8», ou use a planilha xlsx", "is not UTF-8: save it as \"CSV UTF-8\", or use the workbook"}).in(t.lang))
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
			return errors.New(errNoDecisions.in(t.lang))
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

// row takes one line; the first one with something in it is the header.
func (t *decisionReader) row(cells []string, line int) error {
	switch {
	case strings.TrimSpace(strings.Join(cells, "")) == "":
		return nil
	case t.place == nil:
		return t.header(cells)
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
			t.fault(line, "decision", phrase{"está vazia, mas há id ou motivo", "is empty, but there is an id or a reason"})
		}
		return nil
	}
	d := Decision{Line: line, Job: cell("job"), Key: cell("key"), ID: cell("id"), Reason: cell("why"), cells: own}
	before := len(t.faults)
	t.decision(&d, cell("decision"))
	version, err := strconv.ParseInt(cell("version"), 10, 64)
	if d.Version = version; err != nil {
		t.fault(line, "version", phrase{"foi alterada; exporte de novo", "was altered; export again"})
	} else {
		for _, id := range altered(own) {
			t.fault(line, id, phrase{"foi alterada, ou trocada de lugar com outra linha; exporte de novo", "was altered, or moved from another row; export again"})
		}
	}
	if utf8.RuneCountInString(d.Reason) < LeastReason {
		t.fault(line, "why", phrase{"falta: escreva ao menos %d letras; fica na auditoria", "is missing: write at least %d letters; the audit keeps it"}, LeastReason)
	}
	key := trade.ParentKey{Job: d.Job, Key: d.Key}
	if first := t.seen[key]; first > 0 {
		t.fault(line, "key", phrase{"já está na linha %d", "stands in line %d already"}, first)
	}
	t.seen[key] = line
	if len(t.faults) == before {
		t.list = append(t.list, d)
	}
	return nil
}

// decision reads what was decided.
func (t *decisionReader) decision(d *Decision, text string) {
	typed := foldWord(text)
	for act, words := range decisionWords {
		if typed == foldWord(words.pt) || typed == foldWord(words.en) || typed == act {
			d.Act = act
		}
	}
	switch {
	case d.Act == "adopt" && d.ID == "":
		t.fault(d.Line, "id", phrase{"falta: sem ele o registro não pode ser confirmado", "is missing: without it the record cannot be adopted"})
	case d.Act != "" && d.Act != "adopt" && d.ID != "":
		t.fault(d.Line, "id", phrase{"só se usa com «confirmar id»", "goes with \"adopt id\" only"})
	case d.Act != "":
	case slices.Contains([]string{"enviar outra vez", "reenviar", "resend", "send again"}, typed):
		t.fault(d.Line, "decision", phrase{
			"enviar outra vez pode duplicar e não se decide em lote: confira na plataforma e use `safrasync resend`, linha por linha",
			"sending again may double and is not decided in bulk: look on the platform and use `safrasync resend`, row by row",
		})
	default:
		var offered []string
		for _, act := range decisionActs {
			offered = append(offered, decisionWords[act].in(t.lang))
		}
		t.fault(d.Line, "decision", phrase{"não é uma decisão; há: %s", "is no decision; there are: %s"}, strings.Join(offered, ", "))
	}
}

// header finds the columns by their titles, in either language and any order.
func (t *decisionReader) header(cells []string) error {
	place := make([]int, len(decisionColumns))
	for i, c := range decisionColumns {
		place[i] = slices.IndexFunc(cells, func(title string) bool {
			typed := foldWord(title)
			return typed == foldWord(c.title.pt) || typed == foldWord(c.title.en)
		})
		if place[i] < 0 {
			return errors.New(errNoDecisions.in(t.lang))
		}
	}
	t.place, t.seen = place, map[trade.ParentKey]int{}
	return nil
}
