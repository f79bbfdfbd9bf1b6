package reconcile

import (
	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// contracts is what deliveries and traceability records must know of their contracts: a few numbers of words for each contract, the same word once.
type contracts struct {
	list    []contractFacts
	byKey   map[contractKey]int32
	byID    map[uuid.UUID]int32
	words   []string
	numbers map[string]int32
}

// contractKey is a contract by the number of its job's name and its key.
type contractKey struct {
	job int32
	key string
}

// contractFacts are numbers of words. The key is kept in byKey and here: one text for both.
type contractFacts struct {
	key                                            string
	job                                            int32
	product, harvest, producer, place, wallet, day int32
}

func newContracts() contracts {
	return contracts{byKey: map[contractKey]int32{}, byID: map[uuid.UUID]int32{}, numbers: map[string]int32{}}
}

// word numbers a text: there are few products, places and producers.
func (c *contracts) word(text string) int32 {
	if n, ok := c.numbers[text]; ok {
		return n
	}
	n := int32(len(c.words))
	c.words, c.numbers[text] = append(c.words, text), n
	return n
}

func (c *contracts) add(e trade.Entry, r *Row) {
	c.list = append(c.list, contractFacts{
		key: r.Key, job: c.word(r.Job), product: c.word(r.Product), harvest: c.word(r.Harvest), producer: c.word(r.Producer), place: c.word(r.Place), wallet: c.word(r.Wallet), day: c.word(r.Day),
	})
	at := int32(len(c.list) - 1)
	c.byKey[contractKey{c.word(e.Job), e.Key}] = at
	if id, err := uuid.Parse(e.RemoteID); err == nil {
		c.byID[id] = at
	}
}

// inherit gives a delivery or traceability record what it has of its contract.
func (c *contracts) inherit(r *Row, parents []trade.ParentKey, id string) {
	var at int32
	parsed, err := uuid.Parse(id)
	ok := err == nil
	if ok {
		at, ok = c.byID[parsed]
	}
	for _, p := range parents {
		job, named := c.numbers[p.Job]
		if found, known := c.byKey[contractKey{job, p.Key}]; named && known {
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
	r.Parent, r.Contract, r.Product, r.Harvest, r.Place, r.Wallet = c.words[of.job], of.key, c.words[of.product], c.words[of.harvest], c.words[of.place], c.words[of.wallet]
	if r.Producer == "" {
		r.Producer = c.words[of.producer]
	}
	if r.Sends == trade.Traceability {
		r.Day = c.words[of.day]
	}
}
