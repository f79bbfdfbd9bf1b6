package erp

import (
	"context"
	"errors"
	"regexp"

	mssql "github.com/microsoft/go-mssqldb"
)

func (s *sqlserver) problem(ctx context.Context, err error, st statement, _ int) error {
	if known := knownProblem(ctx, err); known != nil {
		return known
	}
	var e mssql.Error
	if errors.As(err, &e) {
		return s.serverProblem(e)
	}
	if e := networkProblem(err, s.address, "SQL Server", "tls and ca"); e != nil {
		return e
	}
	return failf(CodeOther, "the ERP database at %s gave an answer that the driver does not understand", s.address)
}

var sqlserverQuoted = regexp.MustCompile(`'([^']*)'`)

func (s *sqlserver) serverProblem(e mssql.Error) *Error {
	const intro = "the database does not accept the query: "
	switch e.Number {
	case 18456, 18452, 18470, 18486, 18487, 18488:
		return failf(CodeAuth,
			"the ERP database at %s refused the user or the password; check erp.dsn, and that the server allows SQL Server logins", s.address)
	case 4060, 911:
		return failf(CodeNoDatabase,
			"the ERP database of %s does not exist or the user may not open it; check the name at the end of erp.dsn",
			s.address)
	case 207:
		return failf(CodeMissingColumn, intro+"%s; was it renamed in the ERP?", e.Message)
	case 208:
		return failf(CodeMissingTable, intro+"%s; check the schema (dbo) and the spelling", e.Message)
	case 209:
		return failf(CodeDuplicateColumn, intro+"%s; two columns have this name", e.Message)
	case 8156:
		name := ""
		if q := sqlserverQuoted.FindStringSubmatch(e.Message); q != nil {
			name = q[1]
		}
		return failf(CodeDuplicateColumn,
			"the query returns two columns named %q; give one of them another name with AS", name)
	case 8155:
		return failf(CodeDuplicateColumn, "the query returns an expression without a name; name each with AS")
	case 229, 230, 262, 297, 300, 916:
		return failf(CodePermission, "the reading user lacks a right: %s; grant it SELECT", e.Message)
	case 1222:
		return failf(CodeLocked,
			"a table of the query stayed locked by another session for %s; try again later, or let the database keep row versions (READ_COMMITTED_SNAPSHOT)", lockTimeout)
	case 1205, 3960:
		return failf(CodeLocked, "the reading met a writer and gave way; it is tried again at the next run")
	case 3906, 3908:
		return failf(CodeReadOnly, "the query tries to write, and the ERP is only read; remove that part of the query")
	case 3952, 3953:
		return failf(CodeConfig,
			"a table of the query is in a database without snapshots; switch ALLOW_SNAPSHOT_ISOLATION on there too")
	case 220, 232, 241, 242, 244, 245, 248, 295, 296, 512, 517, 535, 8114, 8115, 8134, 8152, 2628, 9819:
		return failf(CodeData,
			"a value in the ERP makes an expression of the query fail; make the expression safe, e.g. by TRY_CAST instead of CAST")
	case 102, 105, 156, 170, 174, 195, 319, 1033, 137, 4104, 4121, 8120:
		return failf(CodeSyntax, intro+"%s", e.Message)
	case 233, 6005, 17142, 10928, 10929, 40197, 40501, 40613:
		return failf(CodeUnreachable,
			"the ERP database at %s ended the connection or is starting; it is tried again at the next run", s.address)
	}
	return failf(CodeOther, "the ERP database reports error %d; its own log has the details", e.Number)
}
