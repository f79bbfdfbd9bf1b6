package erp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	mysqldrv "github.com/go-sql-driver/mysql"
)

func mysqlNumber(err error) uint16 {
	var e *mysqldrv.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// mysqlRowError: a value of one row ended the SELECT. Most conversions do not:
// MySQL gives 0 or NULL and a warning that nobody sees.
func mysqlRowError(err error) bool {
	var e *mysqldrv.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Number {
	case 1242, 1264, 1292, 1365, 1366, 1411, 1644, 1690, 3140, 3141, 3143, 3853, 4038, 4076:
		return true
	}
	return strings.HasPrefix(string(e.SQLState[:]), "22")
}

func (m *mysql) problem(ctx context.Context, err error, st statement, _ int) error {
	if known := knownProblem(ctx, err); known != nil {
		return known
	}
	var e *mysqldrv.MySQLError
	switch {
	case errors.As(err, &e):
		out := m.serverProblem(e, st)
		if state := string(e.SQLState[:]); strings.Trim(state, "\x00") != "" {
			out.SQLState = state
		}
		return out
	case errors.Is(err, mysqldrv.ErrNoTLS):
		return failf(CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or add tls=disable to erp.dsn if the network is trusted", m.address)
	case errors.Is(err, mysqldrv.ErrInvalidConn), errors.Is(err, mysqldrv.ErrMalformPkt):
		return failf(CodeUnreachable,
			"the connection to the ERP database at %s was lost; it is tried again at the next run", m.address)
	case errors.Is(err, mysqldrv.ErrUnknownPlugin), errors.Is(err, mysqldrv.ErrOldPassword),
		errors.Is(err, mysqldrv.ErrCleartextPassword),
		errors.Is(err, mysqldrv.ErrNativePassword), errors.Is(err, mysqldrv.ErrOldProtocol):
		return failf(CodeAuth,
			"the ERP database at %s wants a way to log in that is not supported; create the reading user with mysql_native_password or caching_sha2_password", m.address)
	}
	if e := networkProblem(err, m.address, "MySQL or MariaDB", "tls and ca"); e != nil {
		return e
	}
	return failf(CodeOther, "the ERP database at %s gave an answer that the driver does not understand", m.address)
}

var (
	mysqlQuoted = regexp.MustCompile(`'([^']*)'`)
	mysqlLine   = regexp.MustCompile(` at line ([0-9]+)$`)
)

func (m *mysql) serverProblem(e *mysqldrv.MySQLError, st statement) *Error {
	const intro = "the database does not accept the query: "
	switch e.Number {
	case 1044, 1045, 1130, 1251, 1275, 1524, 1698, 1862, 1820, 3118:
		return failf(CodeAuth,
			"the ERP database at %s refused the user or the password; check erp.dsn, and for which host the user was created on the server", m.address)
	case 1049:
		return failf(CodeNoDatabase, "the ERP database of %s does not exist; check the name at the end of erp.dsn",
			m.address)
	case 3159:
		return failf(CodeTLS, "the ERP database at %s asks for TLS; remove tls=disable from erp.dsn", m.address)
	case 1064, 1149:
		return m.syntaxProblem(e, st)
	case 1054:
		return failf(CodeMissingColumn, intro+"%s; was it renamed in the ERP?", e.Message)
	case 1146, 1109:
		return failf(CodeMissingTable, intro+
			"%s; check the database and the spelling (on Linux upper and lower case differ)", e.Message)
	case 1060:
		name := ""
		if q := mysqlQuoted.FindStringSubmatch(e.Message); q != nil {
			name = q[1]
		}
		return failf(CodeDuplicateColumn,
			"the query returns two columns named %q; give one of them another name with AS", name)
	case 1052:
		return failf(CodeDuplicateColumn, intro+"%s; two columns have this name", e.Message)
	case 1142, 1143, 1227, 1370, 1345:
		return failf(CodePermission, "the reading user lacks a right: %s; grant it SELECT", withoutHost(e.Message))
	case 1792, 1290, 1836:
		return failf(CodeReadOnly, "the query tries to write, and the ERP is only read; remove that part of the query")
	case 1969, 3024, 1317:
		return failf(CodeTimeout,
			"the database stopped the statement; it may take %s (erp.statement_timeout): make the query faster, e.g. by an index, or raise the limit", m.opt.StatementTimeout)
	case 1205, 1213:
		return failf(CodeLocked, "a table of the query stayed locked by another session for %s; try again later",
			lockTimeout)
	case 1040, 1203, 1226:
		return failf(CodeUnreachable,
			"the ERP database at %s has no connection left for us; it is tried again at the next run", m.address)
	case 1053, 1077, 1927, 1158, 1159, 1160, 1161, 4031, 1129:
		return failf(CodeUnreachable,
			"the ERP database at %s ended the connection or is starting; it is tried again at the next run", m.address)
	case 1267, 1270, 1271:
		return failf(CodeSyntax,
			intro+"it compares texts of different collations; add COLLATE or CONVERT(… USING utf8mb4) to one side")
	}
	switch state := string(e.SQLState[:]); {
	case mysqlRowError(e):
		return failf(CodeData,
			"a value in the ERP makes an expression of the query fail; make the expression safe, e.g. by a CASE or IF before it")
	case strings.HasPrefix(state, "42"):
		return failf(CodeSyntax, intro+"%s", e.Message)
	case strings.HasPrefix(state, "08"):
		return failf(CodeUnreachable,
			"the connection to the ERP database at %s was lost; it is tried again at the next run", m.address)
	}
	return failf(CodeOther, "the ERP database reports error %d; its own log has the details", e.Number)
}

// withoutHost drops whose right it is: the message names 'user'@'host'.
func withoutHost(message string) string {
	before, rest, found := strings.Cut(message, " to user ")
	if !found {
		return message
	}
	if _, after, ok := strings.Cut(rest, " for "); ok {
		return before + " for " + after
	}
	return before
}

// syntaxProblem maps the server's line, which counts from our own first line.
func (m *mysql) syntaxProblem(e *mysqldrv.MySQLError, st statement) *Error {
	near := ""
	if i := strings.Index(e.Message, "near '"); i >= 0 {
		near, _, _ = strings.Cut(e.Message[i:], "\n")
		near = strings.TrimSpace(strings.TrimSuffix(mysqlLine.ReplaceAllString(near, ""), "'"))
		if r := []rune(near); len(r) > 60 {
			near = string(r[:60]) + "…"
		}
		near += "'"
	}
	out := failf(CodeSyntax, "the database does not accept the query: syntax error %s", near)
	if l := mysqlLine.FindStringSubmatch(e.Message); l != nil && st.body != "" {
		if n, err := strconv.Atoi(l[1]); err == nil && n > 1 {
			out.Line = min(n-1, 1+strings.Count(st.body, "\n"))
			out.Text += fmt.Sprintf(", at line %d of the query", out.Line)
		}
	}
	return out
}
