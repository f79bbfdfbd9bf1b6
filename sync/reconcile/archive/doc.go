// Package archive stores the report of a season, or of another period, as one file that anybody can
// read years later without this program.
//
// The file is a ZIP. SHA256SUMS lists every other file, for `sha256sum -c`; its own SHA-256 is the
// seal, which the audit stores. report.jsonl, report.xlsx and report.html are the report as it was.
// closings.jsonl lists the months that were closed; closings/ID has the head and the rows of each.
// audit.jsonl is the audit of the period.
//
// Documents of persons are masked throughout. The rows of a closing are stored as they were hashed,
// unless they contain a document: then they are masked, and their hash proves nothing here.
package archive
