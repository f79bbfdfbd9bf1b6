package erp

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lib/pq"
)

// isDataError: some value made the statement fail (class 22), bytes that are no
// text (22021, 22P05) among them.
func isDataError(err error) bool {
	var c callerError
	if errors.As(err, &c) {
		return false
	}
	var e *pq.Error
	return errors.As(err, &e) && e.Code.Class() == "22"
}

// problem turns an error into one that may be shown. The database's own words
// are passed on only where they can name nothing but parts of the query.
func (p *postgres) problem(ctx context.Context, err error, st statement, offset int) error {
	var ours *Error
	var theirs callerError
	if errors.As(err, &ours) || errors.As(err, &theirs) {
		return err
	}
	if e := ended(ctx); e != nil {
		return e
	}
	var e *pq.Error
	if errors.As(err, &e) {
		out := p.serverProblem(e)
		out.SQLState = string(e.Code)
		if at, ok := queryOffset(e.Position, st, offset); ok {
			out.Line, out.Column = position(st.body, at)
			out.Text += ", at line " + strconv.Itoa(out.Line) + ", column " + strconv.Itoa(out.Column) +
				" of the query near " + nearText(st.body, at)
		}
		if e.Hint != "" && safeWords(e) {
			out.Text += "; the database suggests: " + strings.ToValidUTF8(e.Hint, "?")
		}
		return out
	}
	return p.connectionProblem(err)
}

// queryOffset maps PostgreSQL's position, in characters of the statement sent,
// to a byte offset in the configured query.
func queryOffset(pos string, st statement, offset int) (int, bool) {
	n, err := strconv.Atoi(pos)
	if err != nil || offset < 0 || st.body == "" {
		return 0, false
	}
	n -= 1 + offset
	if n < 0 || n > utf8.RuneCountInString(st.body) {
		return 0, false
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(st.body[at:])
		at += size
	}
	return at, true
}

// safeWords: messages of class 42 (syntax and names) quote the query only.
func safeWords(e *pq.Error) bool { return e.Code.Class() == "42" }

func (p *postgres) serverProblem(e *pq.Error) *Error {
	// A server with SQL_ASCII may speak in any encoding.
	message := strings.ToValidUTF8(e.Message, "?")
	switch e.Code {
	case "28P01", "28000":
		return failf(CodeAuth,
			"the ERP database at %s refused the user or the password; check erp.dsn, and pg_hba.conf on the server",
			p.address)
	case "3D000":
		return failf(CodeNoDatabase, "the ERP database of %s does not exist; check the name at the end of erp.dsn",
			p.address)
	case "42601":
		return failf(CodeSyntax, "the database does not accept the query: %s", message)
	case "42703":
		return failf(CodeMissingColumn, "the database does not accept the query: %s; was it renamed in the ERP?",
			message)
	case "42P01", "3F000":
		return failf(CodeMissingTable,
			"the database does not accept the query: %s; check the schema (search_path) and the spelling", message)
	case "42702":
		return failf(CodeDuplicateColumn, "the database does not accept the query: %s; two columns have this name",
			message)
	case "42501":
		return failf(CodePermission, "the reading role lacks a right: %s; grant it SELECT", message)
	case "25006":
		return failf(CodeReadOnly,
			"the query tries to write, and the ERP is only read: %s; remove that part of the query", message)
	case "57014":
		return failf(CodeTimeout,
			"the database stopped the statement; it may take %s (erp.statement_timeout): make the query faster, e.g. by an index, or raise the limit", p.opt.StatementTimeout)
	case "55P03":
		return failf(CodeLocked, "a table of the query stayed locked by another session for %s; try again later",
			lockTimeout)
	case "22021", "22P05":
		return failf(CodeEncoding,
			"the database holds bytes that are no valid text and stopped the query; set erp.charset, or convert the column in the query")
	case "08P01":
		return failf(CodeConfig,
			"the server at %s does not accept our session settings; if it is a pooler (PgBouncer), connect to PostgreSQL directly", p.address)
	case "22023":
		return failf(CodeConfig,
			"the ERP database does not accept a setting of the session or an argument in the query; check erp.time_zone and the settings in erp.dsn")
	case "25P03":
		return failf(CodeUnreachable, "the ERP database ended our session, which had been idle too long")
	}
	switch e.Code.Class() {
	case "08", "57":
		return failf(CodeUnreachable,
			"the ERP database at %s ended the connection or is starting; it is tried again at the next run", p.address)
	case "53":
		return failf(CodeUnreachable,
			"the ERP database at %s has no connection or memory left for us; it is tried again at the next run",
			p.address)
	case "22":
		return failf(CodeData,
			"a value in the ERP makes an expression of the query fail; make the expression safe, e.g. cast only what matches")
	case "28":
		return failf(CodeAuth, "the ERP database at %s refused the user; check erp.dsn", p.address)
	case "42", "0A":
		return failf(CodeSyntax, "the database does not accept the query: %s", message)
	}
	return failf(CodeOther, "the ERP database reports an error; its own log has the details")
}

// connectionProblem explains why there is no answer at all.
func (p *postgres) connectionProblem(err error) *Error {
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return failf(CodeTLS,
			"the ERP database at %s offers no TLS; switch it on there, or add sslmode=disable to erp.dsn if the network is trusted", p.address)
	}
	if e := networkProblem(err, p.address, "PostgreSQL", "sslmode and sslrootcert"); e != nil {
		return e
	}
	if strings.Contains(err.Error(), "too many clients") {
		return failf(CodeUnreachable, "the ERP database at %s has no connection left for us", p.address)
	}
	return failf(CodeOther, "the ERP database at %s gave an answer that the driver does not understand", p.address)
}
