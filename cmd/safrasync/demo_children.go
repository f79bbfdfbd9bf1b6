package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// demoTicket is one weighing ticket of the sample ERP (table romaneio) with its lines; "" is stored as NULL.
type demoTicket struct {
	Branch, Ticket, Date, Gross, Tare, Discount, CAR, Status, ChangedAt string
	Lines                                                               []demoLine

	fault string // name of the fault it carries; "" = sound
}

// demoLine is one line of a ticket: the net volume that goes to one contract.
type demoLine struct{ Branch, Contract, Volume, Unit string }

// demoShare is one row of the sample ERP's table rateio: whose grain a contract is made of.
type demoShare struct {
	Branch, Contract, No, Producer, Store, User, Farm, Volume, Unit, ChangedAt string

	fault string
}

// Farms F01 … F06 are sound.
const (
	demoFarms     = 6
	demoFarmNoRef = "F07"
)

// The faults that add a second ticket or line, and the contract whose answer is lost.
const (
	demoTwinTicket = "two tickets of equal content"
	demoSplit      = "one ticket for two contracts"
	demoLost       = "of a contract whose answer was lost"
	demoFreed      = "of a contract that waits for the wallet"
	demoHealed     = "of a contract without a payday"
)

// demoTicketFaults are the tickets that do not simply go.
var demoTicketFaults = []struct {
	name     string
	rows     int
	cause    string // what the ledger must say of the first line; "" = it goes, or never enters the ledger
	contract string // the fault of its contract; "" = that is sound
	spoil    func(t *demoTicket)
}{
	{"without a contract", 2, "rule:contract_id", "", func(t *demoTicket) { t.Lines[0].Branch, t.Lines[0].Contract = "", "" }},
	{"negative volume", 1, "rule:delivered_volume", "", func(t *demoTicket) { t.Lines[0].Volume = "-" + t.Lines[0].Volume }},
	{"unit that the platform does not have", 1, "rule:delivered_volume_unit_of_measure", "", func(t *demoTicket) { t.Lines[0].Unit = "BAG" }},
	{"number of the state's register instead of the CAR", 1, "rule:car", "", func(t *demoTicket) { t.CAR = "MT123456/2018" }},
	{"of a contract that the platform refuses", 2, trade.CauseParent, "wallet not on the platform", func(*demoTicket) {}},
	{"of a draft", 1, trade.CauseParent, "draft", func(*demoTicket) {}},
	{demoLost, 1, trade.CauseParent, "", func(*demoTicket) {}},
	{demoHealed, 1, "", "purchase without a payday", func(*demoTicket) {}},
	{demoFreed, 3, "", "wallet without de-para", func(*demoTicket) {}},
	{demoTwinTicket, 1, "", "", func(*demoTicket) {}},
	{demoSplit, 2, "", "", func(*demoTicket) {}},
	{"open", 2, "", "", func(t *demoTicket) { t.Status = "ABERTO" }},
	{"cancelled", 1, "", "", func(t *demoTicket) { t.Status = "CANCELADO" }},
}

// demoShareFaults are the shares that do not simply go.
var demoShareFaults = []struct {
	name     string
	rows     int
	cause    string
	contract string
	spoil    func(s *demoShare)
}{
	{"volume without a unit", 1, "rule:unit_of_measurement", "", func(s *demoShare) { s.Unit = "" }},
	{"farm without de-para", 2, "ref:farms", "", func(s *demoShare) { s.Farm = demoFarmNoRef }},
	{"of a contract that the platform refuses", 1, trade.CauseParent, "wallet not on the platform", func(*demoShare) {}},
	{demoFreed, 1, "", "wallet without de-para", func(*demoShare) {}},
	{"without farm and volume", 2, "", "", func(s *demoShare) { s.Farm, s.Volume, s.Unit = "", "", "" }},
}

// demoChildren makes the tickets and the shares of the contracts, the same at every call.
func demoChildren(contracts []demoContract) (tickets []demoTicket, shares []demoShare) {
	g := &demoChildMaker{demoGenerator: demoGenerator{rng: rand.New(rand.NewPCG(demoSeed, 2))}, contracts: contracts, used: map[string]int{}}
	for i, c := range g.of("") {
		if i%4 == 0 {
			tickets = append(tickets, g.ticket(c))
		}
		if i%16 == 0 {
			shares = append(shares, g.share(c, 1), g.share(c, 2))
		}
	}
	for _, fault := range demoTicketFaults {
		for range fault.rows {
			c := g.next(fault.contract)
			if fault.name == demoLost {
				c = demoLostContract(contracts)
			}
			t := g.ticket(c)
			fault.spoil(&t)
			t.fault = fault.name
			if fault.name == demoSplit { // two fifths go to another contract
				t.Lines = g.split(t.Lines[0], g.next(""))
			}
			tickets = append(tickets, t)
		}
	}
	for _, fault := range demoShareFaults {
		for range fault.rows {
			s := g.share(g.next(fault.contract), 3)
			fault.spoil(&s)
			s.fault = fault.name
			shares = append(shares, s)
		}
	}
	g.rng.Shuffle(len(tickets), func(i, j int) { tickets[i], tickets[j] = tickets[j], tickets[i] })
	var out []demoTicket
	for _, t := range tickets {
		copies := 1
		if t.fault == demoTwinTicket {
			copies = 2
		}
		for range copies {
			t.Ticket = strconv.Itoa(50001 + len(out))
			out = append(out, t)
		}
	}
	return out, shares
}

