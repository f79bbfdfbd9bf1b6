// Package webhooks has the commands that register webhooks at the platform, compare them with the
// configuration, and list the events that came. Each change shows its plan first and is recorded in
// the audit.
package webhooks
