package sandbox

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/safrasync/safrasync/internal/phrase"
)

// RegistrationKind is a kind of registration that the platform knows or does not know.
type RegistrationKind string

// The kinds, named as the lists of a world file.
const (
	Producers      RegistrationKind = "producers"
	Wallets        RegistrationKind = "wallets"
	DeliveryPlaces RegistrationKind = "delivery_places"
	Users          RegistrationKind = "users"
	Farms          RegistrationKind = "farms"
	// Contracts are identifiers that deliveries may name in addition to the order commitments
	// created here. They may have any form.
	Contracts RegistrationKind = "contracts"
)

// World is what the platform knows: registrations, and which wallet is linked to which producer. It
// may change while a sandbox uses it. Ids are compared without regard to case.
type World struct {
	mu        sync.RWMutex
	open      bool // ids and links that are not listed are known and linked
	known     map[RegistrationKind]map[string]bool
	links     map[link]bool
	documents map[string]string // producer ids by CPF or CNPJ, without punctuation
}

type link struct{ wallet, producer string }

// NewWorld returns a world that knows nothing.
func NewWorld() *World {
	return &World{known: map[RegistrationKind]map[string]bool{}, links: map[link]bool{}, documents: map[string]string{}}
}

// OpenWorld returns a world that knows every UUID and every CPF or CNPJ and links every wallet,
// except what [World.Forget] and [World.UnlinkWallet] remove.
func OpenWorld() *World {
	w := NewWorld()
	w.open = true
	return w
}

// Knows reports whether the platform knows this id.
func (w *World) Knows(kind RegistrationKind, id string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if known, said := w.known[kind][strings.ToLower(id)]; said {
		return known
	}
	return w.open
}

// ProducerByDocument returns the known producer with this CPF or CNPJ; punctuation does not matter.
// In an open world every document of a valid form belongs to a producer, always to the same one.
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

// contract returns whether a delivery may name this contract, and whether the world decides about
// contracts at all: it is open or has a list of them.
func (w *World) contract(id string) (known, said bool) {
	w.mu.RLock()
	listed := w.known[Contracts] != nil
	open := w.open
	w.mu.RUnlock()
	return w.Knows(Contracts, id), listed || open
}

// Linked reports whether the wallet is linked to the producer.
func (w *World) Linked(wallet, producer string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if linked, said := w.links[makeLink(wallet, producer)]; said {
		return linked
	}
	return w.open
}

// Know registers an id.
func (w *World) Know(kind RegistrationKind, id string) { w.set(kind, id, true) }

// Forget removes a registration.
func (w *World) Forget(kind RegistrationKind, id string) { w.set(kind, id, false) }

// LinkWallet links a wallet to a producer.
func (w *World) LinkWallet(wallet, producer string) { w.setLink(wallet, producer, true) }

// UnlinkWallet removes the link of a wallet to a producer.
func (w *World) UnlinkWallet(wallet, producer string) { w.setLink(wallet, producer, false) }

func (w *World) set(kind RegistrationKind, id string, known bool) {
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

// maxWorldBytes bounds a world file; that of a cooperative with 100,000 producers has about 30 MB.
const maxWorldBytes = 64 << 20

// LoadWorld reads a world file. Its errors name the file and the member.
func LoadWorld(path string) (*World, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, phrase.Errorf("open the world file: %w", err)
	}
	defer func() { _ = f.Close() }()
	w, err := ReadWorld(f)
	if err != nil {
		return nil, phrase.Errorf("world file %s: %w", path, err)
	}
	return w, nil
}

