package sqldb

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// hot holds the statements that are run most often, prepared once for the life of the DB. They are
// those of [DB.InHotTx] and [DB.AllHot], whose texts are the same each time.
type hot struct {
	mu    sync.Mutex
	ready map[string]*sqlx.Stmt
	met   []string // texts that a transaction met, and that are not prepared yet
	runs  uint     // transactions so far
}

// hotMost limits the statements: a text that is never the same must not fill the memory.
const hotMost = 100

func (h *hot) of(query string) *sqlx.Stmt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ready[query]
}

// InHotTx is like [DB.InTx] for a transaction that is run very often. Its statements are prepared
// once. SQLite has one connection that writes, so a statement that a transaction meets for the first
// time is prepared when that transaction is over.
func (s *DB) InHotTx(ctx context.Context, op string, fn func(*Tx) error) error {
	err := s.InTx(ctx, op, func(t *Tx) error {
		t.hot = true
		return fn(t)
	})
	if s.D.Name == Postgres {
		// All statements are closed after 16, 32, 64 … transactions, and prepared again: the plan that
		// PostgreSQL keeps would else be that of small tables, until they are analysed, and read all
		// rows of a kind. A transaction that just takes a closed one prepares it for itself, as package
		// sql does.
		s.hot.mu.Lock()
		var old map[string]*sqlx.Stmt
		s.hot.runs++
		if s.hot.runs >= 16 && bits.OnesCount(s.hot.runs) == 1 {
			s.hot.ready, old = nil, s.hot.ready
		}
		s.hot.mu.Unlock()
		for _, statement := range old {
			_ = statement.Close()
		}
	}
	s.hot.mu.Lock()
	met := s.hot.met
	s.hot.met = nil
	s.hot.mu.Unlock()
	if err != nil {
		return err
	}
	// requests wait for this: what cannot be prepared soon is met again
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for _, query := range met {
		if s.prepare(soon, &s.hot, s.Write, query) == nil {
			break
		}
	}
	return nil
}

// prepare prepares a statement on a pool, and returns nil if that fails: run unprepared, the statement
// itself will report what is wrong.
func (s *DB) prepare(ctx context.Context, in *hot, pool *sqlx.DB, query string) *sqlx.Stmt {
	statement, err := pool.PreparexContext(ctx, s.Q(query))
	if err != nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ready == nil {
		in.ready = map[string]*sqlx.Stmt{}
	}
	if have := in.ready[query]; have != nil { // another goroutine was first
		_ = statement.Close()
		return have
	}
	in.ready[query] = statement
	return statement
}

// AllHot is like [DB.All] for a query that is run very often. PostgreSQL plans it anew each time: the
// plan of a prepared statement would be that of a table which was small.
func (s *DB) AllHot(ctx context.Context, op string, dest any, query string, args ...any) error {
	if s.D.Name == Postgres || s.moment != nil {
		return s.All(ctx, op, dest, query, args...)
	}
	statement := s.hotRead.of(query)
	if statement == nil {
		statement = s.prepare(ctx, &s.hotRead, s.Read, query)
	}
	if statement == nil {
		return s.All(ctx, op, dest, query, args...)
	}
	rows, err := statement.QueryxContext(ctx, args...)
	return s.Fault(ctx, op, readAll(dest, rows, err))
}

// prepared returns the prepared statement of a text, for this transaction; nil if there is none.
func (t *Tx) prepared(query string) *sqlx.Stmt {
	if !t.hot {
		return nil
	}
	if statement := t.S.hot.of(query); statement != nil {
		return t.StmtxContext(t.brief(), statement)
	}
	t.S.hot.meet(query)
	return nil
}

func (h *hot) meet(query string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ready)+len(h.met) < hotMost && !slices.Contains(h.met, query) {
		h.met = append(h.met, query)
	}
}
