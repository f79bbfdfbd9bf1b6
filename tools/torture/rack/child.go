package rack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// child is the program under trial.
type child struct {
	binary, config string
	script         string // runs in place of a pass
	env            []string
	log            io.Writer
	errors         bytes.Buffer // standard error of the last command
}

// configuration is the file of a trial: two jobs, an open world, times as short as the
// configuration allows.
const configuration = `api:
  base_url: %s
  api_key: ${env:TORTURE_KEY}
  timeout: %s
  max_in_flight: %d
  rate_limit: 0
  quarantine: %s
  stop_after_unknown: 0
erp:
  driver: %s
  dsn: ${env:TORTURE_ERP}
  time_zone: UTC
state:
  driver: %s
  dsn: ${env:TORTURE_LEDGER}
  journal: %q
  witness: %q
brakes: {new_rows: 0, retyped: 0}
jobs:
  contracts:
    sends: order_commitments
    query: SELECT num, produtor, quantidade, atualizado FROM contrato
    key: num
    changed_at: atualizado
    fields:
      amount: quantidade
      producer_id: produtor
      issuer_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c02}
      product: {const: SOJA}
      delivery_place_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c03}
      haverst: {const: 2025/2026}
      unit_of_measurement: {const: KG}
      order_type: {const: A_FIXAR}
      order_date: {const: "2026-03-10"}
      wallet_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c04}
  deliveries:
    sends: deliveries
    query: SELECT ticket, num, volume, atualizado FROM entrega
    key: ticket
    changed_at: atualizado
    fields:
      contract_id: {column: num, sent_by: contracts}
      delivered_volume: volume
      delivered_volume_unit_of_measure: {const: kg}
      delivery_date: {const: "2026-05-10"}
`

// Configuration returns the configuration file of a program that sends to the platform at url and
// keeps its journal in a folder.
func (o Options) Configuration(url, journal string) string {
	return fmt.Sprintf(configuration, url, requestTimeout, o.MaxInFlight, quarantine, o.ERP.Driver,
		o.Ledger.Driver, journal, filepath.Join(filepath.Dir(journal), "witness"))
}

// newChild writes the configuration and creates the ledger.
func newChild(ctx context.Context, opts Options, url string) (*child, error) {
	c := &child{binary: opts.Binary, script: opts.Script, config: filepath.Join(opts.Dir, "config.yaml"), log: opts.Log}
	for _, folder := range []string{"ledger", "journal", "witness"} {
		if err := os.MkdirAll(filepath.Join(opts.Dir, folder), 0o700); err != nil {
			return nil, err
		}
	}
	text := opts.Configuration(url, filepath.Join(opts.Dir, "journal"))
	c.env = append(os.Environ(), "TORTURE_KEY="+APIKey, "TORTURE_ERP="+opts.ERP.DSN, "TORTURE_LEDGER="+opts.Ledger.DSN,
		"TORTURE_URL="+url, "TORTURE_ERP_DRIVER="+opts.ERP.Driver)
	if err := os.WriteFile(c.config, []byte(text), 0o600); err != nil || c.script != "" {
		return c, err
	}
	if err := c.command(ctx, "state", "new").Run(); err != nil {
		return nil, fmt.Errorf("beginning the ledger: %w: %s", err, c.last())
	}
	return c, nil
}

func (c *child) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary, append([]string{"--config", c.config}, args...)...)
	cmd.Env = c.env
	c.errors.Reset()
	cmd.Stderr = &c.errors
	if c.log != nil {
		cmd.Stderr = io.MultiWriter(&c.errors, c.log)
	}
	return cmd
}

// pass returns the command for one pass of the program under trial.
func (c *child) pass(ctx context.Context) *exec.Cmd {
	if c.script == "" {
		return c.command(ctx, "sync", "--json")
	}
	cmd := exec.CommandContext(ctx, c.script)
	cmd.Env = c.env
	return cmd
}

// last returns what the last command wrote to standard error.
func (c *child) last() string { return strings.TrimSpace(c.errors.String()) }

