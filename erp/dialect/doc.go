// Package dialect is what the reader asks of a database engine, and what the engines have in
// common: values as exact text, moments, character sets, addresses, connections that cannot hang,
// sentences about faults, and the transaction of drivers that hand over row by row.
//
// A folder below it holds one engine: an [Engine], which is known data and how to open a database,
// and a [Dialect]. The driver of a database is imported there and nowhere else.
package dialect
