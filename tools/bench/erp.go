package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	_ "github.com/lib/pq" // the ERP of a measurement
)

// erpSchema is a typical table of a cooperative: some columns that are sent to the platform, and
// more that are not.
const erpSchema = `CREATE TABLE entrega (
	filial CHAR(2) NOT NULL, ticket CHAR(9) NOT NULL, item CHAR(1) NOT NULL,
	contrato VARCHAR(20) NOT NULL, peso_liquido NUMERIC(15,3) NOT NULL, um CHAR(2) NOT NULL,
		data_entrega CHAR(8) NOT NULL, car VARCHAR(60) NOT NULL,
	placa CHAR(7) NOT NULL, transportadora VARCHAR(40) NOT NULL, umidade NUMERIC(5,2) NOT NULL,
		impureza NUMERIC(5,2) NOT NULL, obs VARCHAR(200) NOT NULL,
	atualizado_em TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (filial, ticket, item))`

// erpRows inserts the rows $1 to $2, with changes ten seconds apart, the last one $3 seconds ago.
// Row n is ticket Tn of contract Cn and weighs 10,000 kg and n grams, so that each row can be
// identified. 2,000 rows were delivered per day.
const erpRows = `INSERT INTO entrega
	SELECT lpad((n % 12 + 1)::text, 2, '0'), 'T' || lpad(n::text, 8, '0'), '1', 'C' || lpad(n::text, 8, '0'),
		10000 + n / 1000.0, 'KG',
		to_char(date '2019-06-01' + (n / 2000)::int, 'YYYYMMDD'), 'MT-5107602-' || upper(md5(n::text)),
		'ABC' || lpad((n % 10000)::text, 4, '0'), 'TRANSPORTADORA ' || n % 40, 13.5, 0.8,
			repeat('carga conferida na balanca ', 3),
		now() - $3 * interval '1 second' - ($2 - n) * interval '10 seconds'
	FROM generate_series($1::bigint, $2::bigint) n`

// erpQuery is what every contestant reads.
const erpQuery = `SELECT filial, ticket, item, contrato, peso_liquido, um, data_entrega, car, atualizado_em FROM entrega`

// fillERP creates the table with this number of rows.
func fillERP(ctx context.Context, dsn string, rows int) error {
	if err := withDB(dsn, func(db *sql.DB) error { _, err := db.ExecContext(ctx, erpSchema); return err }); err != nil {
		return fmt.Errorf("the table of the ERP: %w", err)
	}
	if err := addRows(ctx, dsn, 1, rows, filledAge); err != nil {
		return err
	}
	return withDB(dsn, func(db *sql.DB) error {
		for _, statement := range []string{
			`CREATE INDEX ON entrega (atualizado_em)`, `VACUUM ANALYZE entrega`,
			`CHECKPOINT`,
		} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("the ERP: %w", err)
			}
		}
		return nil
	})
}

// filledAge is how long ago the newest row of a new ERP was changed; it leaves room for the times
// of change of the rows that are added later.
const filledAge = 90 * 24 * time.Hour

// addRows inserts rows; the last one was changed age ago.
func addRows(ctx context.Context, dsn string, first, last int, age time.Duration) error {
	err := withDB(dsn, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, erpRows, first, last, int(age.Seconds()))
		return err
	})
	if err != nil {
		return fmt.Errorf("the rows of the ERP: %w", err)
	}
	return nil
}

func withDB(dsn string, fn func(*sql.DB) error) (err error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return fn(db)
}

// body returns the body of row n, equal to that of every contestant.
func body(n int, date, car string) []byte {
	return fmt.Appendf(nil,
		`{"contract_id":"C%08d","delivered_volume":%d.%03d,"delivered_volume_unit_of_measure":"kg","delivery_date":%q,"car":%q}`,
		n, 10000+n/1000, n%1000, date, car)
}

// rowOfKey returns the number of the row with this key in the ledger: 7 of 01|T00000007|1.
func rowOfKey(key string) (int32, error) {
	parts := strings.Split(key, "|")
	if len(parts) != 3 || !strings.HasPrefix(parts[1], "T") {
		return 0, fmt.Errorf("the key %q is none of a measurement", key)
	}
	n, err := strconv.ParseInt(parts[1][1:], 10, 32)
	return int32(n), err
}
