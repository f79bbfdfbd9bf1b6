// Package webhooks has the commands that register receivers of events at the platform, compare
// them with the configuration, and list the events that came. Each change shows its plan first and
// stands in the audit.
package webhooks
