package erptest

import (
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
)

const plain = `SELECT filial, num, situacao -- FROM x WHERE y
	FROM contrato c /* WHERE */ WHERE situacao = 'aprovado' /* só os bons */ AND del <> '*'
	AND emissao BETWEEN '2026-01-01' AND '2026-12-31' AND CASE WHEN qtd > 1 AND qtd < 99 THEN 1 ELSE 0 END = 1
	ORDER BY num; -- fim`

const joined = `SELECT c.filial, c.num, k.nome FROM contrato c
	JOIN carteira k ON k.id = c.cart AND k.nome <> '' LEFT JOIN carteira l ON l.id = c.cart
	WHERE c.situacao <> 'cancelado' AND (c.del <> '*' OR c.del IS NULL)`

const union = `SELECT filial, num FROM contrato WHERE situacao = 'aprovado' UNION ALL
	SELECT c.filial, CASE k.id WHEN 1 THEN '1-Norte' ELSE '' END FROM contrato c JOIN carteira k ON k.id = c.cart WHERE k.nome <> 'Norte'`

var exclusionCases = []struct {
	name, sql, num string
	want           string
}{
	{"it is returned", plain, "000001", "returned exists"},
	{"one condition", plain, "000002", "exists: situacao = 'aprovado'"},
	{
		"three conditions", plain, "000003",
		"exists: situacao = 'aprovado'; del <> '*'; emissao BETWEEN '2026-01-01' AND '2026-12-31'",
	},
	{"a padded key", plain, "000004", "exists: del <> '*'"},
	{"no such key", plain, "999999", "missing"},
	{"a join without partner", joined, "000005", "exists: JOIN carteira k ON k.id = c.cart AND k.nome <> ''"},
	{
		"join and condition", joined, "000006",
		"exists: JOIN carteira k ON k.id = c.cart AND k.nome <> ''; c.situacao <> 'cancelado'",
	},
	{"a condition in parentheses", joined, "000004", "exists: (c.del <> '*' OR c.del IS NULL)"},
	{"no such key in a join", joined, "999999", "missing"},
	{
		"old comma join", `SELECT c.filial, c.num FROM contrato c, carteira k WHERE k.id = c.cart AND c.del = ''`,
		"000005", "exists: k.id = c.cart",
	},
	{
		"an OR at the top is one condition", `SELECT * FROM contrato WHERE del = '' AND qtd = 99 OR situacao = 'x'`,
		"000001", "exists: del = '' AND qtd = 99 OR situacao = 'x'",
	},
	{
		"only together", `SELECT * FROM contrato WHERE situacao = 'a' AND qtd = 2`, "000007",
		"exists: situacao = 'a' AND qtd = 2",
	},
	{
		"grouped",
		`SELECT filial, num, sum(qtd) AS s FROM contrato WHERE del = '*' GROUP BY filial, num ORDER BY 1`,
		"000001", "exists: del = '*'",
	},
	{
		"subquery in a condition",
		`SELECT * FROM contrato WHERE EXISTS (SELECT 1 FROM carteira WHERE id = cart AND nome = 'Norte')`, "000005",
		"exists: EXISTS (SELECT 1 FROM carteira WHERE id = cart AND nome = 'Norte')",
	},
	{"no condition", `SELECT * FROM contrato`, "999999", "missing"},
	{
		"subquery in FROM", `SELECT * FROM (SELECT * FROM contrato WHERE del = '') x WHERE qtd > 0`, "000004",
		"cannot tell",
	},
	{
		"subquery in FROM, outer condition",
		`SELECT * FROM (SELECT * FROM contrato WHERE del = '') x WHERE qtd > 99`,
		"000001", "exists: qtd > 99",
	},
	{
		"union", `SELECT * FROM contrato WHERE del = 'x' UNION SELECT * FROM contrato WHERE del = 'y'`, "000001",
		"unknown",
	},
	{
		"a constant in a union is no row", `SELECT '01' AS filial, num FROM contrato WHERE num = '000001'
			UNION ALL SELECT '02', num FROM contrato WHERE num = '000002'`, "000002", "unknown",
	},
	{
		"a comma join in a union", `SELECT c.filial, c.num FROM contrato c, carteira k WHERE k.id = c.cart AND c.del = 'x'
			UNION ALL SELECT filial, num FROM contrato WHERE del = 'y'`, "000001", "unknown",
	},
	{
		"a comma join in a derived table",
		`SELECT x.filial, x.num FROM (SELECT c.filial, c.num FROM contrato c, carteira k WHERE k.id = c.cart AND k.id = 7) x`,
		"000001", "cannot tell",
	},
	{"a union returns it", union, "000001", "returned exists"},
	{"no query of a union has the key", union, "999999", "unknown"},
	{"CTE", `WITH x AS (SELECT * FROM contrato) SELECT * FROM x WHERE del = 'x'`, "000001", "exists: del = 'x'"},
	{"no such key in a CTE", `WITH x AS (SELECT * FROM contrato) SELECT * FROM x`, "999999", "cannot tell"},
	{
		"a join with a CTE", `WITH x AS (SELECT id FROM carteira)
			SELECT c.filial, c.num FROM contrato c JOIN x ON x.id = c.cart WHERE c.del = ''`,
		"000006", "exists: JOIN x ON x.id = c.cart",
	},
	{
		"no such key in a join with a CTE", `WITH x AS (SELECT id FROM carteira)
			SELECT c.filial, c.num FROM contrato c JOIN x ON x.id = c.cart`,
		"999999", "cannot tell",
	},
	{
		"shared SQL", `SELECT c.filial, c.num FROM contrato c JOIN melhores b ON b.id = c.cart WHERE c.del = ''`,
		"000006", "exists: JOIN melhores b ON b.id = c.cart",
	},
	{
		"shared SQL returns it", `SELECT c.filial, c.num FROM contrato c JOIN melhores b ON b.id = c.cart`,
		"000001", "returned exists",
	},
	{
		"shared SQL before an own WITH", `WITH x AS (SELECT id FROM bons)
			SELECT c.filial, c.num FROM contrato c JOIN x ON x.id = c.cart WHERE c.del = ''`,
		"000004", "exists: c.del = ''",
	},
	{
		"no such key beside a grouped join",
		`SELECT c.filial, c.num FROM contrato c LEFT JOIN (SELECT id, MIN(nome) AS n FROM carteira GROUP BY id) k ON k.id = c.cart`,
		"999999", "missing",
	},
	{
		"no such key in a subquery in FROM",
		`SELECT x.* FROM (SELECT c.* FROM contrato c JOIN carteira k ON k.id = c.cart WHERE c.del = '') x WHERE x.qtd > 0`,
		"999999", "cannot tell",
	},
	{
		"no such key in a grouped subquery in FROM",
		`SELECT x.* FROM (SELECT filial, MAX(num) AS num FROM contrato WHERE del = '' GROUP BY filial) x`,
		"999999", "cannot tell",
	},
	{
		"having", `SELECT filial, num FROM contrato WHERE del = 'x' GROUP BY filial, num HAVING sum(qtd) > 0`,
		"000001", "unknown",
	},
	{"limit", `SELECT * FROM contrato WHERE del = 'x' LIMIT 5`, "000001", "unknown"},
	{"broken", `SELECT filial, num FROM contrato WHERE nada = 1`, "000001", "unknown"},
	{"no query", `DROP TABLE contrato`, "000001", "unknown"},
}

