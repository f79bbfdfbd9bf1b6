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
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// actConfig is the audit's act for a new configuration, or a new version of the program, in effect.
const actConfig = "config"

// inForce is the detail of that audit record: the version, and a hash of the configuration in
// effect, in which secrets are references. Whoever has the file of that time can prove that it was
// in effect. Host and file distinguish the instances of one ledger, which may have different
// configurations.
type inForce struct {
	Program string `json:"program"`
	Config  string `json:"config"`
	Before  string `json:"before,omitempty"`
	Host    string `json:"host"`
	File    string `json:"file"`
}

// noteConfig records in the audit which configuration and version are in effect on this host, if
// they differ from those recorded last for it. A failure is logged only; the service goes on.
func (d *daemon) noteConfig(ctx context.Context, config *config.Config, host string) {
	sum := sha256.Sum256([]byte(config.Show()))
	file, err := filepath.Abs(config.File())
	if err != nil { // the working directory has been removed
		file = config.File()
	}
	is := inForce{Program: d.Version, Config: hex.EncodeToString(sum[:]), Host: host, File: file}
	var was inForce
	err = d.store.ActsBetween(ctx, []string{actConfig}, time.Time{}, time.Time{}, func(r trade.AuditRecord) error {
		var then inForce
		if json.Unmarshal([]byte(r.Detail), &then) != nil {
			return nil // retention has removed the detail
		}
		if then.Host == is.Host && then.File == is.File {
			was = then
		}
		return nil
	})
	if err == nil && (was.Config != is.Config || was.Program != is.Program) {
		is.Before = was.Config
		detail, e := json.Marshal(is)
		record := cli.ProgramRecord()
		record.At, record.Act, record.Target, record.Reason, record.Detail = office.Now(), actConfig, config.File(), "",
			string(detail)
		err = errors.Join(e, d.store.AppendAudit(ctx, record))
	}
	if err != nil {
		d.log.Error("the audit does not tell which configuration is in force", zap.Error(err))
	}
}
