package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// demoContract is one row of the sample ERP's table contrato, as texts; "" is stored as NULL.
type demoContract struct {
	Branch, Number, Type, Product, Harvest, Amount, Unit, Price, Currency string
	Producer, Store, Wallet, Place, User, Issued, From, Until, Modality   string
	Payday, Payment, Status, ChangedAt                                    string

	fault string        // name of the fault it carries; "" = sound
	sound *demoContract // what it was before, nil for a sound one
}

// The codes of the sample ERP. Producers P001 … P056, wallets C01 … C06 and places L01 … L05 are sound; each of the others lacks something.
const (
	demoProducers       = 56
	demoProducerNoRef   = "P057" // without de-para
	demoProducerUnknown = "P058" // not on the platform
	demoProducerNoLink  = "P059" // on the platform, not linked to its wallet
	demoWallets         = 6
	demoWalletNoRef     = "C07"
	demoWalletUnknown   = "C08"
	demoPlaces          = 5 // one for each branch
	demoPlaceNoRef      = "L06"
	demoPlaceUnknown    = "L07"
	demoSound           = 330 // contracts without a fault
	demoSeed            = 2026
)

// The faults to which doubles adds a second row.
const (
	demoDouble = "number that stands twice"
	demoTwin   = "two contracts of equal content"
)

// demoFault is one kind of trouble that the sample ERP has, and how often.
type demoFault struct {
	name  string // as a dirty row is called in tests
	rows  int
	cause string // what the ledger must say of it; "" = the row goes, or never enters the ledger
	spoil func(c *demoContract)
}

// demoFaults are the dirty rows. Each is made of a sound purchase (COMPRA), so that nothing else is wrong with it.
var demoFaults = []demoFault{
	{"purchase without a payday", 4, "rule:payday", func(c *demoContract) { c.Payday = "" }},
	{"purchase with an empty payday", 1, "rule:payday", func(c *demoContract) { c.Payday = "00/00/0000" }},
	{"purchase without a price", 2, "rule:price", func(c *demoContract) { c.Price = "0,00" }},
	{"purchase without price and payday", 1, "rule:price", func(c *demoContract) { c.Price, c.Payday = "", "" }},
	{"negative price", 1, "rule:price", func(c *demoContract) { c.Price = "-" + c.Price }},
	{"price in words", 2, "rule:price", func(c *demoContract) { c.Price = "A COMBINAR" }},
	{"amount zero", 1, "rule:amount", func(c *demoContract) { c.Amount = "0" }},
	{"negative amount", 1, "rule:amount", func(c *demoContract) { c.Amount = "-" + c.Amount }},
	{"product that the platform does not trade", 2, "rule:product", func(c *demoContract) { c.Product = "FEIJAO" }},
	{"unknown unit", 2, "rule:unit_of_measurement", func(c *demoContract) { c.Unit = "BAG" }},
	{"price in sacas", 2, "rule:currency", func(c *demoContract) { c.Currency = "SACA" }},
	{"delivery ends before it begins", 2, "rule:end_delivery_date", func(c *demoContract) { c.From, c.Until = c.Until, c.From }},
	{"year 0206", 1, "rule:initial_delivery_date", func(c *demoContract) { c.From = "0206-03-15" }},
	{"payday in 2062", 1, "rule:payday", func(c *demoContract) { c.Payday = c.Payday[:6] + "2062" }},
	{"no harvest", 2, "rule:haverst", func(c *demoContract) { c.Harvest = "" }},
	{"harvest in words", 1, "rule:haverst", func(c *demoContract) { c.Harvest = "SAFRA NOVA" }},
	{"bytes of another character set", 1, "rule:modality", func(c *demoContract) { c.Modality = "BALC\xc3O" }},
	{"wallet without de-para", 17, "ref:wallets", func(c *demoContract) { c.Wallet = demoWalletNoRef }},
	{"delivery place without de-para", 5, "ref:delivery_places", func(c *demoContract) { c.Place = demoPlaceNoRef }},
	{"producer without de-para", 3, "ref:producers", func(c *demoContract) { c.Producer = demoProducerNoRef }},
	{"producer not on the platform", 3, "message.producer.not-found", func(c *demoContract) { c.Producer = demoProducerUnknown }},
	{"producer not linked to the wallet", 3, "message.wallet.producer-not-linked", func(c *demoContract) { c.Producer, c.Wallet = demoProducerNoLink, "C03" }},
	{"wallet not on the platform", 6, "message.wallet.not-found", func(c *demoContract) { c.Wallet = demoWalletUnknown }},
	{"delivery place not on the platform", 4, "message.delivery-place.not-found", func(c *demoContract) { c.Place = demoPlaceUnknown }},
	{demoDouble, 1, trade.CauseDuplicateKey, func(*demoContract) {}},
	{"without a number", 1, "", func(c *demoContract) { c.Number = "" }},
	{"cancelled before it was sent", 3, "", func(c *demoContract) { c.Status = "CANCELADO" }},
	{"draft", 6, "", func(c *demoContract) { c.Status = "RASCUNHO" }},
	{demoTwin, 1, "", func(*demoContract) {}},
}

// demoContracts makes the contracts of the sample ERP, the same at every call.
func demoContracts() []demoContract {
	g := &demoGenerator{rng: rand.New(rand.NewPCG(demoSeed, demoSeed))}
	var all []demoContract
	for range demoSound {
		all = append(all, g.contract(g.pick("CP", "CP", "CP", "CP", "AF", "AF", "AF", "FC", "FC", "FD")))
	}
	for _, fault := range demoFaults {
		for range fault.rows {
			c := g.contract("CP")
			sound := c
			fault.spoil(&c)
			c.fault, c.sound = fault.name, &sound
			all = append(all, c)
		}
	}
	g.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return g.doubles(g.number(all))
}

