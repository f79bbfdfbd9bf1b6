// Package mysql reads MySQL and MariaDB in a read-only transaction with one snapshot. The session
// is set so that a query means the same on every server; what is cancelled is also stopped there.
package mysql
