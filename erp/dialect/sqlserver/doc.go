// Package sqlserver reads Microsoft SQL Server. No SELECT can write there, and the words for what
// could are refused. It has not yet been tried on a live server: its SQL is tested as text, its
// values on the driver's types.
package sqlserver
