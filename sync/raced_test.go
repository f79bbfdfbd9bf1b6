//go:build race

package sync_test

// raced: the race detector watches.
const raced = true
