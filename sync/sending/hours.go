package sending

import "context"

// closed tells whether the job may not send now because of its hours.
func (s *Sender) closed() bool {
	return !s.AnyHour && !s.Run.Job.Hours.Open(s.Run.Env.Clock.Now().In(s.Run.Env.Zone))
}

// waitForHours says in the report when what is due goes.
func (s *Sender) waitForHours(ctx context.Context) error {
	due, err := s.anything(ctx)
	if due {
		next := s.Run.Job.Hours.Next(s.Run.Env.Clock.Now().In(s.Run.Env.Zone)).UTC()
		s.Run.Report.SendsAgain = &next
	}
	return err
}
