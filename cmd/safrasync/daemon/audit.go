package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/trade"
)

// actConfig is the act of the audit by which another configuration, or another program, comes into
// force.
const actConfig = "config"

// inForce is what the audit keeps of it: hashes of the configuration in effect, in which secrets
// are references. Who has the file of that time can prove that it was that. Host and file tell the
// instances of one ledger apart, which may have configurations of their own.
type inForce struct {
	Program string `json:"program"`
	Config  string `json:"config"`
	Before  string `json:"before,omitempty"`
	Host    string `json:"host"`
	File    string `json:"file"`
}

// noteConfig keeps in the audit what is in force on this host by this file, where it is not what
// was in force there last (C15). That it cannot is no reason to stand still.
func (d *daemon) noteConfig(ctx context.Context, config *config.Config, host string) {
	sum := sha256.Sum256([]byte(config.Show()))
	file, err := filepath.Abs(config.File())
	if err != nil { // the folder in which the process works is gone
		file = config.File()
	}
	is := inForce{Program: d.Version, Config: hex.EncodeToString(sum[:]), Host: host, File: file}
	var was inForce
	err = d.store.ActsBetween(ctx, []string{actConfig}, time.Time{}, time.Time{}, func(r trade.AuditRecord) error {
		var then inForce
		if json.Unmarshal([]byte(r.Detail), &then) != nil {
			return nil // the retention has taken it
		}
		// an older program named neither: it may have been this instance
		if then.Host == "" || then.Host == is.Host && then.File == is.File {
			was = then
		}
		return nil
	})
	if err == nil && (was.Config != is.Config || was.Program != is.Program || was.Host == "") {
		is.Before = was.Config
		detail, e := json.Marshal(is)
		record := cli.ByTheProgram()
		record.At, record.Act, record.Target, record.Reason, record.Detail = cli.Now(), actConfig, config.File(), "",
			string(detail)
		err = errors.Join(e, d.store.AppendAudit(ctx, record))
	}
	if err != nil {
		d.log.Error("the audit does not tell which configuration is in force", zap.Error(err))
	}
}
