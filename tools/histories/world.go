package histories

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/trade"
)

// business is the identity of a row of the ERP, or of a record of the platform: the fields that the
// API always requires.
type business struct {
	kind     trade.Kind
	amount   int // or volume
	product  string
	typ      string // of a contract
	producer int    // of a contract
}

func (b business) String() string {
	text := strings.TrimRight(fmt.Sprintf("%d %s %s", b.amount, b.product, b.typ), " ")
	if b.producer > 0 {
		text += fmt.Sprintf(" of producer %d", b.producer)
	}
	return text
}

// line is a row of an ERP's table. A change of the line is a change of the row.
type line struct {
	id    int // of the thing that the row is about; only the judge knows it
	num   int // its number
	style int // spelling of the number, see spelled
	tail  int // what the ERP has behind the number, see tails
	business
	price     int  // an optional field; 0: none
	issuer    int  // who typed a contract
	unit      int  // in which it is typed, see units
	slip      int  // how often its amount was corrected, each time by one slip; no other content
	otherwise bool // it was typed again with something corrected
	day       int  // of its date
	hidden    bool
	cancelled bool
	parent    int // of a child: the id of its contract
	ref       any // of a child: the number of its contract, as spelled
	stamp     string
}

// spellings are the forms in which an ERP writes a number.
var spellings = []func(num int) any{
	func(num int) any { return int64(num) },
	func(num int) any { return fmt.Sprint(num) },
	func(num int) any { return fmt.Sprintf("%03d", num) },
	func(num int) any { return fmt.Sprintf("c%d", num) },
	func(num int) any { return fmt.Sprintf("C%d", num) },
	func(num int) any { return fmt.Sprintf(" %d ", num) },
}

// tails are forms of the same number that an ERP shows beside it: a blank, a hard blank, a number
// with a point.
var tails = []func(spelled any, num int) any{
	func(spelled any, _ int) any { return spelled },
	func(spelled any, _ int) any { return fmt.Sprint(spelled, " ") },
	func(spelled any, _ int) any { return fmt.Sprint(spelled, "\u00a0") },
	func(spelled any, num int) any {
		if _, isText := spelled.(string); isText {
			return spelled
		}
		return float64(num)
	},
}

func (l line) spelled() any { return tails[l.tail](spellings[l.style](l.num), l.num) }

func text(key any) string { return strings.TrimSpace(fmt.Sprint(key)) }

// world is the ERP, and the jobs that read it. The tables of the database are generated from it.
type world struct {
	setup
	db        *sqlx.DB
	contracts []line
	children  []line
	jobs      []job
	gone      []job           // were configured; nobody has moved their rows
	unmapped  map[string]bool // optional fields that are not mapped
	things    int
	names     int
	spaces    int
	copies    [2][]line        // old copies of the tables
	before    map[int]business // content of a thing before it was edited
	written   map[int]line     // each line as last written
	harvest   int              // which one the configuration says
	wallet    int              // the same
	walletOf  int              // which one the de-para says
	zone      *time.Location   // the same
	now       time.Time        // the ERP's clock
}

// job is a job of the configuration.
type job struct {
	name  string
	kind  trade.Kind
	part  int  // which contracts: 0 = all, 1 = those to be fixed, 2 = the others
	space int  // of its keys (`identity:`); 0: the common space of all jobs without one
	other bool // its keys are other ones than those of the first job: they begin with a letter
}

const schema = `CREATE TABLE contrato (pos INTEGER, num, quantidade NUMERIC, produto TEXT, tipo TEXT, preco NUMERIC, oculto INTEGER, situacao TEXT, atualizado TIMESTAMP,
		produtor TEXT, emissor TEXT, um TEXT, emissao TEXT);
	CREATE TABLE entrega (pos INTEGER, ticket, num, volume NUMERIC, car TEXT, oculto INTEGER, situacao TEXT, atualizado TIMESTAMP)`

