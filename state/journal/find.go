package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Find returns the folders below a parent that hold a journal, each with the journal's end.
// Journals that cannot be read are returned in broken.
func Find(parent string) (found map[string]End, broken map[string]error, err error) {
	folders, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, phrase.Errorf("journal: %w", err)
	}
	found, broken = map[string]End{}, map[string]error{}
	for _, folder := range folders {
		if !folder.IsDir() || strings.Contains(folder.Name(), ".") {
			continue // set aside, or not completely created
		}
		dir := filepath.Join(parent, folder.Name())
		end, err := ReadEnd(dir)
		switch {
		case errors.Is(err, ErrNone):
		case err != nil:
			broken[dir] = err
		default:
			found[dir] = end
		}
	}
	return found, broken, nil
}
