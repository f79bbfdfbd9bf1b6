// Package setup has the command init: it looks at the tables of an ERP and proposes a
// configuration. Where only a person can know, the proposal says so, and loading refuses it. It
// reads the ERP only.
package setup
