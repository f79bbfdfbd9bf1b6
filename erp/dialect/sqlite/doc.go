// Package sqlite reads a SQLite file, which SQLite opens read-only. Times are compared as texts of
// one format, because the declared type of a column is not reliable.
package sqlite
