// Package oracle reads Oracle Database in a transaction with SET TRANSACTION READ ONLY. It has not
// yet been tried on a live server: its SQL is tested as text, its values on the driver's types.
package oracle
