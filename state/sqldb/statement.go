package sqldb

import (
	"context"
	"sync"

	"github.com/jmoiron/sqlx"
)

// mostStatements bounds the statements that a pool keeps. The program has fewer whose text does not
// depend on the number of their values; one more is read by the database each time.
const mostStatements = 300

// statements are those of a pool, by their texts: the database reads each text once for a
// connection, not once for each transaction.
type statements struct {
	sync.RWMutex
	of map[string]*sqlx.Stmt
}

func (s *statements) get(query string) *sqlx.Stmt {
	s.RLock()
	defer s.RUnlock()
	return s.of[query]
}

// keep prepares texts that were used without a statement. It waits for a connection without the
// lock, for which a transaction with the connection may wait. An error changes nothing: a statement
// that is not kept is read by the database each time.
func (s *statements) keep(ctx context.Context, pool *sqlx.DB, queries []string) {
	for _, query := range queries {
		if !s.wants(query) {
			continue
		}
		statement, err := pool.PreparexContext(ctx, query)
		if err != nil {
			return
		}
		if !s.add(query, statement) {
			_ = statement.Close() //nolint:sqlclosecheck // the one of a faster transaction is kept
		}
	}
}

func (s *statements) wants(query string) bool {
	s.RLock()
	defer s.RUnlock()
	return s.of[query] == nil && len(s.of) < mostStatements
}

func (s *statements) add(query string, statement *sqlx.Stmt) bool {
	s.Lock()
	defer s.Unlock()
	if s.of == nil {
		s.of = map[string]*sqlx.Stmt{}
	}
	if s.of[query] != nil {
		return false
	}
	s.of[query] = statement
	return true
}
