// Package rows has the commands that explain rows and change nothing: rows, why, preview, explain,
// and test, which runs cases of a mapping without an ERP. Their JSON is fixed: docs/json.md has
// its shapes.
package rows
