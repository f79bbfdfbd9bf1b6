package trade

// The events that tell of a status of a record (chapter 6).
const (
	eventWorkflow    = "UPDATE_WORKFLOW_ORDER_COMMITMENT"
	eventProducerESG = "CHANGE_PRODUCER_STATUS_ESG"
	eventFarmESG     = "CHANGE_FARM_STATUS_ESG"
)

// Status is a status that a record has on the platform, and of which only events tell.
type Status string

// The statuses.
const (
	Workflow    Status = "workflow"     // of an order commitment
	ProducerESG Status = "esg_producer" // of the producer
	FarmESG     Status = "esg_farm"     // of the farm
)

// Event is the event that tells of a status, and the kind of record that it names.
func (s Status) Event() (event, kind string) {
	switch s {
	case Workflow:
		return eventWorkflow, string(OrderCommitments)
	case ProducerESG:
		return eventProducerESG, "producers"
	case FarmESG:
		return eventFarmESG, "farms"
	}
	return "", ""
}

// eventLabels name the events that are noted at records.
var eventLabels = map[string][2]string{
	"CREATE_ORDER_COMMITMENT": {"contrato criado", "order commitment created"},
	"UPDATE_ORDER_COMMITMENT": {"contrato alterado", "order commitment changed"},
	"DELETE_ORDER_COMMITMENT": {"contrato excluído", "order commitment deleted"},
	eventWorkflow:             {"workflow do contrato", "workflow of the order commitment"},
	eventProducerESG:          {"ESG do produtor", "ESG of the producer"},
	eventFarmESG:              {"ESG da propriedade", "ESG of the farm"},
	"PRODUCER_PRODUCTION":     {"produção do produtor", "production of the producer"},
	"DELETE_PRODUCER":         {"produtor excluído", "producer deleted"},
	"DELETE_FARM":             {"propriedade excluída", "farm deleted"},
}

// EventLabel names an event for people; one that is not noted at records has the platform's own name.
func EventLabel(event string, lang Lang) string {
	words, ok := eventLabels[event]
	switch {
	case !ok:
		return event
	case lang == English:
		return words[1]
	}
	return words[0]
}
