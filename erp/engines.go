package erp

import (
	_ "embed" // for the reserved words
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/dialect/firebird"
	"github.com/safrasync/safrasync/erp/dialect/mysql"
	"github.com/safrasync/safrasync/erp/dialect/oracle"
	"github.com/safrasync/safrasync/erp/dialect/postgres"
	"github.com/safrasync/safrasync/erp/dialect/sqlite"
	"github.com/safrasync/safrasync/erp/dialect/sqlserver"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// engines are the databases that can be read, in alphabetical order. A new engine is a folder
// beside theirs, and a line here.
var engines = []*dialect.Engine{
	firebird.Engine,  // Firebird 3 or later
	mysql.Engine,     // MySQL 5.7 or later, or MariaDB 10.3 or later
	oracle.Engine,    // not yet tried on a live server
	postgres.Engine,  // PostgreSQL 14 or later
	sqlite.Engine,    // a file, opened read-only
	sqlserver.Engine, // tried against a server of its protocol, not yet Microsoft's own
}

// engineNamed returns the engine with a name, or nil if there is none.
func engineNamed(driver string) *dialect.Engine {
	for _, e := range engines {
		if e.Name == driver {
			return e
		}
	}
	return nil
}

// Drivers returns the values of Options.Driver, in alphabetical order.
func Drivers() []string {
	names := make([]string, len(engines))
	for i, e := range engines {
		names[i] = e.Name
	}
	return names
}

// CheckQuery checks a query without a connection. It returns an *Error with a position for quotes,
// comments and parentheses without an end, for more than one statement, and for a statement that
// does not read.
func CheckQuery(driver, sql string) error {
	if e := engineNamed(driver); e != nil {
		if _, bad := sqltext.Parse(sql, e.Syntax); bad != nil {
			return bad
		}
	}
	return nil
}

// Snippet is a named query of `with:` that other queries can use like a table.
type Snippet = sqltext.Snippet

// WithSnippets returns a query with the snippets that it uses in front of it, as the driver's
// database wants it.
func WithSnippets(driver, sql string, snippets []Snippet) string {
	e := engineNamed(driver)
	if e == nil || len(snippets) == 0 {
		return sql
	}
	return sqltext.Prepend(sql, snippets, e.Syntax)
}

// Unencrypted reports, from the DSN alone, whether a connection leads to another host without
// encryption, or may fall back to none, depending on the server. It returns false for a DSN that
// cannot be parsed; Open reports that.
func Unencrypted(driver string, dsn Secret) bool {
	e := engineNamed(driver)
	return e != nil && e.Unencrypted(dsn)
}

// Unproved reports, from the DSN alone, whether a connection to another host is encrypted without
// anybody checking the certificate of who answers.
func Unproved(driver string, dsn Secret) bool {
	e := engineNamed(driver)
	return e != nil && e.Unproved != nil && e.Unproved(dsn)
}

// reservedWords are the words that some database does not accept as a plain name, or that a query
// that only reads may not have: what the databases' own documents list.
//
//go:embed reserved.txt
var reservedWords string

var reserved = strings.Fields(reservedWords)

// QuoteName returns a name of the catalogue in the form in which a query of the driver's database
// finds it: plain if that is safe, otherwise quoted.
func QuoteName(driver, name string) string {
	e := engineNamed(driver)
	if e == nil || e.PlainName.MatchString(name) && !slices.Contains(reserved, strings.ToUpper(name)) {
		return name
	}
	return e.Syntax.Quote(name)
}

// Tables returns the names of the tables and views that a query reads, sorted and in lower case,
// without those that the query defines itself (WITH …). It is used to detect that a query reads
// from other tables than before. For a query that it does not understand it returns what it found.
func Tables(sql string) []string { return sqltext.Tables(sql, sqlite.Syntax, postgres.Syntax) }
