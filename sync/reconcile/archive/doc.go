// Package archive keeps the report of a season, or of a time, as one file that can be read years
// later without a ledger, an ERP or a configuration.
//
// The file is a ZIP. manifest.json names every other file with its SHA-256, and says of what, when
// and by whom the archive was made; its own SHA-256 is the seal, which the audit keeps. head.json
// and rows.jsonl are the report's rows, from which every form of it is made again; report.jsonl,
// report.xlsx and report.html are it as it was. closings.jsonl lists the months that were closed;
// closings/ID has what each kept. audit.jsonl is the audit of the time.
//
// Documents of persons are masked throughout. The rows of a closing stand as they were hashed,
// unless there is a document in them: then they are masked, and their hash proves nothing here.
package archive
