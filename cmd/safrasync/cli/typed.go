package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// CheckJobNames returns a usage error for a job that is not configured. It opens nothing but the configuration.
func (a *App) CheckJobNames(names ...string) error {
	if _, err := a.LoadConfig(); err != nil {
		return err
	}
	have := trade.Map(a.Config.Jobs, func(job config.JobConfig) string { return job.Name })
	for _, name := range names {
		if !slices.Contains(have, name) {
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
func KeysOf(a *App, job string, typed []string) (keys []string, err error) {
	keys = make([]string, len(typed))
	for i, key := range typed {
		keys[i], err = a.CheckKey(job, key)
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// ParseSince parses an age (2h, 7d), a day in the cooperative's zone, or an instant. It returns
// false for any other text.
func ParseSince(since string, now time.Time, zone *time.Location) (time.Time, bool) {
	if days, ok := strings.CutSuffix(since, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), true
		}
	}
	if age, err := time.ParseDuration(since); err == nil && age >= 0 {
		return now.Add(-age), true
	}
	for _, layout := range []string{time.DateOnly, "02/01/2006", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, since, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
