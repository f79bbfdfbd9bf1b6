package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// configuration is the file of a measurement: one job that stands alone, everything else as it ships.
const configuration = `api:
  base_url: %s
  api_key: ${env:BENCH_KEY}
  timeout: 30s
  max_in_flight: %d
  rate_limit: 0
  stop_after_unknown: 0
erp:
  driver: postgres
  dsn: ${env:BENCH_ERP}
  time_zone: America/Sao_Paulo
state:
  driver: %s
  dsn: ${env:BENCH_LEDGER}
  journal: %q
brakes: {new_rows: 0}
jobs:
  deliveries:
    sends: deliveries
    query: %s
    key: [filial, ticket, item]
    changed_at: atualizado_em
    fields:
      contract_id: contrato
      delivered_volume: peso_liquido
      delivered_volume_unit_of_measure: {column: um, values: {KG: kg, SC: sc, TL: ton}}
      delivery_date: {column: data_entrega, date: YYYYMMDD, empty: ["00000000"]}
      car: car
`

// program is the program under measurement, with a ledger of its own.
type program struct {
	binary, dir, config string
	env                 []string
}

// newProgram writes a configuration into a new folder. A ledger is "sqlite", or the data source name of an empty PostgreSQL database.
func newProgram(binary, dir, url, erp, ledger string, inFlight int) (*program, error) {
	for _, folder := range []string{"ledger", "journal"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			return nil, err
		}
	}
	driver := "postgres"
	if ledger == "sqlite" {
		driver, ledger = "sqlite", filepath.Join(dir, "ledger", "state.db")
	}
	p := &program{binary: binary, dir: dir, config: filepath.Join(dir, "config.yaml")}
	p.env = append(os.Environ(), "BENCH_KEY="+apiKey, "BENCH_ERP="+erp, "BENCH_LEDGER="+ledger)
	text := fmt.Sprintf(configuration, url, inFlight, driver, filepath.Join(dir, "journal"), erpQuery)
	return p, os.WriteFile(p.config, []byte(text), 0o600)
}

func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, append([]string{"--config", p.config}, args...)...)
	cmd.Env = p.env
	return cmd
}

// sync is one pass, with the log of each row that `run` writes too.
func (p *program) sync(args ...string) *exec.Cmd {
	return p.command(append([]string{"sync", "--json", "--verbose"}, args...)...)
}

// reportOf reads the report of a pass that ended well.
func reportOf(u used) (report, error) {
	var out struct {
		Runs []report `json:"runs"`
	}
	err := json.Unmarshal(u.Out, &out)
	if err != nil || u.Exit != 0 || len(out.Runs) != 1 || out.Runs[0].Stopped != nil {
		return report{}, errors.Join(fmt.Errorf("sync ended with %d: %.2000s\n%s", u.Exit, u.Out, u.Err), err)
	}
	return out.Runs[0], nil
}

// report is what is read of a pass's own report.
type report struct {
	Read    int              `json:"read"`
	New     int              `json:"new"`
	Sent    int              `json:"sent"`
	States  map[string]int   `json:"states"`
	Stopped *json.RawMessage `json:"stopped"`
}

// entry is what the ledger says of one row.
type entry struct {
	state string
	id    string
}

// inDoubt tells whether the row may be on the platform and may be not, as far as the book knows.
func (e entry) inDoubt() bool { return e.state == "in_doubt" || e.state == "sending" }

// ledger reads what the ledger says of all rows.
func (p *program) ledger(ctx context.Context) (map[int32]entry, error) {
	cmd := p.command("rows", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	entries, err := readEntries(bufio.NewScanner(out))
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return nil, fmt.Errorf("the rows of the ledger: %w", err)
	}
	return entries, ctx.Err()
}

func readEntries(lines *bufio.Scanner) (map[int32]entry, error) {
	entries := map[int32]entry{}
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Key      string `json:"key"`
			State    string `json:"state"`
			RemoteID string `json:"remote_id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, err
		}
		row, err := rowOfKey(line.Key)
		if err != nil {
			return nil, err
		}
		entries[row] = entry{line.State, line.RemoteID}
	}
	return entries, lines.Err()
}
