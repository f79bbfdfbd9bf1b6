package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	_ "github.com/lib/pq" // the queue and the ERP
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

// unsentQuery selects what is sent: the rows that are not in the book.
const unsentQuery = `SELECT contrato, peso_liquido, to_char(to_date(data_entrega, 'YYYYMMDD'), 'YYYY-MM-DD'), car FROM entrega e
	WHERE NOT EXISTS (SELECT FROM enviado v WHERE v.contrato = e.contrato) ORDER BY filial, ticket, item`

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
	db       *sql.DB
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
	// The id and the end of the job are in one transaction, so that a worker that dies here repeats
	// both or neither.
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx,
		`INSERT INTO enviado VALUES ($1, $2) ON CONFLICT (contrato) DO UPDATE SET id = EXCLUDED.id`, job.Args.Contract,
		answer.ID); err != nil {
		return err
	}
	if _, err := river.JobCompleteTx[*riverdatabasesql.Driver](ctx, tx, job); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	w.done.Add(1)
	return nil
}

func main() {
	url := flag.String("url", "", "of the API")
	dsn := flag.String("dsn", "", "of the ERP")
	key := flag.String("key", "", "of the API")
	workers := flag.Int("in-flight", 32, "workers")
	flag.Parse()
	if err := run(context.Background(), *url, *dsn, *key, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, dsn, key string, workers int) (err error) {
	db, err := sql.Open("postgres", dsn+" search_path=river,public")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(workers + 8)
	db.SetMaxIdleConns(workers + 8)
	driver := riverdatabasesql.New(db)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	var done atomic.Int64
	all := river.NewWorkers()
	river.AddWorker(all, &worker{url: url, key: key, db: db, done: &done, client: &http.Client{
		Transport: &http.Transport{
			MaxConnsPerHost: workers, MaxIdleConnsPerHost: workers, MaxIdleConns: workers,
			DisableCompression: true,
		},
	}})
	client, err := river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}}, Workers: all,
		FetchCooldown: river.FetchCooldownMin, FetchPollInterval: 5 * time.Millisecond,
		JobTimeout: 10 * time.Second, RescueStuckJobsAfter: 11 * time.Second,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := insert(ctx, db, client); err != nil {
		return err
	}
	var open int64
	if err := db.QueryRowContext(ctx,
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
func insert(ctx context.Context, db *sql.DB, client *river.Client[*sql.Tx]) error {
	rows, err := db.QueryContext(ctx, unsentQuery)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var page []river.InsertManyParams
	flush := func() error {
		if len(page) == 0 {
			return nil
		}
		// Without a transaction, this version dereferences nil before the client's start
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := client.InsertManyFastTx(ctx, tx, page); err != nil {
			return err
		}
		page = page[:0]
		return tx.Commit()
	}
	for rows.Next() {
		d := delivery{Unit: "kg"}
		if err := rows.Scan(&d.Contract, &d.Volume, &d.Date, &d.Car); err != nil {
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
