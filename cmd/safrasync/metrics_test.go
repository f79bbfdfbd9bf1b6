package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/daemon"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/throwaway"
	"github.com/safrasync/safrasync/state"
)

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	return ask(t, http.MethodGet, address, "", "")
}

func TestMonitoringSeesWhatTheServiceDoes(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.edit("jobs:\n", "metrics: {listen: 127.0.0.1:0}\njobs:\n")
	s.start()
	address := "http://" + s.line("its address", func(l logLine) bool { return l.Msg == "metrics are served" }).Address
	s.ran()
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if code, body := get(t, address+path); code != http.StatusOK || body != want {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	if code, _ := get(t, address+"/"); code != http.StatusNotFound {
		t.Errorf("/: %d", code)
	}
	_, text := get(t, address+"/metrics")
	for _, want := range []string{
		`safrasync_rows{state="accepted",sync_job="contracts"} 2`,
		`safrasync_rows{state="invalid",sync_job="contracts"} 1`, `safrasync_ledger_up 1`,
		`safrasync_job_state{state="paused",sync_job="contracts"} 0`,
		`safrasync_runs_total{result="done",sync_job="contracts"} `,
		`safrasync_posts_total{sync_job="contracts"} 2`,
		`safrasync_api_outcomes_total{operation="create order commitment",outcome="created"} 2`,
		`safrasync_oldest_row_age_seconds{state="waiting",sync_job="contracts"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics do not have %s:\n%s", want, text)
		}
	}
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool (installed by .ci/need-prometheus): %v\n%s", err, out)
	}
	// docs/operation.md has all of them
	page := must.Get(os.ReadFile("../../docs/operation.md"))(t)
	names := func(form, text string) []string {
		var out []string
		for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	told := names("(?m)^# TYPE (safrasync_[a-z_]+) ", text)
	// absent while nothing stops, with SQLite, before the first backup, without witness
	told = append(told, "safrasync_job_stopped", "safrasync_instances", "safrasync_last_backup_timestamp_seconds",
		"safrasync_witness_late_seconds")
	slices.Sort(told)
	if documented := names("(?m)^\\| `(safrasync_[a-z_]+)`", string(page)); !slices.Equal(told, documented) {
		t.Errorf("the metrics are\n%v\nand docs/operation.md has\n%v", told, documented)
	}
	s.stop()
	// No secret, no person, no row
	for _, canary := range []string{
		platformCanary, canaryName, canaryDocument,
		strings.NewReplacer(".", "", "-", "").Replace(canaryDocument), "01|0000",
	} {
		if strings.Contains(text, canary) {
			t.Errorf("the metrics tell %s", canary)
		}
	}
}

// A real Prometheus scrapes the service, and is asked everything that the dashboard and the alert
// rules ask.
func TestTheDashboardIsAnswered(t *testing.T) {
	raw := must.Get(os.ReadFile("../../deploy/grafana/safrasync.json"))(t)
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal(raw, &dashboard))
	var queries []string
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	if len(queries) < 14 {
		t.Fatalf("the dashboard asks only %d questions", len(queries))
	}
	s := newService(t, state.SQLite, false)
	s.edit("jobs:\n", "metrics: {listen: 127.0.0.1:0}\njobs:\n")
	s.start()
	dir := t.TempDir()
	rules := must.Get(filepath.Abs("../../deploy/prometheus/safrasync.rules.yaml"))(t)
	config := fmt.Sprintf(
		"global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}\nrule_files: [%s]\nscrape_configs:\n  - job_name: safrasync\n    static_configs: [{targets: [%q]}]\n",
		rules, s.line("its address", func(l logLine) bool { return l.Msg == "metrics are served" }).Address)
	must.Do(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	address := fmt.Sprintf("127.0.0.1:%d", must.Get(throwaway.FreePort())(t))
	ctx, cancel := context.WithCancel(t.Context())
	server := exec.CommandContext(ctx, "prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address, "--log.level=error")
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatalf("prometheus (installed by .ci/need-prometheus): %v", err)
	}
	defer func() { cancel(); _ = server.Wait() }()
	ask := func(query string) (results int, err error) {
		resp, err := (&http.Client{Timeout: 10 * time.Second}).Get("http://" + address + "/api/v1/query?query=" +
			url.QueryEscape(query))
		if err != nil {
			return 0, err
		}
		defer func() { _ = resp.Body.Close() }()
		var answer struct {
			Status, Error string
			Data          struct{ Result []json.RawMessage }
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			return 0, err
		}
		if answer.Status != "success" {
			return 0, fmt.Errorf("%s", answer.Error)
		}
		return len(answer.Data.Result), nil
	}
	// A busy host scrapes late, or misses a scrape, after which nothing is there until the next
	// one:
	// what is wanted is waited for, up to a minute.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	within := func(wanted func() error) error {
		for tries := 0; ; tries++ {
			if err := wanted(); err == nil || tries == 1200 {
				return err
			}
			<-tick.C
		}
	}
	err := within(func() error { // two scrapes, so that rates have values
		if n, err := ask(`count_over_time(safrasync_ledger_up[1m]) >= 2`); err != nil || n != 1 {
			return errors.Join(err, fmt.Errorf("%d answers", n))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Prometheus did not scrape: %v\n%s", err, said.String())
	}
	for _, query := range queries {
		query = strings.ReplaceAll(query, "$__rate_interval", "1m")
		// What counts is that it is answered; what stops a job, and what waited for an increase,
		// may be nothing.
		mayBeEmpty := strings.Contains(query, "increase(")
		err := within(func() error {
			if n, err := ask(query); err != nil || n == 0 && !mayBeEmpty {
				return errors.Join(err, fmt.Errorf("%d answers", n))
			}
			return nil
		})
		if err != nil {
			t.Errorf("the dashboard asks %s: %v", query, err)
		}
	}
	err = within(func() error {
		if _, body := get(t, "http://"+address+"/api/v1/rules"); strings.Count(body, `"health":"ok"`) < 12 {
			return errors.New(body)
		}
		return nil
	})
	if err != nil {
		t.Errorf("the alert rules: %v", err)
	}
	s.stop()
}

func TestTheAlertRulesDoWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"check", "rules", "../../deploy/prometheus/safrasync.rules.yaml"},
		{"test", "rules", "../../deploy/prometheus/safrasync.rules.test.yaml"},
	} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v (installed by .ci/need-prometheus): %v\n%s", args, err, out)
		}
	}
}

// A process that was killed while it ran a job beside the service is not said to run it.
func TestMonitoringIsNotToldThatAKilledProcessRuns(t *testing.T) {
	s := newService(t, state.SQLite, true)
	s.edit(`schedule: "@every 1s"`, `schedule: "@every 1000h"`)
	s.edit("jobs:\n", "metrics: {listen: 127.0.0.1:0}\njobs:\n")
	byHand := s.command("sync", "contracts")
	must.Do(t, byHand.Start())
	s.posted()
	s.launch()
	address := "http://" + s.line("its address", func(l logLine) bool { return l.Msg == "metrics are served" }).Address
	s.line("the other process", func(l logLine) bool { return l.Msg == "another process runs the job" })
	if _, text := get(t, address+"/metrics"); !strings.Contains(text,
		`safrasync_job_state{state="running",sync_job="contracts"} 1`) {
		t.Errorf("while it runs:\n%s", text)
	}
	must.Do(t, byHand.Process.Kill())
	_ = byHand.Wait()
	_, text := get(t, address+"/metrics")
	for _, want := range []string{
		`safrasync_job_state{state="running",sync_job="contracts"} 0`,
		`safrasync_job_state{state="stopped",sync_job="contracts"} 1`,
		`safrasync_job_stopped{code="process_gone",sync_job="contracts"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("after the kill the metrics do not have %s:\n%s", want, text)
		}
	}
	s.until("STATUS=contracts stopped: the process that ran the job is gone")
	s.stop()
}

// Kept connections take no file descriptors from sending, and others still get their answer when
// they are gone.
func TestKeptConnectionsToTheMetricsAreFew(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.edit("jobs:\n", "metrics: {listen: 127.0.0.1:0}\njobs:\n")
	s.start()
	address := s.line("its address", func(l logLine) bool { return l.Msg == "metrics are served" }).Address
	s.ran()
	kept, refused := []net.Conn{}, 0
	for range 100 {
		c := must.Get(net.DialTimeout("tcp", address, 20*time.Second))(t)
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if err == nil {
			_, err = http.ReadResponse(bufio.NewReader(c), nil)
		}
		if err != nil {
			refused++
			_ = c.Close()
			continue
		}
		kept = append(kept, c)
	}
	if len(kept) != daemon.MetricsEach || refused != 100-daemon.MetricsEach {
		t.Errorf("%d of 100 connections are kept, %d refused", len(kept), refused)
	}
	for _, c := range kept {
		_ = c.Close()
	}
}