// query returns the SELECT of a job.
func (w *world) query(j job) string {
	number := map[bool]string{false: "num", true: "row_number() OVER (ORDER BY pos) AS num"}[w.Positional]
	if j.other {
		number = "'X' || num AS num"
	}
	where := []string{"", " AND tipo = 'A_FIXAR'", " AND tipo <> 'A_FIXAR'"}[j.part]
	if j.kind == trade.OrderCommitments {
		return `SELECT ` + number +
			`, quantidade, produto, tipo, preco, '2026-05-01' AS inicio, situacao, atualizado, produtor, emissor, um, emissao FROM contrato WHERE oculto = 0` + where
	}
	number = map[bool]string{
		false: "ticket",
		true:  "row_number() OVER (PARTITION BY num ORDER BY pos) AS ticket",
	}[w.ChildPositional]
	return `SELECT ` + number + `, num, volume, car, ` + plots + ` AS fazenda, ` + cars + ` AS imovel, situacao, atualizado FROM entrega WHERE oculto = 0`
}

// What a child says of where its grain comes from, which is no part of its business: an edited
// price stands for another place.
const (
	cars = `CASE car % 2 WHEN 0 THEN 'RS-4314100-B5C72DC4EE60CAEA63367C29A80B21EA' ELSE 'RS-4314100-0A1B2C3D4E5F60718293A4B5C6D7E8F9' END`
	// not every share has a farm
	plots = `CASE car % 3 WHEN 0 THEN NULL WHEN 1 THEN '` + farmID + `' ELSE '` + secondFarmID + `' END`
)

// units are how a contract's quantity is typed, with the kilograms of one.
var units = []struct {
	name string
	per  int // of the sacks that the judge counts in
}{{"SC", 1}, {"KG", 60}}

// keyed is a line as the query of a job returns it.
type keyed struct {
	key string
	*line
}

// rows returns what the query of a job returns now.
func (w *world) rows(j job) (out []keyed) {
	lines := w.lines(j.kind)
	counted := map[any]int{} // the database counts two spellings separately
	for i := range *lines {
		l := &(*lines)[i]
		if l.hidden || j.part == 1 && l.typ != "A_FIXAR" || j.part == 2 && l.typ == "A_FIXAR" {
			continue
		}
		key := text(l.spelled())
		if j.kind == trade.OrderCommitments && w.Positional {
			key = fmt.Sprint(len(out) + 1)
		}
		if j.other {
			key = text("X" + fmt.Sprint(l.spelled()))
		}
		if j.kind != trade.OrderCommitments && w.ChildPositional {
			counted[l.ref]++
			key = fmt.Sprintf("%s|%d", text(l.ref), counted[l.ref])
		}
		out = append(out, keyed{key, l})
	}
	return out
}

func (w *world) lines(kind trade.Kind) *[]line {
	if kind == trade.OrderCommitments {
		return &w.contracts
	}
	return &w.children
}

// pick returns the table on which a step acts.
func (w *world) pick(b int) *[]line {
	if w.Child != "" && b%2 == 1 {
		return &w.children
	}
	return &w.contracts
}

// at returns a line of a table, or nil if the table is empty.
func at(lines *[]line, a int) *line {
	if len(*lines) == 0 {
		return nil
	}
	return &(*lines)[a%len(*lines)]
}

// free returns a number that no line has.
func free(lines []line) (num int) {
	for _, l := range lines {
		num = max(num, l.num)
	}
	return num + 1
}

// renumber numbers the lines of a table from 1, in their order.
func renumber(lines []line) {
	for i := range lines {
		lines[i].num = i + 1
	}
}

// thing returns a line about a new thing, with a unique content or with one of a few common
// contents.
func (w *world) thing(lines *[]line, a int) line {
	w.things++
	l := line{id: w.things, num: free(*lines), style: w.Style, price: 100 + a%3}
	if lines == &w.contracts {
		l.business = business{kind: trade.OrderCommitments, amount: 1000 + w.things, product: "SOJA", typ: types[a%2]}
		if a%3 == 0 {
			l.business = pool[a/3%len(pool)]
		}
		return l
	}
	l.style, l.ref = 1, "none"
	if c := at(&w.contracts, a); c != nil {
		l.parent, l.ref = c.id, c.spelled()
	}
	l.business = business{kind: w.Child, amount: 100*l.parent + a/2%3} // only this contract has such volumes
	return l
}

