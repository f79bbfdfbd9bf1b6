// Package rows has the commands that explain rows and change nothing: rows, why, which can also
// write one row, masked, to a file for support, explain, and test, which runs cases of a mapping
// and such files without an ERP, and writes a case from a row of the ERP. The shapes of their JSON
// are fixed: see docs/json.md.
package rows
