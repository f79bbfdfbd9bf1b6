package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	_ "github.com/lib/pq"
	_ "modernc.org/sqlite"
)

const contractBody = `{"amount":%s,"producer_id":"1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01","issuer_id":"1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c02","product":"SOJA",
"delivery_place_id":"1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c03","haverst":"2025/2026","unit_of_measurement":"KG",
"order_type":"A_FIXAR","order_date":"2026-03-10",
"wallet_id":"1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c04"}`

var client = &http.Client{Timeout: 3 * time.Second}

func main() {
	erp, err := sql.Open(os.Getenv("TORTURE_ERP_DRIVER"), os.Getenv("TORTURE_ERP"))
	die(err)
	sent, err := sql.Open("sqlite", os.Getenv("TORTURE_LEDGER"))
	die(err)
	_, err = sent.Exec(`CREATE TABLE IF NOT EXISTS sent (key TEXT PRIMARY KEY, id TEXT)`)
	die(err)
	failed := send(erp, sent, "/order-commitments", `SELECT num, '', CAST(quantidade AS TEXT) FROM contrato`,
		func(_, amount string) string {
			return fmt.Sprintf(contractBody, amount)
		})
	failed += send(erp, sent, "/deliveries", `SELECT ticket, num, CAST(volume AS TEXT) FROM entrega`,
		func(contract, volume string) string {
			var id string
			if sent.QueryRow(`SELECT id FROM sent WHERE key = ?`, contract).Scan(&id) != nil {
				return ""
			}
			return fmt.Sprintf(
				`{"contract_id":%q,"delivered_volume":%s,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-10"}`, id, volume)
		})
	if failed > 0 {
		os.Exit(1)
	}
}

func send(erp, sent *sql.DB, path, query string, body func(parent, quantity string) string) (failed int) {
	rows, err := erp.Query(query)
	die(err)
	defer rows.Close()
	for rows.Next() {
		var key, parent, quantity, id string
		die(rows.Scan(&key, &parent, &quantity))
		if sent.QueryRow(`SELECT id FROM sent WHERE key = ?`, key).Scan(&id) == nil {
			continue
		}
		text := body(parent, quantity)
		if text != "" {
			id = post(path, text)
		}
		if id == "" {
			failed++
			continue
		}
		_, err := sent.Exec(`INSERT INTO sent VALUES (?, ?)`, key, id)
		die(err)
	}
	die(rows.Err())
	return failed
}

func post(path, body string) string {
	request, err := http.NewRequest(http.MethodPost, os.Getenv("TORTURE_URL")+"/api/v1/integration"+path,
		bytes.NewBufferString(body))
	die(err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", os.Getenv("TORTURE_KEY"))
	answer, err := client.Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	var created struct{ ID string }
	if answer.StatusCode >= 300 || json.NewDecoder(answer.Body).Decode(&created) != nil {
		return ""
	}
	return created.ID
}

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
