package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// unsentQuery selects what has no job yet.
const unsentQuery = `SELECT contrato, peso_liquido::text, to_char(to_date(data_entrega, 'YYYYMMDD'), 'YYYY-MM-DD'), car FROM entrega e
	WHERE NOT EXISTS (SELECT FROM river_job j WHERE j.args->>'contract_id' = e.contrato) ORDER BY filial, ticket, item`

// delivery is the job of one row. Its JSON is the body of the request.
type delivery struct {
	Contract string      `json:"contract_id" river:"unique"`
	Volume   json.Number `json:"delivered_volume"`
	Unit     string      `json:"delivered_volume_unit_of_measure"`
	Date     string      `json:"delivery_date"`
	Car      string      `json:"car"`
}

func (delivery) Kind() string { return "delivery" }

func (delivery) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

type worker struct {
	river.WorkerDefaults[delivery]
	url, key string
	client   *http.Client
	pool     *pgxpool.Pool // nil: the id is the output of the job, stored with many others
	done     *atomic.Int64
}

// Work sends one row. If it returns an error, River tries again.
func (w *worker) Work(ctx context.Context, job *river.Job[delivery]) error {
	body, err := json.Marshal(job.Args)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/api/v1/integration/deliveries",
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", w.key)
	response, err := w.client.Do(request)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return err
	}
	var answer struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	w.done.Add(1)
	if w.pool == nil {
		return river.RecordOutput(ctx, answer)
	}
	return w.complete(ctx, job, answer.ID)
}

// complete stores the id and the end of the job in one transaction, so that a worker that dies here
// repeats both or neither.
func (w *worker) complete(ctx context.Context, job *river.Job[delivery], id string) error {
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx,
			`INSERT INTO enviado VALUES ($1, $2) ON CONFLICT (contrato) DO UPDATE SET id = EXCLUDED.id`, job.Args.Contract,
			id); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

func main() {
	url := flag.String("url", "", "of the API")
	dsn := flag.String("dsn", "", "of the ERP")
	key := flag.String("key", "", "of the API")
	workers := flag.Int("in-flight", 32, "workers")
	each := flag.Bool("each", false, "record the id in a transaction of each job, not by the batches of completions")
	flag.Parse()
	if err := run(context.Background(), *url, *dsn, *key, *workers, *each); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, dsn, key string, workers int, each bool) error {
	pool, err := pgxpool.New(ctx, fmt.Sprintf("%s search_path=river,public pool_max_conns=%d", dsn, workers+8))
	if err != nil {
		return err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	var done atomic.Int64
	all := river.NewWorkers()
	work := &worker{url: url, key: key, done: &done, client: &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: workers, MaxIdleConnsPerHost: workers, MaxIdleConns: workers, DisableCompression: true,
	}}}
	if each {
		work.pool = pool
	}
	river.AddWorker(all, work)
	client, err := river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}}, Workers: all,
		FetchCooldown: river.FetchCooldownMin, FetchPollInterval: 50 * time.Millisecond, // it is also notified
		JobTimeout: 10 * time.Second, RescueStuckJobsAfter: 11 * time.Second,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := insert(ctx, pool, client); err != nil {
		return err
	}
	var open int64
	if err := pool.QueryRow(ctx,
		`SELECT count(*) FROM river_job WHERE finalized_at IS NULL`).Scan(&open); err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	for done.Load() < open {
		time.Sleep(5 * time.Millisecond)
	}
	return client.Stop(ctx)
}

// insert adds what must be sent to the queue, a thousand rows at a time.
func insert(ctx context.Context, pool *pgxpool.Pool, client *river.Client[pgx.Tx]) error {
	rows, err := pool.Query(ctx, unsentQuery)
	if err != nil {
		return err
	}
	defer rows.Close()
	var page []river.InsertManyParams
	flush := func() error {
		if len(page) == 0 {
			return nil
		}
		_, err := client.InsertManyFast(ctx, page)
		page = page[:0]
		return err
	}
	for rows.Next() {
		d := delivery{Unit: "kg"}
		if err := rows.Scan(&d.Contract, (*string)(&d.Volume), &d.Date, &d.Car); err != nil {
			return err
		}
		page = append(page, river.InsertManyParams{Args: d})
		if len(page) == 1000 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return flush()
}
