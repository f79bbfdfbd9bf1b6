package runs

import (
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
)

func printInstances(a *cli.App, instances []office.Instance) {
	v := a.Voice()
	for _, i := range instances {
		holds := ""
		if len(i.Jobs) > 0 {
			holds = v.Text("status.holds", strings.Join(i.Jobs, ", "))
		}
		if i.Alive {
			a.Show("status.instance", i.Host, i.Command, i.PID, i.Version, v.Moment(i.Since), holds)
		} else {
			a.Show("status.instance_lost", i.Host, i.Command, i.PID, v.Moment(i.Until), holds)
		}
	}
}
