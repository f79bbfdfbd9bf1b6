package erp

import (
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

// engines are the databases that can be read, in the order of the alphabet. A new one is a folder
// beside theirs, and a line here.
var engines = []*dialect.Engine{
	firebird.Engine,  // Firebird 3 or later
	mysql.Engine,     // MySQL 5.7 or later, or MariaDB 10.3 or later
	oracle.Engine,    // not yet tried on a live server
	postgres.Engine,  // PostgreSQL 14 or later
	sqlite.Engine,    // a file, opened read-only
	sqlserver.Engine, // not yet tried on a live server
}

// engineNamed is nil where there is no such engine.
func engineNamed(driver string) *dialect.Engine {
	for _, e := range engines {
		if e.Name == driver {
			return e
		}
	}
	return nil
}

// Drivers are the values of Options.Driver, in the order of the alphabet.
func Drivers() []string {
	names := make([]string, len(engines))
	for i, e := range engines {
		names[i] = e.Name
	}
	return names
}

// CheckQuery tells, without a connection, what is wrong with a query before the database sees it:
// quotes, comments and parentheses without an end, more than one statement, one that does not read.
// Its error is an *Error with a place.
func CheckQuery(driver, sql string) error {
	if e := engineNamed(driver); e != nil {
		if _, bad := sqltext.Parse(sql, e.Syntax); bad != nil {
			return bad
		}
	}
	return nil
}

// Unencrypted tells, from its DSN alone, whether a connection goes to another host without
// encryption, or without it where the server wants none. A DSN that cannot be read is an error of
// Open.
func Unencrypted(driver string, dsn Secret) bool {
	e := engineNamed(driver)
	return e != nil && e.Unencrypted(dsn)
}

// reserved are words that no database takes as a plain name, as far as names of business tables are
// likely to be one.
var reserved = strings.Fields(`ALL AND AS BETWEEN BY CASE CHECK COLUMN CREATE CROSS CURRENT DATE DEFAULT DESC DISTINCT ELSE END EXISTS
	FROM FULL GROUP HAVING IN INDEX INNER INTO IS JOIN KEY LEFT LEVEL LIKE LIMIT MODE MONTH NOT NULL NUMBER
	OFFSET ON OR ORDER OUTER POSITION PRIMARY REFERENCES RIGHT ROW ROWS SELECT SET SIZE TABLE THEN TIME
	TIMESTAMP TO TYPE UNION UNIQUE UPDATE USER USING VALUE VALUES VIEW WHEN WHERE WITH YEAR`)

// QuoteName writes a name of the catalogue so that a query of the driver's database finds it: plain
// where that is safe, else quoted.
func QuoteName(driver, name string) string {
	e := engineNamed(driver)
	if e == nil || e.PlainName.MatchString(name) && !slices.Contains(reserved, strings.ToUpper(name)) {
		return name
	}
	return e.Syntax.Quote(name)
}

// Tables names the tables and views that a query reads, sorted and in small letters, without those
// that it makes itself (WITH …). It is for noticing that a query reads from elsewhere than before:
// of a query that it does not understand it gives what it found.
func Tables(sql string) []string { return sqltext.Tables(sql, sqlite.Syntax, postgres.Syntax) }
