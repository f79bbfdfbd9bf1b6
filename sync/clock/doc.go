// Package clock has the machine's clocks, the schedules of jobs, and the hours in which jobs may
// send.
//
// Schedules and hours follow the local time of their zone: a local time that is skipped or repeated
// when the clock is set comes once (F077).
package clock
