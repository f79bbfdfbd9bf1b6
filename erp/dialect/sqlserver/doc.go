// Package sqlserver reads Microsoft SQL Server. A SELECT cannot write there, except by certain
// words, which are refused. It has not yet been tried on a live server: its SQL is tested as text,
// its values on the driver's types.
package sqlserver
