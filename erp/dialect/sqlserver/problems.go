package sqlserver

import (
	"errors"
	"slices"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Problem goes by the numbers of Microsoft's list "Database Engine events and errors".
func (s *engine) Problem(err error, _ string) *fault.Error {
	var e mssql.Error
	if !errors.As(err, &e) {
		// The driver turns some of these into text, without the error that they came from.
		var stream mssql.StreamError
		text := err.Error()
		_, handshake, inHandshake := strings.Cut(text, "TLS Handshake failed: ")
		switch {
		case errors.As(err, &stream), strings.HasPrefix(text, "login error: "),
			strings.Contains(text, "failed to send "),
			strings.Contains(text, "faild to send "), strings.Contains(text, "TLS Handshake flush failed"):
			return s.server.LostConnection()
		case strings.Contains(text, "server does not support encryption"):
			return s.server.Failf(fault.CodeTLS,
				"the ERP database at %s offers no TLS; switch it on there, or write tls=disable in erp.dsn if the network is trusted")
		case strings.Contains(text, "no instance matching "), strings.Contains(text, "invalid tcp port returned from Sql Server Browser"):
			return s.server.Failf(fault.CodeUnreachable,
				"the ERP database at %s was not found: SQL Server Browser (UDP 1434) does not answer there, or does not know the instance; write its port in erp.dsn instead of instance (HOST:PORT), or open UDP 1434 and start that service")
		case inHandshake:
			says := func(parts ...string) bool {
				return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(handshake, p) })
			}
			tls := func(format string) *fault.Error { return s.server.Failf(fault.CodeTLS, format) }
			switch {
			case says("EOF", "connection reset", "broken pipe", "closed network", "timeout"):
				return s.server.Failf(fault.CodeUnreachable,
					"the ERP database at %s ended the connection during the TLS handshake; it is tried again at the next run. If it is so each time, the server may lack TLS 1.2: SQL Server 2012 and 2014 need an update for it")
			case s.plain: // the driver then checks the certificate, although nobody told it which to trust
				return tls("the ERP database at %s accepts only encrypted connections; write tls=require or tls=verify in erp.dsn in place of tls=disable")
			case says("protocol version", "handshake failure", "no supported", "unsupported protocol", "cipher suite"):
				return tls("the ERP database at %s has no TLS 1.2 or later that this program accepts: SQL Server 2012 and 2014 need an update for it, and Windows must allow it")
			case says("certificate is valid for", "cannot validate certificate for", "legacy Common Name",
				"not valid for any names"):
				return tls("the certificate of the ERP database at %s is for another name; write in erp.dsn the name of the host that stands in the certificate, or give the server one with this name")
			case says("has expired", "not yet valid"):
				return tls("the certificate of the ERP database at %s has expired or is not yet valid; renew it there, and compare the clocks")
			case says("failed to parse certificate", "negative serial number"):
				return tls("the certificate of the ERP database at %s cannot be read; give the server another one")
			case says("does not look like a TLS handshake"):
				return tls("the ERP database at %s does not speak TLS at this port; check the port in erp.dsn")
			}
			return tls("the certificate of the ERP database at %s is not trusted; name in erp.dsn the file of its issuer (ca), or write tls=require for encryption without this check")
		}
		return s.server.NoAnswer(err)
	}
	switch e.Number {
	// errors of the query's own text
	case 207:
		return dialect.MissingColumn(phrase.Fixed(e.Message))
	case 208:
		return dialect.MissingTable(phrase.Fixed(e.Message), "check the schema (dbo) and the spelling")
	case 209:
		return dialect.AmbiguousColumn(phrase.Fixed(e.Message))
	case 8156:
		return dialect.DoubleColumn(dialect.QuotedIn(e.Message))
	case 8155:
		return dialect.UnnamedColumn()
	case 229, 230, 262, 297, 300, 916:
		return dialect.MissingRight(phrase.Fixed(e.Message))
	case 3906, 3908:
		return dialect.TriesToWrite()
	case 446, 449, 451, 456, 457, 468:
		return dialect.BadSyntax(phrase.New("%w; write COLLATE DATABASE_DEFAULT behind one of the texts", phrase.Fixed(e.Message)))
	case 3952, 3953:
		return fault.Failf(fault.CodeConfig,
			"a table of the query is in a database without snapshots; switch ALLOW_SNAPSHOT_ISOLATION on there too")
	case 102, 103, 104, 105, 107, 108, 116, 130, 137, 145, 147, 156, 164, 170, 174, 189, 195, 205,
		206, 243, 305, 306, 313, 319, 321, 402, 403, 408, 409, 420, 421, 448, 529, 1011, 1013,
		1033, 1035, 1038, 4101, 4104, 4108, 4113, 4121, 4145, 5308, 8116, 8117, 8118, 8120, 8121,
		8127, 8158, 8159, 8161, 10753:
		return dialect.BadSyntax(phrase.Fixed(e.Message))
	// errors of the values that a query meets, and of what others do with its rows
	case 220, 232, 236, 241, 242, 244, 245, 248, 293, 294, 295, 296, 512, 517, 535, 537, 1007,
		2628, 3623, 8114, 8115, 8134, 8152, 8169, 9803, 9807, 9819:
		return dialect.BadValue("e.g. by TRY_CAST instead of CAST")
	case 530:
		return fault.Failf(fault.CodeData,
			"the query's recursion is deeper than 100 levels, where SQL Server ends it; bound it by a condition, or read a view that does not recurse")
	case 1222:
		out := dialect.LockedTable()
		out.Text = phrase.New("%w, or let the database keep row versions (READ_COMMITTED_SNAPSHOT)", out.Text)
		return out
	case 1205, 3960:
		return fault.Failf(fault.CodeLocked, "the reading met a writer and gave way; it is tried again at the next run")
	case 3957, 3961:
		return fault.Failf(fault.CodeLocked,
			"a table of the query or its database was altered during the reading; it is tried again at the next run")
	case 601, 605:
		return fault.Failf(fault.CodeLocked,
			"rows moved while they were read without locks (NOLOCK, perhaps in a view), error %d; remove NOLOCK from the view, or read the table. If it remains, the ERP's administrator should check the database (DBCC CHECKDB)", e.Number)
	case 3958, 3966, 3967:
		return fault.Failf(fault.CodeTimeout,
			"the database no longer has the row versions that this reading needs (tempdb is short of space); make the query faster, or enlarge tempdb")
	// errors of the way to the database
	case 18452, 18456, 18470, 18486, 18487, 18488:
		return s.server.RefusedUser("that the server allows SQL Server logins")
	case 911, 4060, 4064:
		return s.server.MissingDatabase()
	case 976, 978, 979, 982, 983, 988:
		return s.server.Failf(fault.CodeUnreachable,
			"the ERP database at %s belongs to an availability group and may not be read on this server now (error %d); write the address of the group's listener, which leads to the primary", e.Number)
	// states of a server and of a database in which nothing can be read
	case 233, 596, 6005, 10928, 10929, 17142, 17187, 17188, 17189, 18401, 18461, 40197, 40501,
		40613:
		return s.server.EndedConnection()
	case 921, 922, 923, 924, 926, 927, 942, 945, 946, 952:
		return s.server.Failf(fault.CodeUnreachable,
			"the ERP database at %s is offline, being recovered or restored, or open for one user only (error %d); it is tried again at the next run", e.Number)
	case 701, 802, 1101, 1105, 1204, 3959, 8628, 8645, 8651, 9002, 10936:
		return s.server.Failf(fault.CodeUnreachable,
			"the server of the ERP database at %s is short of memory, locks or disk space (error %d); it is tried again at the next run", e.Number)
	}
	if e.Class >= 20 { // the server ends the connection after such an error
		return s.server.EndedConnection()
	}
	return s.server.UnknownError(e.Number)
}