var types = []string{"A_FIXAR", "FIXACAO_DEPOSITO"}

// pool holds contents that several rows may have.
var pool = []business{
	{kind: trade.OrderCommitments, amount: 1, product: "SOJA", typ: "A_FIXAR"},
	{kind: trade.OrderCommitments, amount: 2, product: "MILHO", typ: "A_FIXAR"},
	{kind: trade.OrderCommitments, amount: 2, product: "MILHO", typ: "FIXACAO_DEPOSITO"},
}

// write writes the world to the tables of the ERP, in one transaction. A row that was changed gets
// the time of its change, unless old rows came back as they were.
func (w *world) write(t testing.TB, restored bool) {
	t.Helper()
	w.follow()
	if now := time.Now().UTC(); now.After(w.now) {
		w.now = now
	}
	w.now = w.now.Add(time.Millisecond)
	tx := w.db.MustBegin()
	defer tx.Rollback()
	tx.MustExec(`DELETE FROM contrato; DELETE FROM entrega`)
	for i := range w.contracts {
		l := w.stamped(&w.contracts[i], restored)
		tx.MustExec(`INSERT INTO contrato VALUES (?, ?, ?, ?, ?, NULLIF(?, 0), ?, ?, ?, ?, ?, ?, ?)`, i, l.spelled(),
			(l.amount+l.slip*slip)*units[l.unit].per, l.product, l.typ, l.price, l.hidden, situation(l), l.stamp,
			producers[l.producer], issuers[l.issuer], units[l.unit].name, days[l.day])
	}
	for i := range w.children {
		l := w.stamped(&w.children[i], restored)
		tx.MustExec(`INSERT INTO entrega VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, i, l.spelled(), l.ref, l.amount+l.slip*slip, l.price,
			l.hidden, situation(l), l.stamp)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// slip is more than any amount, so that the judge finds the content of a document whose amount was
// corrected: the remainder.
const slip = 100_000

// days are instants shortly before and after midnight, so that the zone decides about the day.
var days = []string{"2026-03-10T02:30:00Z", "2026-03-10T14:00:00Z", "2026-03-11T02:59:59Z", "2026-03-12T23:30:00Z"}

func situation(l *line) string {
	return map[bool]string{false: "ativo", true: "cancelado"}[l.cancelled]
}

// stamped sets the time of change of a line that differs from what was last written.
func (w *world) stamped(l *line, restored bool) *line {
	now := *l
	now.stamp = ""
	if w.Positional {
		now.num = 0 // it is in no column
	}
	if w.written[l.id] != now && !restored || l.stamp == "" {
		l.stamp = w.now.Format("2006-01-02 15:04:05.000000")
	}
	w.written[l.id] = now
	return l
}

// follow updates the children's reference when the number of their contract changes. Either they
// keep their contract and get its new number, or they keep the number, which another contract then
// has. The same happens to a child whose contract is gone.
func (w *world) follow() {
	for i := range w.children {
		c, stays := &w.children[i], false
		for _, p := range w.contracts {
			if w.Cascade && p.id == c.parent {
				c.ref, stays = p.spelled(), true
			}
		}
		for _, p := range w.contracts {
			if !stays && text(p.spelled()) == text(c.ref) {
				c.parent = p.id
			}
		}
	}
}

// String returns the tables as the queries of the jobs return them.
func (w *world) String() string {
	var b strings.Builder
	for _, j := range w.jobs {
		fmt.Fprintf(&b, "  %s:", j.name)
		for _, r := range w.rows(j) {
			fmt.Fprintf(&b, " [%s: %v", r.key, r.business)
			if r.kind != trade.OrderCommitments {
				fmt.Fprintf(&b, " of %s", text(r.ref))
			}
			if r.cancelled {
				b.WriteString(" cancelled")
			}
			b.WriteString("]")
		}
	}
	return b.String()
}