// demoGenerator draws plausible values.
type demoGenerator struct {
	rng  *rand.Rand
	next [demoPlaces]int // of each branch: how many numbers are given
}

func (g *demoGenerator) pick(choices ...string) string { return choices[g.rng.IntN(len(choices))] }

// between draws from low to high in steps.
func (g *demoGenerator) between(low, high, step int) int {
	return low + step*g.rng.IntN((high-low)/step+1)
}

// demoGrain is what a product costs and when it is traded.
type demoGrain struct {
	code     string
	harvests []string
	low      int // centavos for a saca
	high     int
	share    int // of ten contracts
}

var demoGrains = []demoGrain{
	{"001", []string{"25/26", "25/26", "26/27"}, 11800, 14200, 6},
	{"002", []string{"25/26", "26/27"}, 5200, 6900, 3},
	{"003", []string{"TRIGO 26"}, 6600, 8300, 1},
}

func (g *demoGenerator) grain() demoGrain {
	n := g.rng.IntN(10)
	for _, grain := range demoGrains {
		if n -= grain.share; n < 0 {
			return grain
		}
	}
	return demoGrains[0]
}

// contract makes a sound one of a type: a purchase has everything, the others have what such contracts have.
func (g *demoGenerator) contract(kind string) demoContract {
	grain := g.grain()
	branch := g.between(1, demoPlaces, 1)
	producer := g.between(1, demoProducers, 1)
	issued := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC).AddDate(0, 0, g.between(0, 240, 1))
	from := issued.AddDate(0, 0, g.between(10, 60, 1))
	until := from.AddDate(0, 0, g.between(15, 60, 1))
	c := demoContract{
		Branch: fmt.Sprintf("%02d", branch), Number: "by number()", Type: kind, Product: grain.code, Harvest: g.pick(grain.harvests...),
		Producer: fmt.Sprintf("P%03d", producer), Store: "01", Wallet: demoWalletOf(producer), Place: fmt.Sprintf("L%02d", branch),
		User: fmt.Sprintf("U%d", g.between(1, 3, 1)), Issued: issued.Format("20060102"), Status: "APROVADO",
		ChangedAt: issued.Add(time.Duration(g.between(8*60, 17*60, 1)) * time.Minute).Format("2006-01-02 15:04:05"),
	}
	sacas := g.between(100, 6000, 50)
	price := g.between(grain.low, grain.high, 5)
	c.Unit, c.Amount, c.Currency = "SC", strconv.Itoa(sacas), "R$"
	switch g.rng.IntN(10) {
	case 0: // by the tonne, price for a tonne
		kilos := sacas*60 + g.between(0, 2980, 20)
		c.Unit, c.Amount, price = "TL", fmt.Sprintf("%d.%03d", kilos/1000, kilos%1000), price*1000/60
	case 1: // by the kilogram, the price has four digits
		c.Unit, c.Amount = "KG", strconv.Itoa(sacas*60)
	}
	c.Price = demoMoney(price)
	if c.Unit == "KG" {
		c.Price = fmt.Sprintf("%d,%04d", price/60/100, price*100/60%10000)
	}
	if kind == "AF" { // the price comes later; some ERPs write zeros until then
		c.Price, c.Currency = g.pick("", "0,00"), ""
		c.From, c.Until = from.Format(time.DateOnly), until.Format(time.DateOnly)
		return c
	}
	c.Modality = g.pick("BALCÃO", "Balcão", "DISPONÍVEL", "FUTURO")
	c.Payday = until.AddDate(0, 0, g.between(5, 30, 1)).Format("02/01/2006")
	c.Payment = g.pick("D", "D", "D", "T", "") // the last is why the configuration has a default
	c.From, c.Until = from.Format(time.DateOnly), until.Format(time.DateOnly)
	if grain.code == "001" && c.Unit == "SC" && g.rng.IntN(8) == 0 { // for export, in dollars
		c.Modality, c.Currency, c.Price = "EXPORTAÇÃO", "US$", demoMoney(g.between(2050, 2480, 5))
	}
	return c
}

// demoWalletOf is the wallet of a sound producer.
func demoWalletOf(producer int) string { return fmt.Sprintf("C%02d", producer%demoWallets+1) }

// demoMoney writes hundredths as the ERP does: 1.234,56.
func demoMoney(cents int) string {
	whole := strconv.Itoa(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	return fmt.Sprintf("%s,%02d", whole, cents%100)
}

// number gives each contract the next number of its branch, but for the one that has none.
func (g *demoGenerator) number(all []demoContract) []demoContract {
	for i := range all {
		if all[i].Number != "" {
			all[i].Number = g.nextNumber(all[i].Branch)
		}
	}
	return all
}

func (g *demoGenerator) nextNumber(branch string) string {
	b, err := strconv.Atoi(branch)
	if err != nil { // unreachable: contract wrote it
		panic("demo: branch " + branch)
	}
	g.next[b-1]++
	return fmt.Sprintf("%06d", 1000+g.next[b-1])
}

// doubles adds a second row with the number of one contract, and a second contract with the content of another: typing errors that only
// show when two rows are compared.
func (g *demoGenerator) doubles(all []demoContract) []demoContract {
	var out []demoContract
	for _, c := range all {
		out = append(out, c)
		switch c.fault {
		case demoDouble:
			double := g.contract("CP")
			double.Branch, double.Number, double.fault = c.Branch, c.Number, c.fault
			out = append(out, double)
		case demoTwin:
			twin := c
			twin.Number = g.nextNumber(c.Branch)
			out = append(out, twin)
		}
	}
	return out
}
