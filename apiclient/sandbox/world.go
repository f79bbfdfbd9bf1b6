package sandbox

import (
	"strings"
	"sync"
)

// Kind is a kind of registration that the platform knows or does not know.
type Kind string

// The kinds, named as the lists of a world file.
const (
	Producers      Kind = "producers"
	Wallets        Kind = "wallets"
	DeliveryPlaces Kind = "delivery_places"
	Users          Kind = "users"
	Farms          Kind = "farms"
	// Contracts are identifiers that deliveries may name beside the order commitments made here. They may have any form.
	Contracts Kind = "contracts"
)

// World is what the platform knows: registrations, and which wallet is linked to which producer. It may change while a sandbox uses it.
// Ids are compared without regard to case.
type World struct {
	mu        sync.RWMutex
	open      bool // what is not mentioned is known and linked
	known     map[Kind]map[string]bool
	links     map[link]bool
	documents map[string]string // ids of producers by CPF or CNPJ, without punctuation
}

type link struct{ wallet, producer string }

// NewWorld is a world that knows nothing.
func NewWorld() *World {
	return &World{known: map[Kind]map[string]bool{}, links: map[link]bool{}, documents: map[string]string{}}
}

// OpenWorld is a world that knows every UUID and every CPF or CNPJ and links every wallet, except what [World.Forget] and
// [World.UnlinkWallet] take out.
func OpenWorld() *World {
	w := NewWorld()
	w.open = true
	return w
}

// Knows says whether the platform knows this id.
func (w *World) Knows(kind Kind, id string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if known, said := w.known[kind][strings.ToLower(id)]; said {
		return known
	}
	return w.open
}

// ProducerByDocument finds the known producer with this CPF or CNPJ; punctuation does not matter. In an open world every document that has the
// form of one belongs to a producer, always to the same.
func (w *World) ProducerByDocument(document string) (id string, ok bool) {
	bare, ok := bareDocument(document)
	if !ok {
		return "", false
	}
	w.mu.RLock()
	id, listed := w.documents[bare]
	open := w.open
	w.mu.RUnlock()
	if !listed {
		if !open {
			return "", false
		}
		id = madeUpID("producer", bare)
	}
	return id, w.Knows(Producers, id)
}

// KnowProducer registers a producer with a CPF or CNPJ.
func (w *World) KnowProducer(id, document string) {
	w.Know(Producers, id)
	bare, _ := bareDocument(document)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.documents[bare] = strings.ToLower(id)
}

// contract says whether a delivery may name this contract, and whether the world says anything about contracts at all.
func (w *World) contract(id string) (known, said bool) {
	w.mu.RLock()
	listed := w.known[Contracts] != nil
	open := w.open
	w.mu.RUnlock()
	return w.Knows(Contracts, id), listed || open
}

// Linked says whether the wallet is linked to the producer.
func (w *World) Linked(wallet, producer string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if linked, said := w.links[makeLink(wallet, producer)]; said {
		return linked
	}
	return w.open
}

// Know registers an id.
func (w *World) Know(kind Kind, id string) { w.set(kind, id, true) }

// Forget takes a registration out.
func (w *World) Forget(kind Kind, id string) { w.set(kind, id, false) }

// LinkWallet links a wallet to a producer.
func (w *World) LinkWallet(wallet, producer string) { w.setLink(wallet, producer, true) }

// UnlinkWallet takes the link of a wallet to a producer out.
func (w *World) UnlinkWallet(wallet, producer string) { w.setLink(wallet, producer, false) }

func (w *World) set(kind Kind, id string, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[kind] == nil {
		w.known[kind] = map[string]bool{}
	}
	w.known[kind][strings.ToLower(id)] = known
}

func (w *World) setLink(wallet, producer string, linked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links[makeLink(wallet, producer)] = linked
}

func makeLink(wallet, producer string) link {
	return link{strings.ToLower(wallet), strings.ToLower(producer)}
}

// Know registers an id from now on.
func (s *Server) Know(kind Kind, id string) { s.world.Know(kind, id) }

// Forget takes a registration out from now on.
func (s *Server) Forget(kind Kind, id string) { s.world.Forget(kind, id) }

// LinkWallet links a wallet to a producer from now on.
func (s *Server) LinkWallet(wallet, producer string) { s.world.LinkWallet(wallet, producer) }

// UnlinkWallet takes a link out from now on.
func (s *Server) UnlinkWallet(wallet, producer string) { s.world.UnlinkWallet(wallet, producer) }
