package erp

import (
	"context"
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

func (f *firebird) problem(ctx context.Context, err error, st statement, _ int) error {
	if known := knownProblem(ctx, err); known != nil {
		return known
	}
	var e *firebirddrv.FbError
	if errors.As(err, &e) {
		out := f.serverProblem(e, st)
		out.SQLState = e.SQLState
		return out
	}
	if e := networkProblem(err, f.address, "Firebird", "wire_crypt"); e != nil {
		return e
	}
	if strings.Contains(err.Error(), "wire_crypt") {
		return failf(CodeTLS,
			"the ERP database at %s and safrasync do not agree on encryption; check wire_crypt in erp.dsn and WireCrypt in firebird.conf", f.address)
	}
	return failf(CodeOther, "the ERP database at %s gave an answer that the driver does not understand", f.address)
}

func (f *firebird) serverProblem(e *firebirddrv.FbError, st statement) *Error {
	const intro = "the database does not accept the query: "
	switch {
	case hasCode(e, firebirddrv.ISCLogin, firebirddrv.ISCConnectReject):
		return failf(CodeAuth,
			"the ERP database at %s refused the user or the password; check erp.dsn, and auth_plugin_name for a server that knows only Legacy_Auth", f.address)
	case hasCode(e, firebirddrv.ISCCancelled):
		return failf(CodeTimeout, "the database stopped the statement; it may take %s (erp.statement_timeout)",
			f.opt.StatementTimeout)
	case hasCode(e, firebirddrv.ISCDsqlFieldErr):
		return firebirdPlace(e, st, failf(CodeMissingColumn, intro+"column unknown: %s; was it renamed in the ERP?",
			firebirdName(e, firebirddrv.ISCDsqlFieldErr)))
	case hasCode(e, firebirddrv.ISCDsqlRelationErr):
		return firebirdPlace(e, st, failf(CodeMissingTable,
			intro+"table unknown: %s; check the spelling and the database",
			firebirdName(e, firebirddrv.ISCDsqlRelationErr)))
	case hasCode(e, firebirddrv.ISCDsqlDerivedFieldDupName):
		return failf(CodeDuplicateColumn,
			"the query returns two columns named %q; give one of them another name with AS",
			firebirdName(e, firebirddrv.ISCDsqlDerivedFieldDupName))
	case hasCode(e, firebirddrv.ISCDsqlDerivedFieldUnnamed):
		return failf(CodeDuplicateColumn, "the query returns an expression without a name; name each with AS")
	case hasCode(e, firebirddrv.ISCDsqlAmbiguousFieldName):
		return failf(CodeDuplicateColumn,
			intro+"a column name is ambiguous between two tables; write the table before it")
	case hasCode(e, firebirddrv.ISCDsqlTokenUnkErr, firebirddrv.ISCDsqlFunctionErr):
		return firebirdPlace(e, st, failf(CodeSyntax, intro+"unknown word or function %s",
			firebirdName(e, firebirddrv.ISCDsqlTokenUnkErr)))
	case hasCode(e, firebirddrv.ISCNoPriv):
		return failf(CodePermission, "the reading user lacks a right on an object of the query; grant it SELECT (%s)",
			firebirdPrivilege(e))
	case hasCode(e, firebirddrv.ISCReadOnlyTrans):
		return failf(CodeReadOnly, "the query tries to write, and the ERP is only read; remove that part of the query")
	case hasCode(e, firebirddrv.ISCLockConflict, firebirddrv.ISCDeadlock):
		return failf(CodeLocked, "a table of the query is locked by another session; try again later")
	case firebirdRowError(e):
		return failf(CodeData,
			"a value in the ERP makes an expression of the query fail (or its bytes are no text of the column's charset); make the expression safe, or set erp.charset")
	case hasCode(e, firebirddrv.ISCNetworkError, firebirddrv.ISCNetReadErr, firebirddrv.ISCNetWriteErr,
		firebirddrv.ISCConnLost, firebirddrv.ISCAttShutdown, firebirddrv.ISCShutdown):
		return failf(CodeUnreachable,
			"the ERP database at %s ended the connection or is shut down; it is tried again at the next run", f.address)
	case hasCode(e, firebirddrv.ISCIoError, firebirddrv.ISCUnavailable):
		return failf(CodeNoDatabase,
			"the ERP database of %s does not exist or cannot be opened by the server; check the alias or path in erp.dsn (it is a path on the server)", f.address)
	case hasCode(e, firebirddrv.ISCBadDbFormat):
		return failf(CodeNotADatabase, "the file of %s is no Firebird database of a version that this server knows",
			f.address)
	case e.SQLCode == -104 || e.SQLCode == -204 || e.SQLCode == -206 || strings.HasPrefix(e.SQLState, "42"):
		return firebirdPlace(e, st, failf(CodeSyntax, "the database does not accept the query"))
	}
	return failf(CodeOther, "the ERP database reports error %s; its own log has the details", fmt.Sprint(e.GDSCodes))
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
func firebirdPlace(e *firebirddrv.FbError, st statement, out *Error) *Error {
	m := firebirdAt.FindStringSubmatch(e.Message)
	if m == nil || st.body == "" {
		return out
	}
	line, _ := strconv.Atoi(m[1]) // digits
	col, _ := strconv.Atoi(m[2])
	if line--; line < 1 || line > 1+strings.Count(st.body, "\n") {
		return out
	}
	out.Line, out.Column = line, col
	out.Text += fmt.Sprintf(", at line %d, column %d of the query", line, col)
	return out
}
