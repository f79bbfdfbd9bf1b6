// Package sickdb lets the calls of a database fail, one by one: it stands between a ledger and the
// driver of its database. What fails, and when, is up to the test.
package sickdb
