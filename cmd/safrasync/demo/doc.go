// Package demo has the command demo: a sample cooperative, as embedded SQL and YAML, that is sent
// to a sandbox in the same process. It connects to nothing else.
package demo