// death defines when a pass is killed: when something happens, or after a limit.
type death struct {
	when  <-chan struct{} // nil = nothing to wait for
	limit time.Duration
}

// life starts one pass of the program and kills it as d defines. A pass that ends before that is
// not killed.
func (c *child) life(ctx context.Context, d death) (killed bool, err error) {
	cmd := c.pass(ctx)
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("starting the program: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	limit := time.NewTimer(d.limit)
	defer limit.Stop()
	select {
	case err := <-ended:
		return false, c.judgeEnd(err)
	case <-d.when:
	case <-limit.C:
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, fmt.Errorf("killing the program: %w", err)
	}
	err = <-ended
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return true, nil
	}
	return false, c.judgeEnd(err)
}

// judgeEnd accepts the exit codes that a pass may have while everything fails: 0 (done), 1
// (failed), 75 (another process has the lease).
func (c *child) judgeEnd(err error) error {
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 75) {
		return nil
	}
	return fmt.Errorf("the program ended as it never should: %w (%s)", err, c.last())
}

// Settle runs passes until there is nothing more to do.
func (c *child) Settle(ctx context.Context) error {
	quiet, last := 0, ""
	for range 200 {
		var out struct {
			Runs []struct {
				Sent    int              `json:"sent"`
				New     int              `json:"new"`
				Stopped *json.RawMessage `json:"stopped"`
			} `json:"runs"`
		}
		text, err := c.command(ctx, "sync", "--sweep", "--json").Output()
		if err := c.judgeEnd(err); err != nil {
			return err
		}
		var exit *exec.ExitError
		// a job's lease still belongs to a process that has just been killed
		elsewhere := errors.As(err, &exit) && exit.ExitCode() == 75
		last = string(bytes.TrimSpace(text))
		if err := json.Unmarshal([]byte(last), &out); err != nil {
			return fmt.Errorf("the summary of a pass: %w: %s", err, last)
		}
		quiet++
		if elsewhere {
			quiet = 0
		}
		for _, r := range out.Runs {
			if r.Sent+r.New > 0 || r.Stopped != nil {
				quiet = 0
			}
		}
		if quiet == 2 {
			left, err := c.Count(ctx, "pending")
			if err != nil || left == 0 {
				return err
			}
			quiet = 0
		}
		time.Sleep(200 * time.Millisecond)
	}
	return fmt.Errorf("the program does not come to rest although nothing fails any more: %s", last)
}

// Count reports how many entries of all jobs are in a state.
func (c *child) Count(ctx context.Context, state string) (int, error) {
	n := 0
	if c.script != "" {
		return 0, nil
	}
	err := c.Lines(ctx, func(line []byte) error {
		var job struct {
			States map[string]int `json:"states"`
		}
		err := json.Unmarshal(line, &job)
		n += job.States[state]
		return err
	}, "status", "--json")
	return n, err
}

// Lines runs a command that prints one JSON object per line, and calls fn for each.
func (c *child) Lines(ctx context.Context, fn func([]byte) error, args ...string) error {
	cmd := c.command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		if err := fn(scanner.Bytes()); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", args[0], err), cmd.Wait())
		}
	}
	if err := errors.Join(scanner.Err(), cmd.Wait()); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// moment is an event that a kill can wait for.
type moment int

const (
	onArrival   moment = iota // a request has arrived whole and is not yet executed
	onExecution               // a request was executed and is not yet answered
)

// trigger signals when the n-th request of a pass reaches a moment.
type trigger struct {
	mu    sync.Mutex
	at    moment
	left  int
	fired chan struct{}
}

// arm returns a channel that is closed at the n-th such moment from now.
func (t *trigger) arm(at moment, n int) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at, t.left, t.fired = at, n, make(chan struct{})
	return t.fired
}

func (t *trigger) arrived()  { t.pull(onArrival) }
func (t *trigger) executed() { t.pull(onExecution) }

func (t *trigger) pull(at moment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fired == nil || t.at != at {
		return
	}
	t.left--
	if t.left == 0 {
		close(t.fired)
		t.fired = nil
	}
}
