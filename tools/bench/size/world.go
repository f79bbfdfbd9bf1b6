package size

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/lib/pq"  // the driver "postgres"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// The databases that a [Database] may be.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Database is where the ERP or the ledger is.
type Database struct {
	Driver string // SQLite or Postgres
	DSN    string // a file, or a data source name
}

func (d Database) open() (*sql.DB, error) {
	dsn := d.DSN
	if d.Driver == SQLite {
		dsn = "file:" + dsn + "?_txlock=immediate"
	}
	return sql.Open(d.Driver, dsn)
}

// exec runs statements one after the other on one connection.
func (d Database) exec(ctx context.Context, statements ...string) (err error) {
	return d.on(ctx, func(c *sql.Conn) error {
		for _, s := range statements {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%w in: %s", err, strings.Join(strings.Fields(s), " "))
			}
		}
		return nil
	})
}

// on runs fn with one connection.
func (d Database) on(ctx context.Context, fn func(*sql.Conn) error) (err error) {
	db, err := d.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return fn(c)
}

// World is one trial.
type World struct {
	Binary string        // the program
	Dir    string        // a separate folder
	ERP    Database      // empty at first
	Ledger Database      // empty at first
	Rows   int           // of the ERP and the ledger
	Age    time.Duration // of the oldest row that was sent
	// rows that are older have no requests and answers any more, as after retention (which leaves
	// marks of the same length in place of the values); 0: all have them
	Bodies time.Duration
	// of a hundred rows, how many were not sent: they wait for a wallet, were refused, or lack
	// something; in addition, one in a thousand was changed after it was sent
	Stuck    int
	Attempts int // of each row; the last one created the record; 0: the rows are not sent
}

// Query reads the contracts; it is the query of the configuration.
const Query = `SELECT filial, num, produtor, carteira, tipo, produto, safra, quantidade, preco, um, emissao, entrega_ini, entrega_fim, pagamento, atualizado_em FROM contrato`

// configuration is the file of a trial. The hours are closed: nothing is sent.
const configuration = `api:
  base_url: http://127.0.0.1:9/
  api_key: ${env:SAFRASYNC_API_KEY}
erp:
  driver: %s
  dsn: "%s"
state:
  driver: %s
  dsn: "%s"
  journal: "%s"
brakes: {new_rows: 0, retyped: 0}
console: {listen: "127.0.0.1:0"}
references:
  wallets: {query: "SELECT cod, id FROM carteira", code: cod, id: id}
values:
  products: {"001": SOJA, "002": MILHO, "003": TRIGO}
jobs:
  contracts:
    sends: order_commitments
    schedule: "0 3 * * *"
    sweep: "0 3 1 1 *"
    query: %s
    key: [filial, num]
    changed_at: atualizado_em
    lookback: 1s
    hours: ["%s 00:00-00:01"]
    fields:
      amount: quantidade
      currency: {const: BRL}
      product: {column: produto, values: products}
      producer_id: produtor
      issuer_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c02}
      delivery_place_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c03}
      haverst: safra
      unit_of_measurement: {column: um, values: {SC: SC, TL: TON}}
      order_type: {column: tipo, values: {C: COMPRA}}
      order_date: {column: emissao, date: YYYYMMDD}
      wallet_id: {column: carteira, ref: wallets}
      price: preco
      initial_delivery_date: {column: entrega_ini, date: YYYYMMDD}
      end_delivery_date: {column: entrega_fim, date: YYYYMMDD}
      modality: {const: BALCAO}
      payday: {column: pagamento, date: YYYYMMDD}
      payment_type: {const: DINHEIRO}
`

// Config returns the path of the configuration, which Prepare writes.
func (w *World) Config() string { return filepath.Join(w.Dir, "config.yaml") }

