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
	"strings"
	"time"
)

// configuration is the file of a measurement: one job without parents, everything else with its
// defaults.
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
    sweep: "0 3 1 1 *"
%s    fields:
      contract_id: contrato
      delivered_volume: peso_liquido
      delivered_volume_unit_of_measure: {column: um, values: {KG: kg, SC: sc, TL: ton}}
      delivery_date: {column: data_entrega, date: YYYYMMDD, empty: ["00000000"]}
      car: car
`

// program is the program under measurement, with its own ledger.
type program struct {
	binary, dir    string
	url, erp       string
	driver, ledger string
	inFlight       int
}

// configure writes the configuration. If closed is set, the job is outside its hours: rows are
// found and not sent.
func (p *program) configure(closed bool) error {
	hours := ""
	if closed {
		hours = fmt.Sprintf("    hours: [%q]\n", strings.ToLower(time.Now().AddDate(0, 0, 3).Weekday().String()[:3])+
			" 00:00-00:01")
	}
	for _, folder := range []string{"ledger", "journal"} {
		if err := os.MkdirAll(filepath.Join(p.dir, folder), 0o700); err != nil {
			return err
		}
	}
	text := fmt.Sprintf(configuration, p.url, p.inFlight, p.driver, filepath.Join(p.dir, "journal"), erpQuery, hours)
	return os.WriteFile(filepath.Join(p.dir, "config.yaml"), []byte(text), 0o600)
}

func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, append([]string{"--config", filepath.Join(p.dir, "config.yaml")}, args...)...)
	cmd.Env = append(os.Environ(), "BENCH_KEY="+apiKey, "BENCH_ERP="+p.erp, "BENCH_LEDGER="+p.ledger)
	return cmd
}

// sync returns the command for one pass, with a log line for each row, as `run` writes it.
func (p *program) sync(args ...string) *exec.Cmd {
	return p.command(append([]string{"sync", "--json", "--verbose"}, args...)...)
}

// checkPass checks the report of a pass. For mIdle and mSweep nothing new may have been found, and
// the time in the report counts: it excludes the start of the process, and the check of ledger and
// journal.
func checkPass(u used, r *result) error {
	report, err := reportOf(u)
	if err != nil {
		return err
	}
	if r.Measure != mIdle && r.Measure != mSweep {
		return nil
	}
	r.Seconds = report.EndedAt.Sub(report.StartedAt).Seconds()
	if report.New+report.Changed+report.Sent > 0 || report.Sweep != (r.Measure == mSweep) || report.Sweep &&
		report.Unchanged != r.Rows {
		return fmt.Errorf("a pass that was to find nothing: %+v", report)
	}
	return nil
}

// reportOf returns the report of a pass. It is an error if the pass did not succeed.
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

// report holds the fields of a pass's own report that are needed.
type report struct {
	StartedAt time.Time        `json:"started_at"`
	EndedAt   time.Time        `json:"ended_at"`
	Sweep     bool             `json:"sweep"`
	New       int              `json:"new"`
	Changed   int              `json:"changed"`
	Unchanged int              `json:"unchanged"`
	Sent      int              `json:"sent"`
	Stopped   *json.RawMessage `json:"stopped"`
}

// entry is one row in the ledger.
type entry struct {
	state string
	id    string
}

// inDoubt reports whether, by the book, the row may or may not be on the platform.
func (e entry) inDoubt() bool { return e.state == "in_doubt" || e.state == "sending" }

// ledgerOf reads rows from the ledger: all of them, or those that the options of `rows` select.
func (p *program) ledgerOf(ctx context.Context, options ...string) (map[int32]entry, error) {
	cmd := p.command(append([]string{"rows", "--json"}, options...)...)
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
