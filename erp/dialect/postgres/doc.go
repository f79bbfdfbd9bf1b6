// Package postgres reads PostgreSQL through lib/pq. A read uses a cursor in a REPEATABLE READ, READ
// ONLY transaction, and every value arrives as the text that PostgreSQL itself writes.
package postgres
