// Package config reads the configuration, checks it whole, and shows it. Load reports every fault
// at once, each with its line, its column and what was probably meant; a configuration that it
// returns has all defaults filled in and all secrets resolved. It opens nothing: neither a
// database nor a connection.
//
// A secret is printed as the reference that stands in the file, in every form of output; only
// Reveal returns it.
package config
