package oracle

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/sijms/go-ora/v2/network"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

var quoted = regexp.MustCompile(`"[^"]*"(\."[^"]*")*`)

func (o *engine) Problem(err error, _ string) *fault.Error {
	var e *network.OracleError
	if !errors.As(err, &e) {
		return o.server.NoAnswer(err)
	}
	name := quoted.FindString(e.ErrMsg)
	switch e.ErrCode {
	case 1017, 1005, 1045, 28000, 28001:
		return o.server.RefusedUser("that the account is not locked or expired")
	case 28009:
		return o.server.RefusedUser("that the user is not SYS, which is not for reading")
	case 28040:
		return o.server.Failf(fault.CodeAuth,
			"the ERP database at %s allows no form of login that this program has; its administrator can allow more by SQLNET.ALLOWED_LOGON_VERSION_SERVER")
	case 1882:
		return fault.Failf(fault.CodeConfig,
			"the ERP database does not know the time zone of erp.time_zone; its time zone file is too old for this name")
	case 12505, 12514, 12504, 12154:
		return o.server.Failf(fault.CodeNoDatabase,
			"the listener at %s does not know the service or SID; check the end of erp.dsn")
	case 904:
		return dialect.MissingColumn(phrase.New("unknown column or function %s", name))
	case 942:
		return dialect.MissingTable(phrase.New("a table or view does not exist, or the reading user may not see it"),
			"write its owner before it, and grant SELECT")
	case 918, 960:
		return dialect.AmbiguousColumn(phrase.New("the name %s is ambiguous", name))
	case 998:
		return dialect.UnnamedColumn()
	case 1031, 41900:
		return dialect.MissingRight(phrase.New("on an object of the query"))
	case 1456, 16000, 14552, 14551, 14553:
		return dialect.TriesToWrite()
	case 1013, 40, 2399:
		return o.server.StoppedStatement()
	case 54, 60, 4021:
		return dialect.LockedTable()
	case 1555, 8176:
		return fault.Failf(fault.CodeTimeout,
			"the database no longer has the past rows that this reading needs (snapshot too old); make the query faster, or enlarge UNDO_RETENTION")
	case 1466, 8103:
		return fault.Failf(fault.CodeLocked,
			"a table of the query was altered or replaced during the reading; it is tried again at the next run")
	case 1652, 4030, 4031:
		return o.server.Failf(fault.CodeUnreachable,
			"the server of the ERP database at %s is short of memory or of temporary space (ORA-%05d); it is tried again at the next run", e.ErrCode)
	case 1789, 1790, 1791:
		return dialect.BadSyntax(phrase.New("the queries of a UNION do not fit together, or ORDER BY does not fit (ORA-%05d)", e.ErrCode))
	case 1722, 1426, 1427, 1476, 1841, 1839, 1843, 1847, 1858, 1861, 1830, 6502, 1489, 12899, 29275:
		return dialect.BadValue("e.g. by TO_NUMBER(… DEFAULT NULL ON CONVERSION ERROR)")
	case 28, 1012, 1033, 1034, 1089, 1090, 3113, 3114, 3135, 12170, 12528, 12537, 12541, 12547, 12609, 12637, 2391:
		return o.server.EndedConnection()
	case 12516, 12518, 12519, 12520, 20, 18:
		return o.server.NoConnectionLeft()
	}
	if e.ErrCode >= 900 && e.ErrCode < 1000 {
		return dialect.BadSyntax(phrase.New("syntax error ORA-%05d", e.ErrCode))
	}
	return o.server.UnknownError(fmt.Sprintf("ORA-%05d", e.ErrCode))
}
