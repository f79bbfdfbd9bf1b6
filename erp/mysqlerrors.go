package erp

import (
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

func (m *mysql) problem(err error, query string) *Error {
	var e *mysqldrv.MySQLError
	switch {
	case errors.As(err, &e):
		out := m.serverProblem(e, query)
		if state := string(e.SQLState[:]); strings.Trim(state, "\x00") != "" {
			out.SQLState = state
		}
		return out
	case errors.Is(err, mysqldrv.ErrNoTLS):
		return failf(CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or add tls=disable to erp.dsn if the network is trusted", m.server.target)
	case errors.Is(err, mysqldrv.ErrInvalidConn), errors.Is(err, mysqldrv.ErrMalformPkt):
		return m.server.lostConnection()
	case errors.Is(err, mysqldrv.ErrUnknownPlugin), errors.Is(err, mysqldrv.ErrOldPassword),
		errors.Is(err, mysqldrv.ErrCleartextPassword),
		errors.Is(err, mysqldrv.ErrNativePassword), errors.Is(err, mysqldrv.ErrOldProtocol):
		return failf(CodeAuth,
			"the ERP database at %s wants a way to log in that is not supported; create the reading user with mysql_native_password or caching_sha2_password", m.server.target)
	}
	return m.server.noAnswer(err)
}

var mysqlLine = regexp.MustCompile(` at line ([0-9]+)$`)

func (m *mysql) serverProblem(e *mysqldrv.MySQLError, query string) *Error {
	switch e.Number {
	case 1044, 1045, 1130, 1251, 1275, 1524, 1698, 1862, 1820, 3118:
		return m.server.refusedUser("for which host the user was created on the server")
	case 1049:
		return m.server.missingDatabase()
	case 3159:
		return failf(CodeTLS, "the ERP database at %s asks for TLS; remove tls=disable from erp.dsn", m.server.target)
	case 1064, 1149:
		return mysqlSyntaxProblem(e, query)
	case 1054:
		return missingColumn(e.Message)
	case 1146, 1109:
		return missingTable(e.Message,
			"check the database and the spelling (on Linux upper and lower case differ)")
	case 1060:
		return doubleColumn(quotedIn(e.Message))
	case 1052:
		return ambiguousColumn(e.Message)
	case 1142, 1143, 1227, 1370, 1345:
		return missingRight(withoutHost(e.Message))
	case 1792, 1290, 1836:
		return triesToWrite()
	case 1969, 3024, 1317:
		return m.server.stoppedStatement()
	case 1205, 1213:
		return lockedTable()
	case 1040, 1203, 1226:
		return m.server.noConnectionLeft()
	case 1053, 1077, 1927, 1158, 1159, 1160, 1161, 4031, 1129:
		return m.server.endedConnection()
	case 1267, 1270, 1271:
		return badSyntax(
			"it compares texts of different collations; add COLLATE or CONVERT(… USING utf8mb4) to one side")
	}
	switch state := string(e.SQLState[:]); {
	case mysqlRowError(e):
		return badValue("e.g. by a CASE or IF before it")
	case strings.HasPrefix(state, "42"):
		return badSyntax(e.Message)
	case strings.HasPrefix(state, "08"):
		return m.server.lostConnection()
	}
	return m.server.unknownError(e.Number)
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

// mysqlSyntaxProblem maps the server's line, which counts from our own first line.
func mysqlSyntaxProblem(e *mysqldrv.MySQLError, query string) *Error {
	near := ""
	if i := strings.Index(e.Message, "near '"); i >= 0 {
		near, _, _ = strings.Cut(e.Message[i:], "\n")
		near = strings.TrimSpace(strings.TrimSuffix(mysqlLine.ReplaceAllString(near, ""), "'"))
		if r := []rune(near); len(r) > 60 {
			near = string(r[:60]) + "…"
		}
		near += "'"
	}
	out := badSyntax("syntax error " + near)
	if l := mysqlLine.FindStringSubmatch(e.Message); l != nil && query != "" {
		if n, err := strconv.Atoi(l[1]); err == nil && n > 1 {
			out.Line = min(n-1, 1+strings.Count(query, "\n"))
			out.Text += fmt.Sprintf(", at line %d of the query", out.Line)
		}
	}
	return out
}
