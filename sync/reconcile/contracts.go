package reconcile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"slices"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// contracts is what deliveries and traceability records must know of their contracts. The contracts stand in a temporary file, and so does where to find
// which: memory does not grow with them. They come before they are looked up, but for those of a job that sent contracts once and sends something else now.
type contracts struct {
	folder string
	file   *os.File
	to     *bufio.Writer
	at     uint64 // bytes of file
	seed   maphash.Seed
	byKey  places
	byID   places
	sorted bool   // all that came can be looked up
	text   []byte // of the contract that is written or read
}

// contractFacts are those of one contract.
type contractFacts struct {
	job, key, id                                   string
	product, harvest, producer, place, wallet, day string
}

func (f *contractFacts) fields() [9]*string {
	return [...]*string{&f.job, &f.key, &f.id, &f.product, &f.harvest, &f.producer, &f.place, &f.wallet, &f.day}
}

func newContracts(folder string) *contracts {
	return &contracts{folder: folder, seed: maphash.MakeSeed(), byKey: places{folder: folder, held: placesHeld}, byID: places{folder: folder, held: placesHeld}}
}

func (c *contracts) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, part := range parts {
		_, _ = h.WriteString(part) // never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

func (c *contracts) add(e trade.Entry, r *Row) (err error) {
	if c.file == nil {
		if c.file, err = temporary(c.folder); err != nil {
			return err
		}
		c.to = bufio.NewWriterSize(c.file, 1<<16)
	}
	c.sorted = false
	f := contractFacts{r.Job, r.Key, "", r.Product, r.Harvest, r.Producer, r.Place, r.Wallet, r.Day}
	if err := c.byKey.add(placeOf(c.hash(f.job, f.key), c.at)); err != nil {
		return err
	}
	if id, err := uuid.Parse(e.RemoteID); err == nil {
		f.id = id.String()
		if err := c.byID.add(placeOf(c.hash(f.id), c.at)); err != nil {
			return err
		}
	}
	c.text = append(c.text[:0], 0, 0, 0, 0)
	for _, field := range f.fields() {
		c.text = append(binary.AppendUvarint(c.text, uint64(len(*field))), *field...)
	}
	binary.BigEndian.PutUint32(c.text, uint32(len(c.text)-4))
	c.at += uint64(len(c.text))
	if _, err := c.to.Write(c.text); err != nil {
		return fmt.Errorf("write a temporary file of the report: %w", err)
	}
	return nil
}

// look makes what came ready to be looked up.
func (c *contracts) look() error {
	if c.sorted || c.file == nil {
		return nil
	}
	if err := c.to.Flush(); err != nil {
		return fmt.Errorf("write a temporary file of the report: %w", err)
	}
	if err := errors.Join(c.byKey.look(), c.byID.look()); err != nil {
		return err
	}
	c.sorted = true
	return nil
}

// read gives the contract that stands at a place.
func (c *contracts) read(at uint64) (f contractFacts, err error) {
	const reading = "read a temporary file of the report: %w"
	const likely = 512 // bytes of a contract and its length
	c.text = slices.Grow(c.text[:0], likely)[:likely]
	n, err := c.file.ReadAt(c.text, int64(at))
	if err != nil && (err != io.EOF || n < 4) {
		return f, fmt.Errorf(reading, err)
	}
	size := int(binary.BigEndian.Uint32(c.text))
	if size > n-4 {
		c.text = slices.Grow(c.text, size)[:size+4]
		if _, err := c.file.ReadAt(c.text, int64(at)); err != nil {
			return f, fmt.Errorf(reading, err)
		}
	}
	text := string(c.text[4 : size+4])
	for _, field := range f.fields() {
		length, n := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
		if n <= 0 || uint64(len(text)-n) < length { // unreachable: it is what add wrote
			return f, fmt.Errorf(reading, io.ErrUnexpectedEOF)
		}
		*field, text = text[n:n+int(length)], text[n+int(length):]
	}
	return f, nil
}

// byParent finds the contract with a key of a job.
func (c *contracts) byParent(p trade.ParentKey) (f contractFacts, ok bool, err error) {
	ok, err = c.byKey.find(c.hash(p.Job, p.Key), func(at uint64) (bool, error) {
		f, err = c.read(at)
		return f.job == p.Job && f.key == p.Key, err
	})
	return f, ok, err
}

// byRemote finds the contract that the platform knows by an id.
func (c *contracts) byRemote(text string) (f contractFacts, ok bool, err error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return f, false, nil //nolint:nilerr // it is no id: no contract has it
	}
	text = id.String()
	ok, err = c.byID.find(c.hash(text), func(at uint64) (bool, error) {
		f, err = c.read(at)
		return f.id == text, err
	})
	return f, ok, err
}

// inherit gives a delivery or traceability record what it has of its contract.
func (c *contracts) inherit(r *Row, parents []trade.ParentKey, id string) error {
	if err := c.look(); err != nil {
		return err
	}
	var of contractFacts
	var ok bool
	for _, p := range parents {
		var err error
		if of, ok, err = c.byParent(p); err != nil {
			return err
		} else if ok {
			break
		}
	}
	if !ok {
		var err error
		if of, ok, err = c.byRemote(id); err != nil {
			return err
		}
	}
	if !ok {
		if len(parents) > 0 {
			r.Parent, r.Contract = parents[0].Job, parents[0].Key
		}
		return nil
	}
	r.Parent, r.Contract, r.Product, r.Harvest, r.Place, r.Wallet = of.job, of.key, of.product, of.harvest, of.place, of.wallet
	if r.Producer == "" {
		r.Producer = of.producer
	}
	if r.Sends == trade.Traceability {
		r.Day = of.day
	}
	return nil
}

// close removes the temporary files.
func (c *contracts) close() error {
	return errors.Join(discard(c.file), c.byKey.close(), c.byID.close())
}
