// Package setup has the command init: it reads the tables of an ERP and proposes a configuration.
// It marks what only a person can know, and Load refuses a configuration with such marks. It never
// writes to the ERP.
package setup
