//go:build !race

package sync_test

const raced = false