// demoLostContract is the one whose answer the platform loses: the last sound purchase.
func demoLostContract(contracts []demoContract) demoContract {
	for _, c := range slices.Backward(contracts) {
		if c.fault == "" && c.Type == "CP" && c.Unit == "SC" {
			return c
		}
	}
	panic("demo: no sound purchase") // unreachable: the data are the same at every start
}

type demoChildMaker struct {
	demoGenerator
	contracts []demoContract
	used      map[string]int // by the fault of the contracts: how many next has given
}

// of gives the purchases and the contracts to be fixed with a fault; grain is delivered against these.
func (g *demoChildMaker) of(fault string) []demoContract {
	var out []demoContract
	lost := demoLostContract(g.contracts)
	for _, c := range g.contracts {
		if c.fault == fault && (c.Type == "CP" || c.Type == "AF") && c.key() != lost.key() {
			out = append(out, c)
		}
	}
	return out
}

// next gives one contract with a fault after the other.
func (g *demoChildMaker) next(fault string) demoContract {
	list := g.of(fault)
	g.used[fault]++
	return list[(g.used[fault]-1)%len(list)]
}

// ticket weighs a load for a contract: gross, tare and discounts give a net weight that is a whole number of sacas and a half.
func (g *demoChildMaker) ticket(c demoContract) demoTicket {
	day, err := time.Parse(time.DateOnly, c.From)
	if err != nil { // unreachable: the generator wrote it
		panic("demo: date " + c.From)
	}
	day = day.AddDate(0, 0, g.between(0, 12, 1))
	net, tare := g.between(9000, 33000, 30), g.between(13000, 16500, 10)
	discount := net / 100 * g.between(1, 3, 1)
	unit := g.pick("KG", "KG", "SC", "TL")
	return demoTicket{
		Branch: c.Branch, Date: day.Format("20060102"), Gross: strconv.Itoa(net + discount + tare), Tare: strconv.Itoa(tare), Discount: strconv.Itoa(discount),
		CAR: g.pick("", "", demoCAR(g.between(1, demoFarms, 1)), demoPrintedCAR(g.between(1, demoFarms, 1))), Status: "FECHADO",
		ChangedAt: day.Add(15 * time.Hour).Format("2006-01-02 15:04:05"),
		Lines:     []demoLine{{c.Branch, c.Number, demoVolume(net, unit), unit}},
	}
}

// split gives two fifths of a load, in kilograms, to another contract.
func (g *demoChildMaker) split(l demoLine, other demoContract) []demoLine {
	net := g.between(20000, 30000, 50)
	return []demoLine{
		{l.Branch, l.Contract, strconv.Itoa(net / 5 * 3), "KG"}, {other.Branch, other.Number, strconv.Itoa(net / 5 * 2), "KG"},
	}
}

// share gives a part of a contract to a producer and a farm.
func (g *demoChildMaker) share(c demoContract, no int) demoShare {
	return demoShare{
		Branch: c.Branch, Contract: c.Number, No: strconv.Itoa(no), Producer: fmt.Sprintf("P%03d", g.between(1, demoProducers, 1)), Store: "01", User: c.User,
		Farm: fmt.Sprintf("F%02d", g.between(1, demoFarms, 1)), Volume: strconv.Itoa(g.between(20, 400, 10)), Unit: "SC", ChangedAt: c.ChangedAt,
	}
}

// demoVolume writes kilograms in a unit as the ERP does, with a comma.
func demoVolume(kilos int, unit string) string {
	switch unit {
	case "SC":
		return fmt.Sprintf("%d,%d", kilos/60, kilos%60/6)
	case "TL":
		return fmt.Sprintf("%d,%03d", kilos/1000, kilos%1000)
	}
	return strconv.Itoa(kilos)
}

// demoCAR is the registration of a farm as the register has it; demoPrintedCAR as its receipt prints it.
func demoCAR(farm int) string {
	return fmt.Sprintf("PR-41%05d-%s", 6900+farm, strings.ToUpper(strings.ReplaceAll(demoID("car", strconv.Itoa(farm)), "-", "")))
}

func demoPrintedCAR(farm int) string {
	car := demoCAR(farm)
	var groups []string
	for part := range slices.Chunk([]byte(car[len("PR-4106901-"):]), 4) {
		groups = append(groups, string(part))
	}
	return car[:len("PR-4106901-")] + strings.Join(groups, ".")
}

// key of the n-th line, from 1.
func (t demoTicket) key(line int) string { return fmt.Sprintf("%s|%s|%d", t.Branch, t.Ticket, line) }

func (s demoShare) key() string { return s.Branch + "|" + s.Contract + "|" + s.No }
