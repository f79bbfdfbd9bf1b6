// Package oracle reads Oracle Database in a transaction that is SET READ ONLY. It has not yet been
// tried on a live server: its SQL is tested as text, its values on the driver's types.
package oracle
