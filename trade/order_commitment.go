package trade

// Product is a traded grain (chapter 2.1).
type Product string

// The products of chapter 2.1.
const (
	Soja  Product = "SOJA"
	Trigo Product = "TRIGO"
	Milho Product = "MILHO"
)

// Unit is a unit of measurement (chapter 2.1): a saca of 60 kg, a kilogram, a tonne.
type Unit string

// The units of chapter 2.1, in upper case as order commitments write them.
const (
	SC  Unit = "SC"
	KG  Unit = "KG"
	TON Unit = "TON"
)

// OrderType is the kind of a negotiation (chapter 2.1).
type OrderType string

// The order types of chapter 2.1.
const (
	Compra          OrderType = "COMPRA"
	FixacaoCompra   OrderType = "FIXACAO_COMPRA"
	FixacaoDeposito OrderType = "FIXACAO_DEPOSITO"
	AFixar          OrderType = "A_FIXAR"
)

// Currency is the currency of a price (chapter 2.1): BRL, USD or EUR.
type Currency string

// Modality is how the grain is traded (chapter 2.1): BALCAO, DISPONIVEL, FUTURO or EXPORTACAO.
type Modality string

// PaymentType is how the producer is paid (chapter 2.1): DINHEIRO, or TROCA (inputs for grain).
type PaymentType string

// OrderCommitment is a checked contract, ready to be sent. Amount is in Unit; Price is in Currency
// per Unit. An optional field that is nil or empty is one that the ERP does not have; it is absent
// from the request.
type OrderCommitment struct {
	Amount          Decimal
	ProducerID      string
	IssuerID        string
	Product         Product
	DeliveryPlaceID string
	Harvest         string // the API spells the field "haverst"
	Unit            Unit
	OrderType       OrderType
	OrderDate       Date
	WalletID        string

	Currency            Currency
	Price               *Decimal
	InitialDeliveryDate Date
	EndDeliveryDate     Date
	Modality            Modality
	Payday              Date
	PaymentType         PaymentType
}

// Kind returns [OrderCommitments].
func (OrderCommitment) Kind() Kind { return OrderCommitments }

// OrderCommitmentRules are the rules of chapter 2.1 in the order of its table, which is also the
// order in which problems are reported.
var OrderCommitmentRules = []FieldRule{
	{Field: "amount", Type: Number, Need: Always, Positive: "amount"},
	{Field: "producer_id", Type: UUID, Need: Always, Platform: "producers"},
	{Field: "issuer_id", Type: UUID, Need: Always, Platform: "users"},
	{Field: "product", Type: Enum, Need: Always, Values: []string{"SOJA", "TRIGO", "MILHO"}},
	{Field: "delivery_place_id", Type: UUID, Need: Always, Platform: "delivery_places"},
	{Field: "haverst", Type: Harvest, Need: Always},
	{Field: "unit_of_measurement", Type: Enum, Need: Always, Values: []string{"SC", "KG", "TON"}},
	{
		Field: "order_type", Type: Enum, Need: Always,
		Values: []string{"COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR"},
	},
	{Field: "order_date", Type: Day, Need: Always},
	{Field: "wallet_id", Type: UUID, Need: Always, Platform: "wallets"},
	{Field: "currency", Type: Enum, Need: ForCompra, Values: []string{"BRL", "USD", "EUR"}},
	{Field: "price", Type: Number, Need: ForCompra, Positive: "price"},
	{Field: "initial_delivery_date", Type: Day, Need: ForCompra},
	{Field: "end_delivery_date", Type: Day, Need: ForCompra, NotBefore: "initial_delivery_date"},
	{Field: "modality", Type: Enum, Need: ForCompra, Values: []string{"BALCAO", "DISPONIVEL", "FUTURO", "EXPORTACAO"}},
	{Field: "payday", Type: Day, Need: ForCompra},
	{Field: "payment_type", Type: Enum, Need: ForCompra, Values: []string{"DINHEIRO", "TROCA"}},
}

// CheckOrderCommitment returns the order commitment of a draft, and everything that is wrong with
// it. See [Check].
func CheckOrderCommitment(draft Draft, checks Checks, today Date) (OrderCommitment, []Problem) {
	c := newChecker(draft, checks, today)
	c.fields(OrderCommitmentRules, draft.Text("order_type"))
	oc := OrderCommitment{
		ProducerID: c.text["producer_id"], IssuerID: c.text["issuer_id"],
		DeliveryPlaceID: c.text["delivery_place_id"], WalletID: c.text["wallet_id"],
		Product: Product(c.text["product"]), Harvest: c.text["haverst"],
		Unit: Unit(c.text["unit_of_measurement"]), OrderType: OrderType(c.text["order_type"]),
		Amount: c.number["amount"], OrderDate: c.date["order_date"],
		Currency: Currency(c.text["currency"]), Modality: Modality(c.text["modality"]),
		PaymentType:         PaymentType(c.text["payment_type"]),
		InitialDeliveryDate: c.date["initial_delivery_date"], EndDeliveryDate: c.date["end_delivery_date"],
		Payday: c.date["payday"],
	}
	if price, ok := c.number["price"]; ok {
		oc.Price = &price
	}
	return oc, c.problems
}
