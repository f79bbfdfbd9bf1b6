package postgres

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// recovery matches the text of a conflict with recovery, in the languages of the server.
var recovery = regexp.MustCompile(`(?i)recover|recupera`)

// Problem passes on the database's message only if it can contain nothing but parts of the query.
func (p *engine) Problem(err error, query string) *fault.Error {
	var e *pq.Error
	switch {
	case errors.As(err, &e):
		out := p.serverProblem(e)
		out.SQLState = string(e.Code)
		if at, ok := queryOffset(e.Position, query); ok {
			out.Line, out.Column = sqltext.Position(query, at)
			out.Text = phrase.New("%w, at line %d, column %d of the query near %s", out.Text, out.Line, out.Column,
				sqltext.Near(query, at))
		}
		// syntax and names: such messages quote only the query
		if e.Hint != "" && e.Code.Class() == "42" {
			out.Text = phrase.New("%w; the database suggests: %s", out.Text, strings.ToValidUTF8(e.Hint, "?"))
		}
		return out
	case errors.Is(err, pq.ErrSSLNotSupported):
		return p.server.Failf(fault.CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or add sslmode=disable to erp.dsn if the network is trusted")
	case strings.Contains(err.Error(), "too many clients"):
		return p.server.NoConnectionLeft()
	}
	return p.server.NoAnswer(err)
}

// queryOffset converts PostgreSQL's position, in characters of the statement sent, to a byte offset
// in the configured query.
func queryOffset(pos, query string) (int, bool) {
	n, err := strconv.Atoi(pos)
	if err != nil || query == "" {
		return 0, false
	}
	n -= 1 + len(sqltext.DescribeOpen)
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

func (p *engine) serverProblem(e *pq.Error) *fault.Error {
	// A server with SQL_ASCII may send messages in any encoding.
	message := strings.ToValidUTF8(e.Message, "?")
	// our transactions only read, so 40001 has no other cause; 57P01 and 57P04 have, and only their text
	// tells. 57P03 speaks of recovery, too: of the server's own, after a crash.
	if e.Code == "40001" || (e.Code == "57P01" || e.Code == "57P04") && recovery.MatchString(message) {
		return p.server.Failf(fault.CodeUnreachable,
			"the ERP database at %s is a standby that ended the reading to apply changes of its primary"+
				" (conflict with recovery); it is tried again at the next run. If that happens often: hot_standby_feedback = on, or a longer"+
				" max_standby_streaming_delay, on the standby")
	}
	switch e.Code {
	case "3D000":
		return p.server.MissingDatabase()
	case "42703":
		return dialect.MissingColumn(phrase.Fixed(message))
	case "42P01", "3F000":
		return dialect.MissingTable(phrase.Fixed(message), "check the schema (search_path) and the spelling")
	case "42702":
		return dialect.AmbiguousColumn(phrase.Fixed(message))
	case "42501":
		return dialect.MissingRight(phrase.Fixed(message))
	case "25006":
		return dialect.TriesToWrite()
	case "57014":
		return p.server.StoppedStatement()
	case "55P03":
		return dialect.LockedTable()
	case "22021", "22P05":
		return fault.Failf(fault.CodeEncoding,
			"the database holds bytes that are no valid text and stopped the query; set erp.charset, or convert the column in the query")
	case "08P01":
		return p.server.Failf(fault.CodeConfig,
			"the server at %s does not accept our session settings; if it is a pooler (PgBouncer), connect to PostgreSQL directly")
	case "22023":
		return fault.Failf(fault.CodeConfig,
			"the ERP database does not accept a setting of the session or an argument in the query; check erp.time_zone and the settings in erp.dsn")
	case "25P03":
		return fault.Failf(fault.CodeUnreachable, "the ERP database ended our session, which had been idle too long")
	}
	switch e.Code.Class() {
	case "08", "57":
		return p.server.EndedConnection()
	case "53":
		return p.server.NoConnectionLeft()
	case "22":
		return dialect.BadValue("e.g. cast only what matches")
	case "28":
		return p.server.RefusedUser("pg_hba.conf on the server")
	case "42", "0A":
		return dialect.BadSyntax(phrase.Fixed(message))
	}
	return p.server.UnknownError(e.Code)
}
