package main

import (
	"context"
	_ "embed" // the schema of the sample ERP
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed demo/erp.sql
var demoSchema string

// demoERP is the sample ERP opened for writing, as the cooperative's own program has it. safrasync itself only ever reads it.
type demoERP struct {
	db        *sqlx.DB
	contracts []demoContract
}

// createDemoERP makes the file and fills it.
func createDemoERP(ctx context.Context, path string) (*demoERP, error) {
	db, err := sqlx.Open("sqlite", path)
	if err != nil {
		return nil, fmt.Errorf("create the sample ERP: %w", err)
	}
	db.SetMaxOpenConns(1)
	e := &demoERP{db: db, contracts: demoContracts()}
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
	for _, t := range demoTables() {
		insert := "INSERT INTO " + t.name + " VALUES (?" + strings.Repeat(", ?", len(t.rows[0])-1) + ")"
		for _, row := range t.rows {
			args := make([]any, len(row))
			for i, v := range row {
				args[i] = v
			}
			if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
				return err
			}
		}
	}
	const insert = `INSERT INTO contrato (filial, numero, tipo, produto, safra, quantidade, unidade, preco, moeda, cod_produtor, loja, cod_carteira, cod_local,
		cod_usuario, emissao, entrega_inicio, entrega_fim, modalidade, dt_pagto, forma_pagto, situacao, alterado_em)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	for _, c := range e.contracts {
		var args []any
		for _, text := range []string{
			c.Branch, c.Number, c.Type, c.Product, c.Harvest, c.Amount, c.Unit, c.Price, c.Currency, c.Producer, c.Store, c.Wallet, c.Place,
			c.User, c.Issued, c.From, c.Until, c.Modality, c.Payday, c.Payment, c.Status, c.ChangedAt,
		} {
			if text == "" {
				args = append(args, nil)
			} else {
				args = append(args, text)
			}
		}
		if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
			return err
		}
	}
	return nil
}

// demoScope is how the rows of the sample ERP are made up.
type demoScope struct {
	Rows      int // of table contrato
	Drafts    int // which the query leaves out
	Cancelled int // that were never sent
	Nameless  int // without a number
	Doubles   int // rows beyond the first with the same number
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
}

// cure corrects two contracts, adds one de-para, and changes one contract that the platform has already.
func (e *demoERP) cure(ctx context.Context) (demoCure, error) {
	payday := e.first("purchase without a payday")
	price := e.first("purchase without a price")
	altered := e.first("")
	cure := demoCure{
		Payday: payday.key(), Price: price.key(), Wallet: demoWalletNoRef, Blocked: e.count("wallet without de-para"), Altered: altered.key(),
	}
	const now = "2026-10-01 09:00:00" // later than every other change
	err := e.write(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{`UPDATE contrato SET dt_pagto = ?, alterado_em = ? WHERE filial = ? AND numero = ?`, []any{payday.sound.Payday, now, payday.Branch, payday.Number}},
			{`UPDATE contrato SET preco = ?, alterado_em = ? WHERE filial = ? AND numero = ?`, []any{price.sound.Price, now, price.Branch, price.Number}},
			{`UPDATE contrato SET preco = '1.' || preco, alterado_em = ? WHERE filial = ? AND numero = ?`, []any{now, altered.Branch, altered.Number}},
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

func (c demoContract) key() string { return c.Branch + "|" + c.Number }

// demoID is the platform's id of something: the same in each demo, and in no other place.
func demoID(kind, code string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("safrasync demo "+kind+" "+code)).String()
}

// demoTable is a small table of the sample ERP.
type demoTable struct {
	name string
	rows [][]string
}

func demoTables() []demoTable {
	first := []string{"Antônio", "Maria", "José", "Ivete", "Darci", "Neusa", "Valdir", "Irene", "Célio", "Rosane", "Arlindo", "Marli", "Otávio", "Lurdes"}
	last := []string{"Zanatta", "Ferreira", "Kunz", "Bortolini", "Moraes", "Schmitt", "Peruzzo", "Camargo"}
	producers, refs := demoTable{name: "produtor"}, demoTable{name: "de_para"}
	for i := 1; i <= demoProducers+3; i++ {
		code := fmt.Sprintf("P%03d", i)
		name := first[i%len(first)] + " " + last[(i/len(first)+3*i)%len(last)]
		producers.rows = append(producers.rows, []string{code, "01", name})
		if code != demoProducerNoRef {
			refs.rows = append(refs.rows, []string{"produtor", code, "01", demoID("produtor", code)})
		}
	}
	named := func(table, kind, letter string, names []string, without string) demoTable {
		t := demoTable{name: table}
		for i, name := range names {
			code := fmt.Sprintf(letter, i+1)
			t.rows = append(t.rows, []string{code, name})
			if kind != "" && code != without {
				refs.rows = append(refs.rows, []string{kind, code, "", demoID(kind, code)})
			}
		}
		return t
	}
	towns := []string{"Serra do Sabiá", "Rio da Várzea", "Campo do Ipê", "Três Paineiras", "Lagoa das Garças"}
	places := append(append([]string{}, "Silo Serra do Sabiá", "Silo Rio da Várzea", "Silo Campo do Ipê", "Silo Três Paineiras", "Silo Lagoa das Garças"),
		"Silo Água Nova", "Armazém do Porto")
	return []demoTable{
		named("filial", "", "%02d", towns, ""),
		producers,
		named("carteira", "carteira", "C%02d", []string{"Norte", "Sul", "Leste", "Oeste", "Serra", "Várzea", "Grandes produtores", "Consultoria externa"}, demoWalletNoRef),
		named("local_entrega", "local", "L%02d", places, demoPlaceNoRef),
		named("usuario", "usuario", "U%d", []string{"Comercial Serra", "Comercial Várzea", "Comercial Ipê"}, ""),
		refs,
	}
}

// writeDemoWorld writes what the platform knows, in the form that `safrasync sandbox --world` reads.
func writeDemoWorld(path string) error {
	world := map[string][]map[string]any{"farms": {}}
	add := func(list, name, kind, code string, known bool) {
		item := map[string]any{name: demoID(kind, code), "known": known}
		if list == "producers" {
			item["document"] = "sample " + code
		}
		world[list] = append(world[list], item)
	}
	link := func(wallet, producer string) {
		world["wallet_producer_links"] = append(world["wallet_producer_links"],
			map[string]any{"wallet_id": demoID("carteira", wallet), "producer_id": demoID("produtor", producer)})
	}
	for i := 1; i <= demoProducers; i++ {
		code := fmt.Sprintf("P%03d", i)
		add("producers", "producer_id", "produtor", code, true)
		link(demoWalletOf(i), code)
		link(demoWalletNoRef, code)
	}
	add("producers", "producer_id", "produtor", demoProducerUnknown, false)
	add("producers", "producer_id", "produtor", demoProducerNoLink, true)
	for i := 1; i <= demoWallets; i++ {
		add("wallets", "wallet_id", "carteira", fmt.Sprintf("C%02d", i), true)
	}
	add("wallets", "wallet_id", "carteira", demoWalletNoRef, true)
	add("wallets", "wallet_id", "carteira", demoWalletUnknown, false)
	for i := 1; i <= demoPlaces; i++ {
		add("delivery_places", "delivery_place_id", "local", fmt.Sprintf("L%02d", i), true)
	}
	add("delivery_places", "delivery_place_id", "local", demoPlaceNoRef, true)
	add("delivery_places", "delivery_place_id", "local", demoPlaceUnknown, false)
	for i := 1; i <= 3; i++ {
		add("users", "user_id", "usuario", fmt.Sprintf("U%d", i), true)
	}
	data, err := json.MarshalIndent(world, "", " ")
	if err != nil { // unreachable: plain data
		return fmt.Errorf("write the demo's world: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the demo's world: %w", err)
	}
	return nil
}
