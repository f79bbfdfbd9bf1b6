// Package demo has the command demo: it sends a sample cooperative, embedded as SQL and YAML, to a
// sandbox in the same process. It connects to nothing else.
package demo
