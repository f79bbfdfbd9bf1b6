package erp

import (
	"context"
	"database/sql"
	"errors"
)

// MayWrite names a table that the reading role could change, "" when there is none or the database
// cannot be asked. The program never writes (I8): its sessions are read-only whatever the role may
// do; but a role that cannot write is one lock more.
func (s *Source) MayWrite(ctx context.Context) (table string, err error) {
	if s.opt.Driver != DriverPostgres {
		return "", nil
	}
	err = s.db.GetContext(ctx, &table, `SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
		AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY 1 LIMIT 1`)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", s.d.problem(ctx, err, statement{}, -1)
	}
	return table, nil
}
