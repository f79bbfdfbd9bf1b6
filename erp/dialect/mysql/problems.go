package mysql

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	mysqldrv "github.com/go-sql-driver/mysql"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

// rowError reports whether a value of one row ended the SELECT. Most failed conversions do not:
// MySQL returns 0 or NULL and a warning that nobody sees.
func rowError(err error) bool {
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

func (m *engine) Problem(err error, query string) *fault.Error {
	var e *mysqldrv.MySQLError
	switch {
	case errors.As(err, &e):
		out := m.serverProblem(e, query)
		if state := string(e.SQLState[:]); strings.Trim(state, "\x00") != "" {
			out.SQLState = state
		}
		return out
	case errors.Is(err, mysqldrv.ErrNoTLS):
		return m.server.Failf(fault.CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or add tls=disable to erp.dsn if the network is trusted")
	case errors.Is(err, mysqldrv.ErrInvalidConn), errors.Is(err, mysqldrv.ErrMalformPkt):
		return m.server.LostConnection()
	case errors.Is(err, mysqldrv.ErrUnknownPlugin), errors.Is(err, mysqldrv.ErrOldPassword),
		errors.Is(err, mysqldrv.ErrCleartextPassword),
		errors.Is(err, mysqldrv.ErrNativePassword), errors.Is(err, mysqldrv.ErrOldProtocol):
		return m.server.Failf(fault.CodeAuth,
			"the ERP database at %s wants a way to log in that is not supported; create the reading user with mysql_native_password or caching_sha2_password")
	}
	return m.server.NoAnswer(err)
}

var line = regexp.MustCompile(` at line ([0-9]+)$`)

func (m *engine) serverProblem(e *mysqldrv.MySQLError, query string) *fault.Error {
	switch e.Number {
	case 1044, 1045, 1130, 1251, 1275, 1524, 1698, 1862, 1820, 3118:
		return m.server.RefusedUser("for which host the user was created on the server")
	case 1049:
		return m.server.MissingDatabase()
	case 3159:
		return m.server.Failf(fault.CodeTLS,
			"the ERP database at %s asks for TLS; remove tls=disable from erp.dsn")
	case 1064, 1149:
		near := ""
		if i := strings.Index(e.Message, "near '"); i >= 0 {
			near, _, _ = strings.Cut(e.Message[i:], "\n")
			near = strings.TrimSpace(strings.TrimSuffix(line.ReplaceAllString(near, ""), "'"))
			if r := []rune(near); len(r) > 60 {
				near = string(r[:60]) + "…"
			}
			near += "'"
		}
		out := dialect.BadSyntax(phrase.New("syntax error %s", near))
		if l := line.FindStringSubmatch(e.Message); l != nil && query != "" {
			if n, err := strconv.Atoi(l[1]); err == nil && n > 1 { // from the first line of our wrapper
				out.Line = min(n-1, 1+strings.Count(query, "\n"))
				out.Text = phrase.New("%w, at line %d of the query", out.Text, out.Line)
			}
		}
		return out
	case 1054:
		return dialect.MissingColumn(phrase.Fixed(e.Message))
	case 1146, 1109:
		return dialect.MissingTable(phrase.Fixed(e.Message),
			"check the database and the spelling (on Linux upper and lower case differ)")
	case 1060:
		return dialect.DoubleColumn(dialect.QuotedIn(e.Message))
	case 1052:
		return dialect.AmbiguousColumn(phrase.Fixed(e.Message))
	case 1142, 1143, 1227, 1370, 1345:
		return dialect.MissingRight(phrase.Fixed(withoutHost(e.Message)))
	case 1792, 1290, 1836:
		return dialect.TriesToWrite()
	case 1969, 3024, 1317:
		return m.server.StoppedStatement()
	case 1205, 1213:
		return dialect.LockedTable()
	case 1040, 1203, 1226:
		return m.server.NoConnectionLeft()
	case 1053, 1077, 1927, 1158, 1159, 1160, 1161, 4031, 1129:
		return m.server.EndedConnection()
	case 1267, 1270, 1271:
		return dialect.BadSyntax(phrase.New(
			"it compares texts of different collations; add COLLATE or CONVERT(… USING utf8mb4) to one side"))
	}
	switch state := string(e.SQLState[:]); {
	case rowError(e):
		return dialect.BadValue("e.g. by a CASE or IF before it")
	case strings.HasPrefix(state, "42"):
		return dialect.BadSyntax(phrase.Fixed(e.Message))
	case strings.HasPrefix(state, "08"):
		return m.server.LostConnection()
	}
	return m.server.UnknownError(e.Number)
}

// withoutHost removes the user from a message, which contains 'user'@'host'.
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
