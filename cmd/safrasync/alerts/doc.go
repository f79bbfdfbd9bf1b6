// Package alerts groups what keeps rows from going by its causes, and makes from the configuration
// the service that tells people. Neither keys nor values of the ERP get into a message (I10).
package alerts
