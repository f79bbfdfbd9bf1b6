package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// actConfig is the act of the audit by which another configuration, or another program, comes into force.
const actConfig = "config"

// inForce is what the audit keeps of it: hashes of the configuration in effect, in which secrets are references. Who has the file of that time can prove that it was that.
type inForce struct {
	Program string `json:"program"`
	Config  string `json:"config"`
	Before  string `json:"before,omitempty"`
}

// noteConfig keeps in the audit what is in force, where it is not what was in force last (C15). That it cannot is no reason to stand still.
func (d *daemon) noteConfig(ctx context.Context, config *Config) {
	sum := sha256.Sum256([]byte(config.Show()))
	is := inForce{Program: version, Config: hex.EncodeToString(sum[:])}
	var was inForce
	err := d.store.ActsBetween(ctx, []string{actConfig}, time.Time{}, time.Time{}, func(r trade.AuditRecord) error {
		if was = (inForce{}); json.Unmarshal([]byte(r.Detail), &was) != nil {
			was = inForce{} // the retention has taken it
		}
		return nil
	})
	if err == nil && (was.Config != is.Config || was.Program != is.Program) {
		is.Before = was.Config
		detail, e := json.Marshal(is)
		record := byTheProgram()
		record.At, record.Act, record.Target, record.Reason, record.Detail = now(), actConfig, config.source.name, "", string(detail)
		err = errors.Join(e, d.store.AppendAudit(ctx, record))
	}
	if err != nil {
		d.log.Error("the audit does not tell which configuration is in force", zap.Error(err))
	}
}
