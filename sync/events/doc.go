// Package events acts on what the platform tells by itself. An event is a hint: it makes a record
// be read back, or be asked about sooner; what changes a row is what was read back then.
//
// The steps: the inbox has the event, processor.go takes it up and classifies it, evidence.go
// fetches the record that it names, evidence_match.go compares it with what was sent,
// evidence_settle.go decides. A doubt is settled only where it alone has this content, the record
// equals it in every field, and nobody else has its id; else the record stands at the doubt as a
// candidate.
package events
