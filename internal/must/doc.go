// Package must ends a test where something fails that the test is not about.
package must
