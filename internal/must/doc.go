// Package must ends a test where a step fails that the test is not about, and makes the
// certificates of test servers.
package must
