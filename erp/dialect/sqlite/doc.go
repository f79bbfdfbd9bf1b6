// Package sqlite reads a SQLite file, which SQLite opens for reading only. Times are compared as
// texts of one shape, because a declared type says little there.
package sqlite
