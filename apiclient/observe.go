package apiclient

import "time"

// Observation is what may be told of a request: no path, no body, no header, no key, nothing of the record (I10).
type Observation struct {
	Operation string        // "create order commitment", from a closed set
	Status    int           // 0 when no complete answer came
	Outcome   string        // what is known of the record that it was to create; "answered" after a good answer of a request that creates nothing
	Took      time.Duration // from its turn to the end of the answer
}

// observe tells of a request that is over.
func (c *Client) observe(call call, started time.Time, res result) {
	if c.observer == nil {
		return
	}
	outcome := res.Known.String()
	if res.Known == Unknown && res.err == nil && res.fault == FaultNone && res.success() {
		outcome = "answered"
	}
	c.observer(Observation{Operation: call.op, Status: res.Status, Outcome: outcome, Took: time.Since(started)})
}
