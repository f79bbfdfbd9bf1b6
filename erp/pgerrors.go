package erp

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lib/pq"
)

// isDataError: some value made the statement fail (class 22), bytes that are no
// text (22021, 22P05) among them.
func isDataError(err error) bool {
	var e *pq.Error
	return errors.As(err, &e) && e.Code.Class() == "22"
}

// problem: the database's own words are passed on only where they can name
// nothing but parts of the query.
func (p *postgres) problem(err error, query string) *Error {
	var e *pq.Error
	switch {
	case errors.As(err, &e):
		out := p.serverProblem(e)
		out.SQLState = string(e.Code)
		if at, ok := queryOffset(e.Position, query); ok {
			out.Line, out.Column = position(query, at)
			out.Text += ", at line " + strconv.Itoa(out.Line) + ", column " + strconv.Itoa(out.Column) +
				" of the query near " + nearText(query, at)
		}
		if e.Hint != "" && e.Code.Class() == "42" { // syntax and names: such messages quote the query only
			out.Text += "; the database suggests: " + strings.ToValidUTF8(e.Hint, "?")
		}
		return out
	case errors.Is(err, pq.ErrSSLNotSupported):
		return failf(CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or add sslmode=disable to erp.dsn if the network is trusted", p.server.target)
	case strings.Contains(err.Error(), "too many clients"):
		return p.server.noConnectionLeft()
	}
	return p.server.noAnswer(err)
}

// queryOffset maps PostgreSQL's position, in characters of the statement sent,
// to a byte offset in the configured query.
func queryOffset(pos, query string) (int, bool) {
	n, err := strconv.Atoi(pos)
	if err != nil || query == "" {
		return 0, false
	}
	n -= 1 + len(describeOpen)
	if n < 0 || n > utf8.RuneCountInString(query) {
		return 0, false
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(query[at:])
		at += size
	}
	return at, true
}

func (p *postgres) serverProblem(e *pq.Error) *Error {
	// A server with SQL_ASCII may speak in any encoding.
	message := strings.ToValidUTF8(e.Message, "?")
	switch e.Code {
	case "3D000":
		return p.server.missingDatabase()
	case "42703":
		return missingColumn(message)
	case "42P01", "3F000":
		return missingTable(message, "check the schema (search_path) and the spelling")
	case "42702":
		return ambiguousColumn(message)
	case "42501":
		return missingRight(message)
	case "25006":
		return triesToWrite()
	case "57014":
		return p.server.stoppedStatement()
	case "55P03":
		return lockedTable()
	case "22021", "22P05":
		return failf(CodeEncoding,
			"the database holds bytes that are no valid text and stopped the query; set erp.charset, or convert the column in the query")
	case "08P01":
		return failf(CodeConfig,
			"the server at %s does not accept our session settings; if it is a pooler (PgBouncer), connect to PostgreSQL directly", p.server.target)
	case "22023":
		return failf(CodeConfig,
			"the ERP database does not accept a setting of the session or an argument in the query; check erp.time_zone and the settings in erp.dsn")
	case "25P03":
		return failf(CodeUnreachable, "the ERP database ended our session, which had been idle too long")
	}
	switch e.Code.Class() {
	case "08", "57":
		return p.server.endedConnection()
	case "53":
		return p.server.noConnectionLeft()
	case "22":
		return badValue("e.g. cast only what matches")
	case "28":
		return p.server.refusedUser("pg_hba.conf on the server")
	case "42", "0A":
		return badSyntax(message)
	}
	return p.server.unknownError(e.Code)
}
