// Package dialect is the interface between the reader and a database engine, and what the engines
// have in common: values as exact text, moments, character sets, addresses, connections that cannot
// hang, error messages, and the transaction of drivers that return row by row.
//
// A folder below it holds one engine: an [Engine], which is data about a database and how to open
// it, and a [Dialect]. The driver of a database is imported there and nowhere else.
package dialect
