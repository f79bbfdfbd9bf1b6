package reconcile

import (
	"github.com/safrasync/safrasync/trade"
)

// contracts is what deliveries and traceability records must know of their contracts: a few words for each contract, the same word once.
type contracts struct {
	list  []contractFacts
	byKey map[trade.ParentKey]int32
	byID  map[string]int32
	words map[string]string
}

type contractFacts struct {
	job, key                                  string
	product, harvest, producer, place, wallet string
	day                                       string
}

func newContracts() contracts {
	return contracts{byKey: map[trade.ParentKey]int32{}, byID: map[string]int32{}, words: map[string]string{}}
}

// word keeps each text once: there are few products, places and producers.
func (c *contracts) word(text string) string {
	if kept, ok := c.words[text]; ok {
		return kept
	}
	c.words[text] = text
	return text
}

func (c *contracts) add(e trade.Entry, r *Row) {
	c.list = append(c.list, contractFacts{
		job: c.word(r.Job), key: r.Key, product: c.word(r.Product), harvest: c.word(r.Harvest), producer: c.word(r.Producer), place: c.word(r.Place), wallet: c.word(r.Wallet), day: c.word(r.Day),
	})
	at := int32(len(c.list) - 1)
	c.byKey[trade.ParentKey{Job: e.Job, Key: e.Key}] = at
	if e.RemoteID != "" {
		c.byID[e.RemoteID] = at
	}
}

// inherit gives a delivery or traceability record what it has of its contract.
func (c *contracts) inherit(r *Row, parents []trade.ParentKey, id string) {
	at, ok := c.byID[id]
	for _, p := range parents {
		if found, known := c.byKey[p]; known {
			at, ok = found, true
			break
		}
	}
	if !ok {
		if len(parents) > 0 {
			r.Parent, r.Contract = parents[0].Job, parents[0].Key
		}
		return
	}
	of := c.list[at]
	r.Parent, r.Contract, r.Product, r.Harvest, r.Place, r.Wallet = of.job, of.key, of.product, of.harvest, of.place, of.wallet
	if r.Producer == "" {
		r.Producer = of.producer
	}
	if r.Sends == trade.Traceability {
		r.Day = of.day
	}
}
