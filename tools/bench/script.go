package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// sentSchema is the book of the other contestants, in the ERP's database: the id on the platform of
// each contract.
const sentSchema = `CREATE TABLE IF NOT EXISTS enviado (contrato TEXT PRIMARY KEY, id TEXT NOT NULL)`

// unsentQuery selects what they send: the rows that are not in their book.
const unsentQuery = erpQuery +
	` e WHERE NOT EXISTS (SELECT FROM enviado v WHERE v.contrato = e.contrato) ORDER BY filial, ticket, item`

// delivery is a row as they read it. Its JSON is the body of the request.
type delivery struct {
	Contract string      `json:"contract_id"`
	Volume   json.Number `json:"delivered_volume"`
	Unit     string      `json:"delivered_volume_unit_of_measure"`
	Date     string      `json:"delivery_date"`
	Car      string      `json:"car"`
}

// runScript is the usual script: select what is not in the book, then POST one row after another
// and store its id. A row that fails is left for the next time.
func runScript(ctx context.Context, w io.Writer, url, dsn string) (err error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	began, client, failed := time.Now(), newClient(1), 0
	rows, err := db.QueryContext(ctx, unsentQuery)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		d := delivery{Unit: "kg"}
		var branch, ticket, item, unit, changed string
		if err := rows.Scan(&branch, &ticket, &item, &d.Contract, &d.Volume, &unit, &d.Date, &d.Car,
			&changed); err != nil {
			return err
		}
		d.Date = d.Date[:4] + "-" + d.Date[4:6] + "-" + d.Date[6:]
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		var answer struct {
			ID string `json:"id"`
		}
		text, err = post(ctx, client, url, text)
		if err == nil {
			err = json.Unmarshal(text, &answer)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, d.Contract, err)
			failed++
			continue
		}
		if _, err := db.ExecContext(ctx, `INSERT INTO enviado VALUES ($1, $2)`, d.Contract, answer.ID); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(told{Seconds: time.Since(began).Seconds(), CPU: cpuOfSelf()})
}

// clearBook empties the book, and removes all other data of contestants in the ERP's database.
func clearBook(ctx context.Context, dsn string) error {
	return withDB(dsn, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, sentSchema+
			`; TRUNCATE enviado; DROP SCHEMA IF EXISTS river CASCADE; CREATE SCHEMA river`)
		return err
	})
}

// The books: of those who write one, and of River, where it is the outputs of the jobs.
const (
	sentBook   = `SELECT substr(contrato, 2)::int, id FROM enviado`
	outputBook = `SELECT substr(args->>'contract_id', 2)::int, metadata->'output'->>'id' FROM river.river_job
		WHERE metadata ? 'output'`
)

// readBook reads a book in the form of a ledger.
func readBook(ctx context.Context, dsn, query string) (map[int32]entry, error) {
	book := map[int32]entry{}
	err := withDB(dsn, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var row int32
			e := entry{state: "accepted"}
			if err := rows.Scan(&row, &e.id); err != nil {
				return err
			}
			book[row] = e
		}
		return rows.Err()
	})
	return book, err
}
