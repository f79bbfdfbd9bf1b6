// The hash of a key.

package run

import "crypto/sha256"

// KeyHash identifies a key in a reading: 96 bits do not collide by chance among the rows of an ERP.
type KeyHash [12]byte

// HashKey returns the hash of a key, or of a text that identifies something else.
func HashKey[T ~string | ~[]byte](key T) KeyHash {
	sum := sha256.Sum256([]byte(key))
	return KeyHash(sum[:12])
}
