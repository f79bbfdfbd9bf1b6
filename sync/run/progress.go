// The progress of a job, for observers.

package run

// Progress is how far a job has come.
type Progress struct {
	Job   string
	Phase Phase
	Read  int // rows read so far
	Done  int // entries settled so far
	Total int // entries that were due when sending began; it may grow
	Note  string
}

// Phase is the current step of a job.
type Phase string

// The phases of a run.
const (
	Reading Phase = "reading"
	Sending Phase = "sending"
	Resting Phase = "waiting" // the API asked to wait; Note says how long
	Done    Phase = "done"
)
