// Package rows has the commands that explain rows and change nothing: rows, why, explain,
// and test, which runs cases of a mapping without an ERP. The shapes of their JSON are fixed: see
// docs/json.md.
package rows