// snippets are shared SQL that a query gets if it names it.
var snippets = []erp.Snippet{
	{Name: "bons", SQL: "SELECT id FROM carteira WHERE nome = 'Norte' -- os bons"},
	{Name: "melhores", SQL: "SELECT id FROM bons;"},
}

func exclusions(t *testing.T, e Engine) {
	statements := []string{
		`CREATE TABLE contrato (filial char(2), num varchar(10), situacao varchar(10), del varchar(1), emissao date, cart int, qtd int)`,
		`CREATE TABLE carteira (id int, nome varchar(20))`,
		`INSERT INTO carteira VALUES (1, 'Norte')`,
	}
	for _, values := range []string{
		`'01', '000001', 'aprovado', '', '2026-02-01', 1, 10`, `'01', '000002', 'rascunho', '', '2026-02-01', 1, 10`,
		`'01', '000003', 'rascunho', '*', '2025-02-01', 1, 10`,
		`'01', ' 000004 ', 'aprovado', '*', '2026-02-01', 1, 10`,
		`'01', '000005', 'aprovado', '', '2026-02-01', 9, 10`, `'01', '000006', 'cancelado', '', '2026-02-01', 9, 10`,
		`'01', '000007', 'a', '', '2026-02-01', 1, 1`, `'01', '000007', 'b', '', '2026-02-01', 1, 2`,
	} {
		statements = append(statements, "INSERT INTO contrato VALUES ("+values+")")
	}
	s, _ := e.Start(t, statements...)
	for _, c := range exclusionCases {
		q := erp.Query{SQL: erp.WithSnippets(e.Name, c.sql, snippets), Key: []string{"filial", "num"}}
		x, err := s.Explain(t.Context(), q, []string{"01", c.num})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := ShowExclusion(x); got != c.want {
			t.Errorf("%s on %s:\n got %s\nwant %s", c.name, s.Target(), got, c.want)
		}
		if len(x.Rows) > 0 && strings.TrimSpace(Text(x.Rows[0], "num")) != c.num {
			t.Errorf("%s: the row shown is %v", c.name, x.Rows[0].Values)
		}
	}
	for _, c := range cutOverCases {
		q := erp.Query{SQL: c.sql, Key: []string{"filial", "num"}}
		rows, err := s.BeforeCutOver(t.Context(), q,
			[][]string{{"01", "000001"}, {"01", "000002"}, {"01", "000003"}, {"01", "999999"}})
		if err != nil {
			t.Errorf("%s on %s: %v", c.sql, e.Name, err)
			continue
		}
		var got []string
		for _, row := range rows {
			got = append(got, strings.TrimSpace(Text(row, "num")))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s on %s: %s, want %s", c.sql, s.Target(), got, c.want)
		}
	}
	// what cannot be in a column does not keep the others from being found
	numbers, _ := e.Start(t, `CREATE TABLE ordem (num int, emissao date)`, `INSERT INTO ordem VALUES (1, '2026-05-10')`)
	rows, err := numbers.BeforeCutOver(t.Context(),
		erp.Query{SQL: `SELECT num FROM ordem WHERE emissao >= '2026-08-01'`, Key: []string{"num"}},
		[][]string{{"S/N"}, {""}, {"1.5"}, {"1"}})
	if err != nil || len(rows) != 1 {
		t.Errorf("keys of a number on %s: %d rows, %v", e.Name, len(rows), err)
	}
}

// cutOverCases are queries, and which of the keys 000001 to 000003 and of one that the ERP does not have
// only their first day leaves out.
var cutOverCases = []struct{ sql, want string }{
	{`SELECT filial, num FROM contrato WHERE num <> '000002' AND emissao >= '2026-08-01'`, "000001 000003"},
	{
		`SELECT c.filial, c.num FROM contrato c JOIN carteira k ON k.id = c.cart
		WHERE (c.emissao > '2026-08-01' OR c.emissao IS NULL)`, "000001 000002 000003",
	},
	{
		`SELECT filial, num FROM contrato WHERE num = '000001' UNION ALL
		SELECT filial, num FROM contrato WHERE num = '000003' AND emissao >= '2026-08-01'`, "",
	},
	{`SELECT filial, num FROM contrato WHERE num <> '000002'`, ""},
	{`SELECT filial, num FROM contrato WHERE emissao >= '2026-08-01' GROUP BY filial, num HAVING COUNT(*) > 0`, ""},
}
