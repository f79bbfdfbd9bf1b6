// Package archive stores the report of a season, or of another period, as one file that can be read
// years later without a ledger, an ERP or a configuration.
//
// The file is a ZIP. manifest.json lists every other file with its SHA-256, and states the period,
// when and by whom the archive was made; its own SHA-256 is the seal, which the audit stores.
// head.json and rows.jsonl are the report's rows, from which every format can be made again;
// report.jsonl, report.xlsx and report.html are the report as it was. closings.jsonl lists the
// months that were closed; closings/ID has the report of each. audit.jsonl is the audit of the
// period.
//
// Documents of persons are masked throughout. The rows of a closing are stored as they were hashed,
// unless they contain a document: then they are masked, and their hash proves nothing here.
package archive
