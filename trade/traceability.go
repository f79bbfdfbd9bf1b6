package trade

// TraceabilityRecord says whose grain an order commitment is made of (chapter 2.3). Of the optional
// fields, a nil pointer or an empty text means that the ERP has none, and the field is absent from
// the request.
type TraceabilityRecord struct {
	OrderCommitmentID string // stands in the path of the request (chapter 4, endpoint 4)
	ProducerID        string
	UserID            string
	FarmID            string
	AllocatedVolume   *Decimal // in Unit
	Unit              Unit
}

// Kind is [Traceability].
func (TraceabilityRecord) Kind() Kind { return Traceability }

// TraceabilityRules are the rules of chapter 2.3 in the order of its table, after the order
// commitment of the path. A volume needs its unit: the API would take it for tonnes, which
// overstates sacks nearly 17 times.
var TraceabilityRules = []FieldRule{
	{Field: "order_commitment_id", Type: UUID, Need: Always, Parent: OrderCommitments, Platform: "order_commitments"},
	{Field: "producer_id", Type: UUID, Need: Always, Platform: "producers"},
	{Field: "user_id", Type: UUID, Need: Always, Platform: "users"},
	{Field: "farm_id", Type: UUID, Need: Optional, Platform: "farms"},
	{Field: "allocated_volume", Type: Number, Need: Optional, Positive: "volume"},
	{
		Field: "unit_of_measurement", Type: Enum, Need: Optional, With: "allocated_volume",
		Values: []string{"SC", "KG", "TON"},
	},
}

// CheckTraceability turns a draft into a traceability record that may be sent, or says everything
// that is wrong with it. See [Check].
func CheckTraceability(draft Draft, checks Checks, today Date) (TraceabilityRecord, []Problem) {
	c := newChecker(draft, checks, today)
	c.fields(TraceabilityRules, "")
	record := TraceabilityRecord{
		OrderCommitmentID: c.text["order_commitment_id"], ProducerID: c.text["producer_id"], UserID: c.text["user_id"],
		FarmID: c.text["farm_id"],
		Unit:   Unit(c.text["unit_of_measurement"]),
	}
	if volume, ok := c.number["allocated_volume"]; ok {
		record.AllocatedVolume = &volume
	}
	return record, c.problems
}