// Prepare writes the configuration, creates the ERP's table and creates the ledger.
func (w *World) Prepare(ctx context.Context) error {
	closed := strings.ToLower(time.Now().AddDate(0, 0, 3).Weekday().String()[:3])
	text := fmt.Sprintf(configuration, w.ERP.Driver, w.ERP.DSN, w.Ledger.Driver, w.Ledger.DSN,
		filepath.Join(w.Dir, "journal"), Query, closed)
	if err := os.WriteFile(w.Config(), []byte(text), 0o600); err != nil {
		return err
	}
	if err := w.makeRows(ctx); err != nil {
		return err
	}
	_, err := w.Run(ctx, "state", "new")
	return err
}

// makeRows creates a table with the width of an ERP's: keys of two parts, padded codes, dates as
// text. The keys are in the order of a season, with 2,000 rows per day; the rows were changed over
// a year, the newest a day ago.
func (w *World) makeRows(ctx context.Context) error {
	statements := []string{
		`CREATE TABLE carteira (cod VARCHAR(6) PRIMARY KEY, id VARCHAR(36) NOT NULL)`,
		`CREATE TABLE contrato (filial CHAR(2) NOT NULL, num CHAR(9) NOT NULL, produtor VARCHAR(36) NOT NULL, carteira VARCHAR(6) NOT NULL, tipo CHAR(1) NOT NULL,
			produto VARCHAR(15) NOT NULL, safra VARCHAR(9) NOT NULL, quantidade NUMERIC(18,4) NOT NULL,
				preco NUMERIC(18,6) NOT NULL, um CHAR(2) NOT NULL,
			emissao CHAR(8) NOT NULL, entrega_ini CHAR(8) NOT NULL, entrega_fim CHAR(8) NOT NULL,
				pagamento CHAR(8) NOT NULL, atualizado_em TIMESTAMP NOT NULL,
			PRIMARY KEY (filial, num))`,
	}
	columns := `SELECT '0' || (i % 4 + 1), %[1]s, '1f4c9f0e-3c1b-4f5e-9d5a-' || %[2]s, '0000' || (i %% 9 + 1), 'C', '00' || (i %% 3 + 1), '2025/2026',
		(i %% 9000000 + 1) * 0.25, 100 + (i %% 400) * 0.25, CASE i %% 2 WHEN 0 THEN 'SC' ELSE 'TL' END, %[4]s, '20260601', '20260701', '20260801', %[3]s FROM `
	columns = strings.Replace(columns, "i % 4", "i %% 4", 1)
	if w.ERP.Driver == SQLite {
		statements = append([]string{`PRAGMA journal_mode = OFF`, `PRAGMA synchronous = OFF`}, append(statements,
			`INSERT INTO carteira WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT '0000' || i, '1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c0' || i FROM n`,
			fmt.Sprintf(
				`INSERT INTO contrato WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `,
				w.Rows)+
				fmt.Sprintf(columns, `printf('%09d', i)`, `printf('%012x', i % 5000)`,
					fmt.Sprintf(`datetime('now', '-1 day', '-' || ((%d - i) * 31536000 / %d) || ' seconds')`, w.Rows,
						w.Rows), `strftime('%Y%m%d', '2019-06-01', '+' || (i / 2000) || ' days')`)+`n`,
			`CREATE INDEX contrato_atualizado ON contrato (atualizado_em)`, `ANALYZE`)...)
	} else {
		statements = append(statements,
			`INSERT INTO carteira SELECT '0000' || i, '1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c0' || i FROM generate_series(1, 9) i`,
			`INSERT INTO contrato `+fmt.Sprintf(columns, `lpad(i::text, 9, '0')`, `lpad(to_hex(i % 5000), 12, '0')`,
				fmt.Sprintf(
					`date_trunc('second', localtimestamp - interval '1 day' - (%d - i) * 31536000.0 / %d * interval '1 second')`, w.Rows, w.Rows), `to_char(date '2019-06-01' + (i / 2000)::int, 'YYYYMMDD')`)+fmt.Sprintf(`generate_series(1, %d) i`, w.Rows),
			`CREATE INDEX contrato_atualizado ON contrato (atualizado_em)`, `VACUUM (ANALYZE) contrato`)
	}
	return w.ERP.exec(ctx, statements...)
}
