package oracle

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/sijms/go-ora/v2/network"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
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
	case 12505, 12514, 12504, 12154:
		return fault.Failf(fault.CodeNoDatabase, "the listener at %s does not know the service or SID; check the end of erp.dsn",
			o.server.Target)
	case 904:
		return dialect.MissingColumn("unknown column or function " + name)
	case 942:
		return dialect.MissingTable("a table or view does not exist, or the reading user may not see it",
			"write its owner before it, and grant SELECT")
	case 918, 960:
		return dialect.AmbiguousColumn("the name " + name + " is ambiguous")
	case 998:
		return dialect.UnnamedColumn()
	case 1031, 41900:
		return dialect.MissingRight("on an object of the query")
	case 1456, 16000, 14552, 14551, 14553:
		return dialect.TriesToWrite()
	case 1013, 40, 2399:
		return o.server.StoppedStatement()
	case 54, 60, 4021:
		return dialect.LockedTable()
	case 1555, 8176:
		return fault.Failf(fault.CodeTimeout,
			"the database no longer has the past rows that this reading needs (snapshot too old); make the query faster, or enlarge UNDO_RETENTION")
	case 1722, 1426, 1427, 1476, 1841, 1839, 1843, 1847, 1858, 1861, 1830, 6502, 1489, 29275:
		return dialect.BadValue("e.g. by TO_NUMBER(… DEFAULT NULL ON CONVERSION ERROR)")
	case 28, 1012, 1033, 1034, 1089, 1090, 3113, 3114, 3135, 12170, 12528, 12537, 12541, 12547, 2391:
		return o.server.EndedConnection()
	case 12516, 12518, 12519, 12520, 20, 18:
		return o.server.NoConnectionLeft()
	}
	if e.ErrCode >= 900 && e.ErrCode < 1000 {
		return dialect.BadSyntax(fmt.Sprintf("syntax error ORA-%05d", e.ErrCode))
	}
	return o.server.UnknownError(fmt.Sprintf("ORA-%05d", e.ErrCode))
}
