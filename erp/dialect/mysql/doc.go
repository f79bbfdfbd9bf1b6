// Package mysql reads MySQL and MariaDB in a read-only transaction with one snapshot. The session
// is set up so that a query means the same on every server. A cancelled query is also stopped on
// the server.
package mysql
