package erp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	firebirddrv "github.com/nakagami/firebirdsql"
)

// firebirdRowError: a value of one row ended the SELECT.
func firebirdRowError(err error) bool {
	var e *firebirddrv.FbError
	if !errors.As(err, &e) {
		return false
	}
	return hasCode(e, firebirddrv.ISCArithExcept, firebirddrv.ISCConvertError, firebirddrv.ISCTransliterationFailed,
		firebirddrv.ISCMalformedString,
		firebirddrv.ISCSingSelectErr, firebirddrv.ISCStringTruncation, firebirddrv.ISCExcept, firebirddrv.ISCExcept2)
}

func hasCode(e *firebirddrv.FbError, codes ...int) bool {
	return slices.ContainsFunc(e.GDSCodes, func(c int) bool { return slices.Contains(codes, c) })
}

func (f *firebird) problem(err error, query string) *Error {
	var e *firebirddrv.FbError
	switch {
	case errors.As(err, &e):
		out := f.serverProblem(e, query)
		out.SQLState = e.SQLState
		return out
	case strings.Contains(err.Error(), "wire_crypt"):
		return failf(CodeTLS,
			"the ERP database at %s and safrasync do not agree on encryption; check wire_crypt in erp.dsn and WireCrypt in firebird.conf", f.server.target)
	}
	return f.server.noAnswer(err)
}

func (f *firebird) serverProblem(e *firebirddrv.FbError, query string) *Error {
	switch {
	case hasCode(e, firebirddrv.ISCLogin, firebirddrv.ISCConnectReject):
		return f.server.refusedUser("auth_plugin_name for a server that knows only Legacy_Auth")
	case hasCode(e, firebirddrv.ISCCancelled):
		return f.server.stoppedStatement()
	case hasCode(e, firebirddrv.ISCDsqlFieldErr):
		return firebirdPlace(e, query, missingColumn("column unknown: "+
			firebirdName(e, firebirddrv.ISCDsqlFieldErr)))
	case hasCode(e, firebirddrv.ISCDsqlRelationErr):
		return firebirdPlace(e, query, missingTable("table unknown: "+firebirdName(e, firebirddrv.ISCDsqlRelationErr),
			"check the spelling and the database"))
	case hasCode(e, firebirddrv.ISCDsqlDerivedFieldDupName):
		return doubleColumn(firebirdName(e, firebirddrv.ISCDsqlDerivedFieldDupName))
	case hasCode(e, firebirddrv.ISCDsqlDerivedFieldUnnamed):
		return unnamedColumn()
	case hasCode(e, firebirddrv.ISCDsqlAmbiguousFieldName):
		return ambiguousColumn("a name is ambiguous between two tables")
	case hasCode(e, firebirddrv.ISCDsqlTokenUnkErr, firebirddrv.ISCDsqlFunctionErr):
		return firebirdPlace(e, query, badSyntax("unknown word or function "+
			firebirdName(e, firebirddrv.ISCDsqlTokenUnkErr)))
	case hasCode(e, firebirddrv.ISCNoPriv):
		return missingRight(firebirdPrivilege(e))
	case hasCode(e, firebirddrv.ISCReadOnlyTrans):
		return triesToWrite()
	case hasCode(e, firebirddrv.ISCLockConflict, firebirddrv.ISCDeadlock):
		return lockedTable()
	case firebirdRowError(e):
		return badValue("or set erp.charset if its bytes are no text of the column's charset")
	case hasCode(e, firebirddrv.ISCNetworkError, firebirddrv.ISCNetReadErr, firebirddrv.ISCNetWriteErr,
		firebirddrv.ISCConnLost, firebirddrv.ISCAttShutdown, firebirddrv.ISCShutdown):
		return f.server.endedConnection()
	case hasCode(e, firebirddrv.ISCIoError, firebirddrv.ISCUnavailable):
		return failf(CodeNoDatabase,
			"the ERP database of %s does not exist or cannot be opened by the server; check the alias or path in erp.dsn (it is a path on the server)", f.server.target)
	case hasCode(e, firebirddrv.ISCBadDbFormat):
		return failf(CodeNotADatabase, "the file of %s is no Firebird database of a version that this server knows",
			f.server.target)
	case e.SQLCode == -104 || e.SQLCode == -204 || e.SQLCode == -206 || strings.HasPrefix(e.SQLState, "42"):
		return firebirdPlace(e, query, badSyntax("it cannot be read"))
	}
	return f.server.unknownError(e.GDSCodes)
}

// firebirdName is the name that an error of the compiler speaks of.
func firebirdName(e *firebirddrv.FbError, code int) string {
	for i, c := range e.GDSCodes {
		if c == code && i < len(e.Params) && len(e.Params[i]) > 0 {
			return e.Params[i][0]
		}
	}
	// The name of a column or table comes as a message of its own after the code.
	if i := slices.Index(e.GDSCodes, code); i >= 0 && i+1 < len(e.Params) && len(e.Params[i+1]) > 0 {
		return e.Params[i+1][0]
	}
	return "?"
}

// firebirdPrivilege names the right and the object, never the user.
func firebirdPrivilege(e *firebirddrv.FbError) string {
	for i, c := range e.GDSCodes {
		if c == firebirddrv.ISCNoPriv && i < len(e.Params) && len(e.Params[i]) >= 3 {
			return strings.Join(e.Params[i][:3], " ")
		}
	}
	return "no details"
}

var firebirdAt = regexp.MustCompile(`line (\d+), column (\d+)`)

// firebirdPlace adds where it is; the server counts from our own first line.
func firebirdPlace(e *firebirddrv.FbError, query string, out *Error) *Error {
	m := firebirdAt.FindStringSubmatch(e.Message)
	if m == nil || query == "" {
		return out
	}
	line, _ := strconv.Atoi(m[1]) // digits
	col, _ := strconv.Atoi(m[2])
	if line--; line < 1 || line > 1+strings.Count(query, "\n") {
		return out
	}
	out.Line, out.Column = line, col
	out.Text += fmt.Sprintf(", at line %d, column %d of the query", line, col)
	return out
}
