// Package alerts groups blocked rows by cause, and builds the alert service from the configuration.
// Neither keys nor values of the ERP get into a message (I10).
package alerts
