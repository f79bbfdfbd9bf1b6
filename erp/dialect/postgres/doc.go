// Package postgres reads PostgreSQL through lib/pq. A read is a cursor in a REPEATABLE READ, READ
// ONLY transaction, and every value comes as the text that PostgreSQL itself writes.
package postgres
