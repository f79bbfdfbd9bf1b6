// Package events acts on the platform's webhook events. An event is only a hint: it causes a record
// to be read back, or to be asked about sooner. Only what was read back then changes a row.
//
// The steps: the inbox holds the event, processor.go takes and classifies it, evidence.go fetches
// the record that it names, evidence_match.go compares the record with what was sent,
// evidence_settle.go decides. A doubt is settled only if it is the only one with this content, the
// record equals it in every field, and no other row has the record's id. Otherwise people are shown
// the record beside the doubt, as a candidate.
// candidate.
package events
