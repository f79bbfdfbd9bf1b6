// Package clock is the time as the engine sees it: the machine's clocks, the schedules of jobs, and
// the hours in which they may send.
//
// Schedules and hours keep to the calendar of their zone: a time that a clock leaves out or repeats
// when it is set comes once (F077).
package clock
