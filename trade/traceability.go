package trade

// TraceabilityRecord states whose grain an order commitment consists of (chapter 2.3). An optional
// field that is nil or empty is one that the ERP does not have; it is absent from the request.
type TraceabilityRecord struct {
	OrderCommitmentID string // in the path of the request (chapter 4, endpoint 4)
	ProducerID        string
	UserID            string
	FarmID            string
	AllocatedVolume   *Decimal // in Unit
	Unit              Unit
}

// Kind returns [Traceability].
func (TraceabilityRecord) Kind() Kind { return Traceability }

// TraceabilityRules are the rules of chapter 2.3 in the order of its table, after the order
// commitment in the path. A volume needs its unit: the API would take it for tonnes, which
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

// CheckTraceability returns the traceability record of a draft, and everything that is wrong with
// it. See [Check].
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
