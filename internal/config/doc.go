// Package config reads the configuration, checks it as a whole, and shows it. Load reports every
// fault at once, each with its line, its column and what was probably meant. A configuration that
// it returns has all defaults filled in and all secrets resolved. It opens neither a database nor a
// connection.
//
// A secret is always printed as the reference that is written in the file; only Reveal returns its
// value.
package config
