package sqlserver

import (
	"errors"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
)

func (s *engine) Problem(err error, _ string) *fault.Error {
	var e mssql.Error
	if !errors.As(err, &e) {
		return s.server.NoAnswer(err)
	}
	switch e.Number {
	case 18456, 18452, 18470, 18486, 18487, 18488:
		return s.server.RefusedUser("that the server allows SQL Server logins")
	case 4060, 911:
		return s.server.MissingDatabase()
	case 207:
		return dialect.MissingColumn(e.Message)
	case 208:
		return dialect.MissingTable(e.Message, "check the schema (dbo) and the spelling")
	case 209:
		return dialect.AmbiguousColumn(e.Message)
	case 8156:
		return dialect.DoubleColumn(dialect.QuotedIn(e.Message))
	case 8155:
		return dialect.UnnamedColumn()
	case 229, 230, 262, 297, 300, 916:
		return dialect.MissingRight(e.Message)
	case 1222:
		out := dialect.LockedTable()
		out.Text += ", or let the database keep row versions (READ_COMMITTED_SNAPSHOT)"
		return out
	case 1205, 3960:
		return fault.Failf(fault.CodeLocked, "the reading met a writer and gave way; it is tried again at the next run")
	case 3906, 3908:
		return dialect.TriesToWrite()
	case 3952, 3953:
		return fault.Failf(fault.CodeConfig,
			"a table of the query is in a database without snapshots; switch ALLOW_SNAPSHOT_ISOLATION on there too")
	case 220, 232, 241, 242, 244, 245, 248, 295, 296, 512, 517, 535, 8114, 8115, 8134, 8152, 2628, 9819:
		return dialect.BadValue("e.g. by TRY_CAST instead of CAST")
	case 102, 105, 156, 170, 174, 195, 319, 1033, 137, 4104, 4121, 8120:
		return dialect.BadSyntax(e.Message)
	case 233, 6005, 17142, 10928, 10929, 40197, 40501, 40613:
		return s.server.EndedConnection()
	}
	return s.server.UnknownError(e.Number)
}
