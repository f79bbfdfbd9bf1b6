package erp

import (
	"context"
	"errors"
	"regexp"

	"github.com/sijms/go-ora/v2/network"
)

func (o *oracle) problem(ctx context.Context, err error, st statement, _ int) error {
	if known := knownProblem(ctx, err); known != nil {
		return known
	}
	var e *network.OracleError
	if errors.As(err, &e) {
		return o.serverProblem(e)
	}
	if e := networkProblem(err, o.address, "the Oracle listener", "tls and ca"); e != nil {
		return e
	}
	return failf(CodeOther, "the ERP database at %s gave an answer that the driver does not understand", o.address)
}

var oracleQuoted = regexp.MustCompile(`"[^"]*"(\."[^"]*")*`)

func (o *oracle) serverProblem(e *network.OracleError) *Error {
	const intro = "the database does not accept the query: "
	name := oracleQuoted.FindString(e.ErrMsg)
	switch e.ErrCode {
	case 1017, 1005, 1045, 28000, 28001:
		return failf(CodeAuth,
			"the ERP database at %s refused the user or the password; check erp.dsn, and that the account is not locked or expired", o.address)
	case 12505, 12514, 12504, 12154:
		return failf(CodeNoDatabase, "the listener at %s does not know the service or SID; check the end of erp.dsn",
			o.address)
	case 904:
		return failf(CodeMissingColumn, intro+"unknown column or function %s; was it renamed in the ERP?", name)
	case 942:
		return failf(CodeMissingTable, intro+
			"a table or view does not exist, or the reading user may not see it; write its owner before it, and grant SELECT")
	case 918, 960:
		return failf(CodeDuplicateColumn, intro+"two columns have the same name %s; name one of them with AS", name)
	case 998:
		return failf(CodeDuplicateColumn, "the query returns an expression without a name; name each with AS")
	case 1031, 41900:
		return failf(CodePermission, "the reading user lacks a right on an object of the query; grant it SELECT")
	case 1456, 16000, 14552, 14551, 14553:
		return failf(CodeReadOnly, "the query tries to write, and the ERP is only read; remove that part of the query")
	case 1013, 40, 2399:
		return failf(CodeTimeout, "the database stopped the statement; it may take %s (erp.statement_timeout)",
			o.opt.StatementTimeout)
	case 54, 60, 4021:
		return failf(CodeLocked, "a table of the query is locked by another session; try again later")
	case 1555, 8176:
		return failf(CodeTimeout,
			"the database no longer has the past rows that this reading needs (snapshot too old); make the query faster, or enlarge UNDO_RETENTION")
	case 1722, 1426, 1427, 1476, 1841, 1839, 1843, 1847, 1858, 1861, 1830, 6502, 1489, 29275:
		return failf(CodeData,
			"a value in the ERP makes an expression of the query fail; make the expression safe, e.g. by TO_NUMBER(… DEFAULT NULL ON CONVERSION ERROR)")
	case 28, 1012, 1033, 1034, 1089, 1090, 3113, 3114, 3135, 12170, 12516, 12518, 12519, 12520, 12528, 12537, 12541,
		12547, 20, 18, 2391:
		return failf(CodeUnreachable,
			"the ERP database at %s ended the connection, is starting, or has no connection left for us; it is tried again at the next run", o.address)
	}
	if e.ErrCode >= 900 && e.ErrCode < 1000 {
		return failf(CodeSyntax, intro+"syntax error ORA-%05d", e.ErrCode)
	}
	return failf(CodeOther, "the ERP database reports ORA-%05d; its own log has the details", e.ErrCode)
}
