package erp

import (
	"errors"

	mssql "github.com/microsoft/go-mssqldb"
)

func (s *sqlserver) problem(err error, _ string) *Error {
	var e mssql.Error
	if !errors.As(err, &e) {
		return s.server.noAnswer(err)
	}
	switch e.Number {
	case 18456, 18452, 18470, 18486, 18487, 18488:
		return s.server.refusedUser("that the server allows SQL Server logins")
	case 4060, 911:
		return s.server.missingDatabase()
	case 207:
		return missingColumn(e.Message)
	case 208:
		return missingTable(e.Message, "check the schema (dbo) and the spelling")
	case 209:
		return ambiguousColumn(e.Message)
	case 8156:
		return doubleColumn(quotedIn(e.Message))
	case 8155:
		return unnamedColumn()
	case 229, 230, 262, 297, 300, 916:
		return missingRight(e.Message)
	case 1222:
		out := lockedTable()
		out.Text += ", or let the database keep row versions (READ_COMMITTED_SNAPSHOT)"
		return out
	case 1205, 3960:
		return failf(CodeLocked, "the reading met a writer and gave way; it is tried again at the next run")
	case 3906, 3908:
		return triesToWrite()
	case 3952, 3953:
		return failf(CodeConfig,
			"a table of the query is in a database without snapshots; switch ALLOW_SNAPSHOT_ISOLATION on there too")
	case 220, 232, 241, 242, 244, 245, 248, 295, 296, 512, 517, 535, 8114, 8115, 8134, 8152, 2628, 9819:
		return badValue("e.g. by TRY_CAST instead of CAST")
	case 102, 105, 156, 170, 174, 195, 319, 1033, 137, 4104, 4121, 8120:
		return badSyntax(e.Message)
	case 233, 6005, 17142, 10928, 10929, 40197, 40501, 40613:
		return s.server.endedConnection()
	}
	return s.server.unknownError(e.Number)
}
