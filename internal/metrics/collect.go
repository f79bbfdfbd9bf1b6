package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/safrasync/safrasync/trade"
)

// readingLasts bounds one reading of the ledger.
const readingLasts = 10 * time.Second

// recentRuns is the number of recent runs among which one that read the ERP is searched.
const recentRuns = 20

// unreadStops are the stop codes of runs that may not have read the ERP to its end.
var unreadStops = []string{"erp", "columns", "references", "ledger", "platform", "lease", "interrupted"}

// jobStates are all states of a job; each is a label.
var jobStates = []trade.JobState{trade.Idle, trade.Running, trade.BackingOff, trade.Stopped, trade.Paused}

// descriptions are those of all metrics that Collect sends.
var descriptions []*prometheus.Desc

// described returns a description, and adds it to descriptions.
func described(name, help string, labels ...string) *prometheus.Desc {
	descriptions = append(descriptions, prometheus.NewDesc("safrasync_"+name, help, labels, nil))
	return descriptions[len(descriptions)-1]
}

var (
	ledgerUp    = described("ledger_up", "1 when the ledger could be read just now, 0 when not; then the rows are absent.")
	ledgerBytes = described("ledger_bytes",
		"Bytes of the ledger by part: ledger (without what the database's server needs besides), wal (SQLite only), journal.", "part")
	freeBytes  = described("ledger_free_bytes", "Free bytes in the folders of ledger and journal on this host.", "folder")
	lastBackup = described("last_backup_timestamp_seconds",
		"When the last copy of the ledger was made; absent when there is none, and for a ledger in PostgreSQL.")
	witnessLate = described("witness_late_seconds",
		"For how long the witness has lacked what the journal has, or could not be written; 0 while all is well. Absent without a witness.")
	instances = described("instances",
		"Instances that may send, by whether they are alive; dead ones of the last hour. Absent with SQLite.", "alive")
	rows    = described("rows", "Rows of a job by state. They add up: see docs/operation.md.", "sync_job", "state")
	flagged = described("flagged_rows", "Rows of a job that have a flag; they are counted in safrasync_rows too.",
		"sync_job", "flag")
	oldest = described("oldest_row_age_seconds",
		"Age of the oldest row of a job that is pending or waiting (since it was first seen) or in doubt (since its request); absent when there is none.", "sync_job", "state")
	jobState   = described("job_state", "1 for the state that a job is in, 0 for the others.", "sync_job", "state")
	jobStopped = described("job_stopped",
		"1 while something stops or brakes a job, with the code of the reason; absent when nothing does.",
		"sync_job", "code")
	lastRun   = described("last_run_end_timestamp_seconds", "When the last run of a job ended.", "sync_job")
	lastSweep = described("last_sweep_timestamp_seconds", "When the last complete sweep of a job was.", "sync_job")
	cursorLag = described("cursor_lag_seconds", "How long ago the ERP was last read to its end for a job.", "sync_job")
)

// ledgerCollector reads the ledger when the metrics are requested.
type ledgerCollector struct{ *Metrics }

// Describe sends the descriptions of the metrics that Collect sends.
func (c *ledgerCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		ch <- d
	}
}

// Collect reads the ledger and sends the metrics. What it cannot read is absent.
func (c *ledgerCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readingLasts)
	defer cancel()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	up := 1.0
	for _, job := range c.Jobs() {
		if err := c.job(ctx, job, gauge); err != nil {
			up = 0
		}
	}
	if sizes, err := c.Ledger.Sizes(ctx); err != nil {
		up = 0
	} else {
		gauge(ledgerBytes, float64(sizes.Ledger), "ledger")
		gauge(ledgerBytes, float64(sizes.WAL), "wal")
		gauge(ledgerBytes, float64(sizes.Journal), "journal")
	}
	if backup, err := c.Ledger.LastBackup(ctx); err != nil {
		up = 0
	} else if !backup.At.IsZero() {
		gauge(lastBackup, float64(backup.At.Unix()))
	}
	if w, err := c.Ledger.Witness(ctx); err != nil {
		up = 0
	} else if w.Place != "" {
		gauge(witnessLate, w.LateFor(c.Now()).Seconds())
	}
	if all, err := c.Ledger.Instances(ctx); err != nil {
		up = 0
	} else if len(all) > 0 {
		dead := 0
		for _, i := range all {
			if i.Dead {
				dead++
			}
		}
		gauge(instances, float64(len(all)-dead), "true")
		gauge(instances, float64(dead), "false")
	}
	for _, s := range c.Ledger.Spaces() {
		gauge(freeBytes, float64(s.Free), s.Folder)
	}
	gauge(ledgerUp, up)
}

// job sends the metrics of one job, or none of them.
func (c *ledgerCollector) job(ctx context.Context, job string, gauge setGauge) error {
	status, err := c.Ledger.JobStatus(ctx, job)
	if err != nil {
		return err
	}
	tallies, err := c.Ledger.Counts(ctx, job)
	if err != nil {
		return err
	}
	flags, err := c.Ledger.FlagCounts(ctx, job)
	if err != nil {
		return err
	}
	ages, err := c.Ledger.Ages(ctx, job)
	if err != nil {
		return err
	}
	runs, err := c.Ledger.Runs(ctx, job, recentRuns)
	if err != nil {
		return err
	}
	cursor, err := c.Ledger.Cursor(ctx, job)
	if err != nil {
		return err
	}

	counts := map[trade.State]int{}
	for _, t := range tallies {
		counts[t.State] += t.Count
	}
	for _, s := range trade.States {
		gauge(rows, float64(counts[s]), job, string(s))
	}
	for _, f := range trade.AllFlags {
		gauge(flagged, float64(flags[f]), job, string(f))
	}
	for state, since := range map[trade.State]time.Time{
		trade.Pending: ages.Pending, trade.Waiting: ages.Waiting,
		trade.InDoubt: ages.InDoubt,
	} {
		if !since.IsZero() {
			gauge(oldest, max(0, c.Now().Sub(since).Seconds()), job, string(state))
		}
	}
	for _, s := range jobStates {
		is := 0.0
		if s == status.State {
			is = 1
		}
		gauge(jobState, is, job, string(s))
	}
	if status.Stop != nil && status.State != trade.Idle && status.State != trade.Running {
		gauge(jobStopped, 1, job, status.Stop.Code)
	}
	// a run that is in progress, or was killed, has no end
	ended := slices.DeleteFunc(runs, func(r trade.RunReport) bool { return r.EndedAt.IsZero() })
	if len(ended) > 0 {
		gauge(lastRun, float64(ended[0].EndedAt.Unix()), job)
	}
	if !cursor.SweptAt.IsZero() {
		gauge(lastSweep, float64(cursor.SweptAt.Unix()), job)
	}
	toItsEnd := func(r trade.RunReport) bool {
		return r.Stopped == nil || !slices.Contains(unreadStops, r.Stopped.Code)
	}
	if i := slices.IndexFunc(ended, toItsEnd); i >= 0 {
		gauge(cursorLag, max(0, c.Now().Sub(ended[i].StartedAt).Seconds()), job)
	}
	return nil
}

// setGauge sends one value.
type setGauge func(d *prometheus.Desc, value float64, labels ...string)
