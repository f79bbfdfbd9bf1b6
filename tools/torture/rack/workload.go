package rack

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "github.com/lib/pq"  // the ERP of a trial
	_ "modernc.org/sqlite" // likewise
)

// workload is the ERP of a trial: contracts and deliveries, and people who write to it while the
// program reads, in transactions that commit late, are rolled back, or touch rows without changing
// them. Each row has a unique quantity, by which the judge identifies it.
type workload struct {
	db       *sql.DB
	postgres bool
	seed     uint64
	typing   time.Duration // how long a person takes for a row
	marker   atomic.Int64
}

// writers is how many people type at once.
const writers = 3

const schema = `CREATE TABLE contrato (num TEXT NOT NULL UNIQUE, produtor TEXT NOT NULL, quantidade NUMERIC NOT NULL,
		obs TEXT NOT NULL, atualizado TIMESTAMP);
	CREATE TABLE entrega (ticket TEXT NOT NULL UNIQUE, num TEXT NOT NULL, volume NUMERIC NOT NULL, obs TEXT NOT NULL, atualizado TIMESTAMP)`

func newWorkload(ctx context.Context, opts Options) (*workload, error) {
	at := opts.ERP
	dsn := at.DSN
	if at.Driver == "sqlite" {
		dsn += "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_txlock=immediate"
	}
	db, err := sql.Open(at.Driver, dsn)
	if err != nil {
		return nil, err
	}
	w := &workload{
		db: db, postgres: at.Driver == "postgres", seed: opts.Seed,
		typing: cmp.Or(opts.Typing, 25*time.Millisecond),
	}
	for statement := range strings.SplitSeq(schema, ";") {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("the ERP of the trial: %w", err), db.Close())
		}
	}
	return w, nil
}

// Write lets people write until stop is called, which waits for the last of them and returns their
// errors.
func (w *workload) Write(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(w.seed, uint64(10+i)))
			for ctx.Err() == nil {
				if err := w.work(random); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	return func() error {
		cancel()
		wait.Wait()
		return errors.Join(errs...)
	}
}

// producers is how many producers the contracts are of. One of them has each twentieth contract, so
// that many are alike.
const producers = 500

func producer(n int64) string {
	if n%20 == 0 {
		n = 0
	}
	return fmt.Sprintf("1f4c9f0e-3c1b-4f5e-9d5a-%012d", n%producers)
}

// work is one transaction: a contract with some deliveries, sometimes a change without effect,
// sometimes rolled back.
func (w *workload) work(random *rand.Rand) error {
	tx, err := w.db.Begin()
	if err != nil {
		return fmt.Errorf("writing to the ERP: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	began := time.Now().UTC().Format("2006-01-02 15:04:05.000000")
	stamp := any(began)
	if random.IntN(20) == 0 {
		stamp = nil
	}
	n := w.marker.Add(1)
	num := fmt.Sprintf("C%06d", n)
	statements := [][]any{{`INSERT INTO contrato VALUES (?, ?, ?, '', ?)`, num, producer(n), n, stamp}}
	for range random.IntN(3) {
		d := w.marker.Add(1)
		statements = append(statements, []any{
			`INSERT INTO entrega VALUES (?, ?, ?, '', ?)`, fmt.Sprintf("E%06d", d),
			num, d, stamp,
		})
	}
	if random.IntN(4) == 0 {
		statements = append(statements, []any{
			`UPDATE contrato SET obs = obs || '.', atualizado = ? WHERE num = ?`,
			began, fmt.Sprintf("C%06d", 1+random.Int64N(n)),
		})
	}
	for _, s := range statements {
		if _, err := tx.Exec(w.bound(s[0].(string)), s[1:]...); err != nil {
			return fmt.Errorf("writing to the ERP: %w", err)
		}
	}
	if w.postgres { // SQLite allows one writer at a time, so it must not pause here
		time.Sleep(time.Duration(random.Int64N(int64(4 * w.typing))))
	}
	if random.IntN(10) == 0 {
		return nil // rolled back
	}
	err = tx.Commit()
	time.Sleep(time.Duration(random.Int64N(int64(2 * w.typing))))
	if err != nil {
		return fmt.Errorf("writing to the ERP: %w", err)
	}
	return nil
}

// bound replaces ? by PostgreSQL's placeholders if needed.
func (w *workload) bound(query string) string {
	if !w.postgres {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		fmt.Fprintf(&b, "$%d", n)
	}
	return b.String()
}

// rows returns the quantity of every row that is in the ERP, by job and key.
func (w *workload) rows(ctx context.Context) (map[rowKey]string, error) {
	out := map[rowKey]string{}
	for job, query := range map[string]string{
		"contracts":  `SELECT num, quantidade FROM contrato`,
		"deliveries": `SELECT ticket, volume FROM entrega`,
	} {
		if err := w.read(ctx, query, func(key, marker string) { out[rowKey{job, key}] = marker }); err != nil {
			return nil, fmt.Errorf("reading the ERP: %w", err)
		}
	}
	return out, nil
}

func (w *workload) read(ctx context.Context, query string, fn func(key, marker string)) error {
	rows, err := w.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // an error of the reading is in rows.Err
	for rows.Next() {
		var key, marker string
		if err := rows.Scan(&key, &marker); err != nil {
			return err
		}
		fn(key, marker)
	}
	return rows.Err()
}

func (w *workload) close() error { return w.db.Close() }
