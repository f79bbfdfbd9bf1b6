package mapping_test

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// One bad column stops the job: also one that people are only shown.
func TestAColumnThatIsShownAndNotInTheQueryIsAFaultOfTheConfiguration(t *testing.T) {
	spec := mapping.JobSpec{
		Name: "contracts", Sends: trade.OrderCommitments, Query: "SELECT num FROM contrato", Key: []string{"num"},
		Sweep: "0 3 * * *", Show: []mapping.ShowSpec{{Label: "produtor", Column: "nome"}},
	}
	job, _ := mapping.Compile(spec, time.UTC) // without its fields, which are told too
	err := job.CheckColumns([]erp.Column{{Name: "num"}})
	if err == nil || !strings.Contains(err.Error(), "jobs.contracts.show.produtor: column nome is not in the query") {
		t.Errorf("%v", err)
	}
	if err := job.CheckColumns([]erp.Column{{Name: "num"}, {Name: "NOME"}}); err != nil {
		t.Error(err)
	}
}
