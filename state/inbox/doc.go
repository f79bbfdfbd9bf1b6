// Package inbox has what the platform reports by itself: our registrations of webhooks, the events as
// they came, each once by the hash of event and body, what they say of records, and the records that
// are to be read back. No event changes a row, and nothing here decides a doubt: package events of
// sync judges what an event is evidence of.
package inbox
