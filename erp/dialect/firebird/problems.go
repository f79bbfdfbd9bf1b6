package firebird

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	firebirddrv "github.com/nakagami/firebirdsql"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

// rowError reports whether a value of one row ended the SELECT.
func rowError(err error) bool {
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

func (f *engine) Problem(err error, query string) *fault.Error {
	var e *firebirddrv.FbError
	switch {
	case errors.As(err, &e):
		out := f.serverProblem(e, query)
		out.SQLState = e.SQLState
		return out
	case strings.Contains(err.Error(), "wire_crypt"):
		return f.server.Failf(fault.CodeTLS,
			"the ERP database at %s and safrasync do not agree on encryption; check wire_crypt in erp.dsn and WireCrypt in firebird.conf")
	}
	return f.server.NoAnswer(err)
}

func (f *engine) serverProblem(e *firebirddrv.FbError, query string) *fault.Error {
	switch {
	case hasCode(e, firebirddrv.ISCLogin, firebirddrv.ISCConnectReject):
		return f.server.RefusedUser("auth_plugin_name for a server that knows only Legacy_Auth")
	case hasCode(e, firebirddrv.ISCCancelled):
		return f.server.StoppedStatement()
	case hasCode(e, firebirddrv.ISCDsqlFieldErr):
		return place(e, query, dialect.MissingColumn(phrase.New("column unknown: %s",
			firebirdName(e, firebirddrv.ISCDsqlFieldErr))))
	case hasCode(e, firebirddrv.ISCDsqlRelationErr):
		return place(e, query, dialect.MissingTable(
			phrase.New("table unknown: %s", firebirdName(e, firebirddrv.ISCDsqlRelationErr)),
			"check the spelling and the database"))
	case hasCode(e, firebirddrv.ISCDsqlDerivedFieldDupName):
		return dialect.DoubleColumn(firebirdName(e, firebirddrv.ISCDsqlDerivedFieldDupName))
	case hasCode(e, firebirddrv.ISCDsqlDerivedFieldUnnamed):
		return dialect.UnnamedColumn()
	case hasCode(e, firebirddrv.ISCDsqlAmbiguousFieldName):
		return dialect.AmbiguousColumn(phrase.New("a name is ambiguous between two tables"))
	case hasCode(e, firebirddrv.ISCDsqlTokenUnkErr, firebirddrv.ISCDsqlFunctionErr):
		return place(e, query, dialect.BadSyntax(phrase.New("unknown word or function %s",
			firebirdName(e, firebirddrv.ISCDsqlTokenUnkErr))))
	case hasCode(e, firebirddrv.ISCNoPriv):
		return dialect.MissingRight(phrase.Fixed(privilege(e)))
	case hasCode(e, firebirddrv.ISCReadOnlyTrans):
		return dialect.TriesToWrite()
	case hasCode(e, firebirddrv.ISCLockConflict, firebirddrv.ISCDeadlock):
		return dialect.LockedTable()
	case rowError(e):
		return dialect.BadValue("or set erp.charset if its bytes are no text of the column's charset")
	case hasCode(e, firebirddrv.ISCNetworkError, firebirddrv.ISCNetReadErr, firebirddrv.ISCNetWriteErr,
		firebirddrv.ISCConnLost, firebirddrv.ISCAttShutdown, firebirddrv.ISCShutdown):
		return f.server.EndedConnection()
	case hasCode(e, firebirddrv.ISCIoError, firebirddrv.ISCUnavailable):
		return f.server.Failf(fault.CodeNoDatabase,
			"the ERP database of %s does not exist or cannot be opened by the server; check the alias or path in erp.dsn (it is a path on the server)")
	case hasCode(e, firebirddrv.ISCBadDbFormat):
		return f.server.Failf(fault.CodeNotADatabase,
			"the file of %s is no Firebird database of a version that this server knows")
	case e.SQLCode == -104 || e.SQLCode == -204 || e.SQLCode == -206 || strings.HasPrefix(e.SQLState, "42"):
		return place(e, query, dialect.BadSyntax(phrase.New("it cannot be read")))
	}
	return f.server.UnknownError(e.GDSCodes)
}

// firebirdName returns the name to which a compiler error refers.
func firebirdName(e *firebirddrv.FbError, code int) string {
	for i, c := range e.GDSCodes {
		if c == code && i < len(e.Params) && len(e.Params[i]) > 0 {
			return e.Params[i][0]
		}
	}
	// The name of a column or table comes as a separate message after the code.
	if i := slices.Index(e.GDSCodes, code); i >= 0 && i+1 < len(e.Params) && len(e.Params[i+1]) > 0 {
		return e.Params[i+1][0]
	}
	return "?"
}

// privilege returns the right and the object, never the user.
func privilege(e *firebirddrv.FbError) string {
	for i, c := range e.GDSCodes {
		if c == firebirddrv.ISCNoPriv && i < len(e.Params) && len(e.Params[i]) >= 3 {
			return strings.Join(e.Params[i][:3], " ")
		}
	}
	return "no details"
}

var firebirdAt = regexp.MustCompile(`line (\d+), column (\d+)`)

// place adds the position. The server counts from the first line of our wrapper.
func place(e *firebirddrv.FbError, query string, out *fault.Error) *fault.Error {
	m := firebirdAt.FindStringSubmatch(e.Message)
	if m == nil || query == "" {
		return out
	}
	line, _ := strconv.Atoi(m[1]) // digits
	col, _ := strconv.Atoi(m[2])
	line--
	if line < 1 || line > 1+strings.Count(query, "\n") {
		return out
	}
	out.Line, out.Column = line, col
	out.Text = phrase.New("%w, at line %d, column %d of the query", out.Text, line, col)
	return out
}
