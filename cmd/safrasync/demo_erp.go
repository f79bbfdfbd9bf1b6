package main

import (
	"context"
	_ "embed" // the schema of the sample ERP
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed demo/erp.sql
var demoSchema string

// demoERP is the sample ERP opened for writing, as the cooperative's own program has it. safrasync itself only ever reads it.
type demoERP struct {
	db        *sqlx.DB
	contracts []demoContract
	tickets   []demoTicket
	shares    []demoShare
}

// createDemoERP makes the file and fills it.
func createDemoERP(ctx context.Context, path string) (*demoERP, error) {
	db, err := sqlx.Open("sqlite", path)
	if err != nil {
		return nil, fmt.Errorf("create the sample ERP: %w", err)
	}
	db.SetMaxOpenConns(1)
	e := &demoERP{db: db, contracts: demoContracts()}
	e.tickets, e.shares = demoChildren(e.contracts)
	if err := e.write(ctx, e.fill); err != nil {
		return nil, errors.Join(fmt.Errorf("create the sample ERP: %w", err), db.Close())
	}
	return e, nil
}

func (e *demoERP) close() error { return e.db.Close() }

// write does everything of fn in one transaction.
func (e *demoERP) write(ctx context.Context, fn func(context.Context, *sqlx.Tx) error) error {
	tx, err := e.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a Commit it only says that it came too late
	if err := fn(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (e *demoERP) fill(ctx context.Context, tx *sqlx.Tx) error {
	if _, err := tx.ExecContext(ctx, demoSchema); err != nil {
		return err
	}
	for _, t := range append(demoTables(), e.rows()...) {
		insert := "INSERT INTO " + t.name + " VALUES (?" + strings.Repeat(", ?", len(t.rows[0])-1) + ")"
		for _, row := range t.rows {
			args := make([]any, len(row))
			for i, text := range row {
				if text != "" || t.name == "de_para" {
					args[i] = text
				}
			}
			if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// rows are the contracts, tickets and shares as the ERP's tables have them.
func (e *demoERP) rows() []demoTable {
	contracts, heads, lines, shares := demoTable{name: "contrato"}, demoTable{name: "romaneio"}, demoTable{name: "romaneio_item"}, demoTable{name: "rateio"}
	for i, c := range e.contracts {
		contracts.rows = append(contracts.rows, []string{
			strconv.Itoa(i + 1), c.Branch, c.Number, c.Type, c.Product, c.Harvest, c.Amount, c.Unit, c.Price, c.Currency, c.Producer, c.Store, c.Wallet, c.Place,
			c.User, c.Issued, c.From, c.Until, c.Modality, c.Payday, c.Payment, c.Status, c.ChangedAt,
		})
	}
	for _, t := range e.tickets {
		heads.rows = append(heads.rows, []string{t.Branch, t.Ticket, t.Date, t.Gross, t.Tare, t.Discount, t.CAR, t.Status, t.ChangedAt})
		for i, l := range t.Lines {
			lines.rows = append(lines.rows, []string{t.Branch, t.Ticket, strconv.Itoa(i + 1), l.Branch, l.Contract, l.Volume, l.Unit})
		}
	}
	for _, s := range e.shares {
		shares.rows = append(shares.rows, []string{s.Branch, s.Contract, s.No, s.Producer, s.Store, s.User, s.Farm, s.Volume, s.Unit, s.ChangedAt})
	}
	return []demoTable{contracts, heads, lines, shares}
}

// demoScope is how the rows of the sample ERP are made up.
type demoScope struct {
	Rows      int // of table contrato
	Drafts    int // which the query leaves out
	Cancelled int // that were never sent
	Nameless  int // without a number
	Doubles   int // rows beyond the first with the same number
	Lines     int // of weighing tickets
	Open      int // of tickets that are not closed yet
	Void      int // of tickets that were cancelled
	Shares    int
}

// scope counts the rows as the cooperative would, in SQL, independently of the engine.
func (e *demoERP) scope(ctx context.Context) (demoScope, error) {
	var s demoScope
	err := e.db.QueryRowxContext(ctx, `SELECT
		count(*),
		sum(situacao = 'RASCUNHO'),
		sum(situacao = 'CANCELADO'),
		sum(situacao = 'APROVADO' AND (filial IS NULL OR numero IS NULL)),
		sum(situacao = 'APROVADO' AND filial IS NOT NULL AND numero IS NOT NULL)
			- (SELECT count(*) FROM (SELECT DISTINCT filial, numero FROM contrato WHERE situacao = 'APROVADO' AND filial IS NOT NULL AND numero IS NOT NULL))
		FROM contrato`).Scan(&s.Rows, &s.Drafts, &s.Cancelled, &s.Nameless, &s.Doubles)
	if err == nil {
		err = e.db.QueryRowxContext(ctx, `SELECT count(*), sum(situacao = 'ABERTO'), sum(situacao = 'CANCELADO'), (SELECT count(*) FROM rateio)
			FROM romaneio JOIN romaneio_item USING (filial, ticket)`).Scan(&s.Lines, &s.Open, &s.Void, &s.Shares)
	}
	if err != nil {
		return s, fmt.Errorf("count the sample ERP: %w", err)
	}
	return s, nil
}

// demoCure is what people at the cooperative correct before the third run.
type demoCure struct {
	Payday  string // contract that gets its payday
	Price   string // contract that gets its price
	Wallet  string // wallet that gets its de-para
	Blocked int    // contracts that waited for it
	Altered string // contract that was sent already, and gets another price
	Moved   string // delivery that was sent already, and is given to another contract

	Deliveries, Shares int // rows that waited for one of these contracts
}

// cure corrects two contracts, adds one de-para, and changes one contract that the platform has already.
func (e *demoERP) cure(ctx context.Context) (demoCure, error) {
	payday := e.first("purchase without a payday")
	price := e.first("purchase without a price")
	altered := e.first("")
	cure := demoCure{
		Payday: payday.key(), Price: price.key(), Wallet: demoWalletNoRef, Blocked: e.count("wallet without de-para"), Altered: altered.key(),
		Deliveries: e.ticketsWith(demoFreed) + e.ticketsWith(demoHealed),
	}
	for _, s := range e.shares {
		if s.fault == demoFreed {
			cure.Shares++
		}
	}
	moved := e.movable(altered)
	cure.Moved = moved.key(1)
	const now = "2026-10-01 09:00:00" // later than every other change
	err := e.write(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{`UPDATE contrato SET dt_pagto = ?, alterado_em = ? WHERE filial = ? AND numero = ?`, []any{payday.sound.Payday, now, payday.Branch, payday.Number}},
			{`UPDATE contrato SET preco = ?, alterado_em = ? WHERE filial = ? AND numero = ?`, []any{price.sound.Price, now, price.Branch, price.Number}},
			{`UPDATE contrato SET preco = '1.' || preco, alterado_em = ? WHERE filial = ? AND numero = ?`, []any{now, altered.Branch, altered.Number}},
			{`UPDATE romaneio_item SET filial_contrato = ?, contrato = ? WHERE filial = ? AND ticket = ?`, []any{altered.Branch, altered.Number, moved.Branch, moved.Ticket}},
			{`UPDATE romaneio SET alterado_em = ? WHERE filial = ? AND ticket = ?`, []any{now, moved.Branch, moved.Ticket}},
			{`INSERT INTO de_para (tipo, cod, uuid) VALUES ('carteira', ?, ?)`, []any{demoWalletNoRef, demoID("carteira", demoWalletNoRef)}},
		} {
			result, err := tx.ExecContext(ctx, s.sql, s.args...)
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil || n != 1 {
				return errors.Join(fmt.Errorf("%d rows changed instead of one", n), err)
			}
		}
		return nil
	})
	if err != nil {
		return cure, fmt.Errorf("correct the sample ERP: %w", err)
	}
	return cure, nil
}

// first gives the first contract with a fault; without one, the first sound purchase in reais by the saca.
func (e *demoERP) first(fault string) demoContract {
	for _, c := range e.contracts {
		if c.fault == fault && c.Type == "CP" && (fault != "" || c.Unit == "SC" && c.Currency == "R$") {
			return c
		}
	}
	panic("demo: no contract with the fault " + fault) // unreachable: the data are the same at every start
}

func (e *demoERP) count(fault string) int {
	n := 0
	for _, c := range e.contracts {
		if c.fault == fault {
			n++
		}
	}
	return n
}

// movable gives the first sound ticket of another contract.
func (e *demoERP) movable(from demoContract) demoTicket {
	for _, t := range e.tickets {
		if t.fault == "" && t.Lines[0] != (demoLine{from.Branch, from.Number, t.Lines[0].Volume, t.Lines[0].Unit}) {
			return t
		}
	}
	panic("demo: no sound ticket") // unreachable: the data are the same at every start
}

// ticket gives the first one with a fault.
func (e *demoERP) ticket(fault string) demoTicket {
	for _, t := range e.tickets {
		if t.fault == fault {
			return t
		}
	}
	panic("demo: no ticket " + fault) // unreachable: the data are the same at every start
}

func (e *demoERP) ticketsWith(fault string) int {
	n := 0
	for _, t := range e.tickets {
		if t.fault == fault {
			n++
		}
	}
	return n
}

func (c demoContract) key() string { return c.Branch + "|" + c.Number }
