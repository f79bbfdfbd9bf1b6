package sync

import (
	"crypto/sha256"
	"encoding/hex"
)

// contentHash is of what a row or a request says, 16 bytes. Its first two bytes are of near alone, which is a part of the content that rows of the same days share: the hashes of rows that come
// together then stand together in the indexes of a ledger, instead of each on a page of its own that has to be read and written for it. Equal contents have equal hashes all the same.
type contentHash [16]byte

// nearBytes is how much of a hash is of near: as many places as 180 years have days.
const nearBytes = 2

func hashOf(near, content []byte) (h contentHash) {
	place, all := sha256.Sum256(near), sha256.Sum256(content)
	copy(h[:nearBytes], place[:])
	copy(h[nearBytes:], all[:])
	return h
}

// String is how a hash is stored.
func (h contentHash) String() string { return hex.EncodeToString(h[:]) }
