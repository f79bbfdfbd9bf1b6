// Package alerts stores what people were alerted to, or will be if it lasts, and each message to
// one address until it is delivered or given up.
//
// One topic and subject is open at most once.
package alerts
