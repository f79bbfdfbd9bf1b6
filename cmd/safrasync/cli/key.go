package cli

import (
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
)

// CheckJobNames returns a usage error for a job that is not configured. It opens nothing but the configuration.
func (a *App) CheckJobNames(names ...string) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	var have []string
	known := map[string]bool{}
	for _, job := range config.Jobs {
		have = append(have, job.Name)
		known[job.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			return a.Usage("there is no job %q; the configuration has %s", name, Listed(have))
		}
	}
	return nil
}

// CheckKey returns a key in the ledger's form. It returns a usage error if no row of the job can
// have the key, because it has too few or too many parts.
func (a *App) CheckKey(job, key string) (string, error) {
	if err := a.CheckJobNames(job); err != nil {
		return "", err
	}
	for _, j := range a.Config.Jobs {
		if parts := strings.Join(j.Key, "|"); j.Name == job && len(mapping.CodeParts(key)) != len(j.Key) {
			return "", a.Usage("the key %q does not match: those of job %s have the form %s", key, job, parts)
		}
	}
	return mapping.CanonicalKey(key), nil
}

// KeysOf converts keys that a person typed to the ledger's form.
func KeysOf(a *App, job string, typed []string) ([]string, error) {
	keys := make([]string, len(typed))
	for i, key := range typed {
		var err error
		keys[i], err = a.CheckKey(job, key)
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}