// ReadWorld reads a world: a JSON object with the lists producers (producer_id, document, known),
// wallets (wallet_id, known), delivery_places (delivery_place_id, known), users (user_id, known),
// farms (farm_id, known), contracts (contract_id: any text, known) and wallet_producer_links
// (wallet_id, producer_id). "known": false marks an id that exists elsewhere and that the platform
// does not know. A list that is left out is empty. Any other unknown or missing member, id that
// stands twice or dangling reference is an error with its path.
func ReadWorld(r io.Reader) (*World, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxWorldBytes+1))
	if err != nil {
		return nil, phrase.Errorf("read the world: %w", err)
	}
	if len(data) > maxWorldBytes {
		return nil, phrase.Errorf("the world is larger than %d MiB", maxWorldBytes>>20)
	}
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	if root.kind != isObject {
		return nil, phrase.Errorf("want an object with the lists producers, wallets, %s, delivery_places, users, farms, contracts", linksList)
	}
	w := NewWorld()
	var links *node
	for _, name := range slices.Sorted(maps.Keys(root.members)) {
		list := root.members[name]
		if list.kind != isArray {
			return nil, phrase.Errorf("%s: want %w, not %w", name, isArray, list.kind)
		}
		_, isKind := idNames[RegistrationKind(name)]
		switch {
		case name == linksList:
			links = list
		case isKind:
			kind := RegistrationKind(name)
			w.known[kind] = map[string]bool{}
			for i, item := range list.items {
				place := fmt.Sprintf("%s[%d]", kind, i)
				want := map[string]wanted{idNames[kind]: wantUUID, "known": wantBool}
				switch kind {
				case Producers:
					want["document"] = wantText
				case Contracts:
					want[idNames[kind]] = wantText
				}
				got, err := readItem(item, place, want)
				if err != nil {
					return nil, err
				}
				id := strings.ToLower(got[idNames[kind]].text)
				if _, twice := w.known[kind][id]; twice {
					return nil, phrase.Errorf("%s.%s: this id stands twice in the list: %q", place, idNames[kind], id)
				}
				w.known[kind][id] = got["known"].flag
				if kind == Producers {
					// If two producers have one document, the first known one counts.
					bare, _ := bareDocument(got["document"].text)
					if before, again := w.documents[bare]; !again || !w.known[kind][before] {
						w.documents[bare] = id
					}
				}
			}
		default:
			return nil, phrase.Errorf("%q is not a list of a world; known are producers, wallets, %s, delivery_places, users, farms, contracts",
				name, linksList)
		}
	}
	if links != nil { // last, because a link must point to ids of the other lists, wherever they are in the file
		for i, item := range links.items {
			place := fmt.Sprintf("%s[%d]", linksList, i)
			got, err := readItem(item, place, map[string]wanted{"wallet_id": wantUUID, "producer_id": wantUUID})
			if err != nil {
				return nil, err
			}
			for _, kind := range []RegistrationKind{Wallets, Producers} {
				name := idNames[kind]
				if _, listed := w.known[kind][strings.ToLower(got[name].text)]; !listed {
					return nil, phrase.Errorf("%s.%s: this id is not in the list %s: %s", place, name, kind, got[name].shown())
				}
			}
			l := makeLink(got["wallet_id"].text, got["producer_id"].text)
			if w.links[l] {
				return nil, phrase.Errorf("%s: this link stands twice in the list: %s to %s", place,
					got["wallet_id"].shown(), got["producer_id"].shown())
			}
			w.links[l] = true
		}
	}
	return w, nil
}

// idNames maps each list of registrations to the name of its id.
var idNames = map[RegistrationKind]string{
	Producers:      "producer_id",
	Wallets:        "wallet_id",
	DeliveryPlaces: "delivery_place_id",
	Users:          "user_id",
	Farms:          "farm_id",
	Contracts:      "contract_id",
}

const linksList = "wallet_producer_links"

type wanted struct {
	kind  kind
	valid func(string) bool
	words phrase.Packed
}

var (
	wantUUID = wanted{isText, isUUID, "a UUID with hyphens"}
	wantBool = wanted{isBool, func(string) bool { return true }, isBool}
	wantText = wanted{isText, func(t string) bool { return t != "" }, "a text that is not empty"}
)

func readItem(item *node, place string, want map[string]wanted) (values, error) {
	if item.kind != isObject {
		return nil, phrase.Errorf("%s: want %w, not %w", place, isObject, item.kind)
	}
	got := values{}
	for _, name := range slices.Sorted(maps.Keys(item.members)) {
		value := item.members[name]
		rule, known := want[name]
		if !known {
			return nil, phrase.Errorf("%s: the member %q is unknown here", place, name)
		}
		if value.kind != rule.kind || !rule.valid(value.text) {
			return nil, phrase.Errorf("%s.%s: want %w, not %s", place, name, rule.words, value.shown())
		}
		got[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, given := got[name]; !given {
			return nil, phrase.Errorf("%s: the member %q is missing", place, name)
		}
	}
	return got, nil
}

// shown returns a value of a world file for an error text: short, on one line.
func (n *node) shown() any {
	const most = 60
	switch {
	case n.kind == isText && len([]rune(n.text)) > most:
		return strconv.Quote(string([]rune(n.text)[:most])) + "…"
	case n.kind == isText:
		return strconv.Quote(n.text)
	case n.kind == isBool:
		return strconv.FormatBool(n.flag)
	case n.kind == isNumber && len(n.text) <= most:
		return n.text
	}
	return n.kind
}
