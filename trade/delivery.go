package trade

// Delivery is a checked delivery: one line of a weighing ticket (chapter 2.2). DeliveredVolume is
// in Unit, after discounts.
type Delivery struct {
	// the platform's id of the order commitment, or the ERP's own text if so configured
	ContractID      string
	DeliveredVolume Decimal
	Unit            DeliveryUnit
	DeliveryDate    Date
	CAR             string // "" = none
}

// DeliveryUnit is the unit of a delivered volume (chapter 2.2), which the API writes in lower case
// here and nowhere else.
type DeliveryUnit string

// Kind returns [Deliveries].
func (Delivery) Kind() Kind { return Deliveries }

// DeliveryRules are the rules of chapter 2.2 in the order of its table.
var DeliveryRules = []FieldRule{
	{Field: "contract_id", Type: Text, Need: Always, Parent: OrderCommitments, Platform: "order_commitments"},
	{Field: "delivered_volume", Type: Number, Need: Always, Positive: "volume"},
	{Field: "delivered_volume_unit_of_measure", Type: Enum, Need: Always, Values: []string{"kg", "sc", "ton"}},
	{Field: "delivery_date", Type: Day, Need: Always},
	{Field: "car", Type: CAR, Need: Optional},
}

// CheckDelivery returns the delivery of a draft, with everything that is wrong with it. See
// [Check].
func CheckDelivery(draft Draft, checks Checks, today Date) (Delivery, []Problem) {
	c := newChecker(draft, checks, today)
	c.fields(DeliveryRules, "")
	return Delivery{
		ContractID: c.text["contract_id"], DeliveredVolume: c.number["delivered_volume"],
		Unit: DeliveryUnit(c.text["delivered_volume_unit_of_measure"]), DeliveryDate: c.date["delivery_date"],
		CAR: c.text["car"],
	}, c.problems
}

// IDScope returns the contract within which the id of a record is unique, of a record under parent; ""
// for an id that is unique everywhere. Only ids of deliveries need not be UUIDs, and may then count
// from 1 in each contract.
func IDScope(sends Kind, id, parent string) string {
	if sends != Deliveries || len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		return ""
	}
	return parent
}
