// Package sqlserver reads Microsoft SQL Server. A SELECT cannot write there, except by certain
// words, which are refused. It was tried against a live server of its protocol (Babelfish), not yet
// against Microsoft's own. Its tests check its SQL as text, its values on the driver's types, and
// its faults with the driver and a server that begins to speak the protocol.
package sqlserver
