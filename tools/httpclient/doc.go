// Package httpclient names what a client of our own HTTP API needs that is generated from its
// document. A test of cmd/safrasync generates one with the tool of go.mod, compiles it, and lets it
// speak with the program.
package httpclient

import _ "github.com/oapi-codegen/runtime" // the generated client imports it
