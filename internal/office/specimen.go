package office

import (
	"context"
	"crypto/rand"
	"errors"
	"io"

	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/specimen"
	"github.com/safrasync/safrasync/trade"
)

// specimenActs is how many acts on a row a file for support has at most.
const specimenActs = 100

// WriteSpecimen writes one row for support, masked: as the ERP has it now, else as the ledger has it. It
// needs an engine, and stores and sends nothing.
func (o *Office) WriteSpecimen(ctx context.Context, name, key string, to io.Writer) error {
	row, err := o.specimen(ctx, name, key)
	if err != nil {
		return err
	}
	return specimen.Write(to, row)
}

func (o *Office) specimen(ctx context.Context, name, key string) (specimen.Specimen, error) {
	job, err := o.engine.Job(name)
	if err != nil {
		return specimen.Specimen{}, err
	}
	facts := specimen.Facts{Program: o.version, Now: o.now(), Zone: o.conf.Zone(), Job: job}
	entry, err := o.store.Entry(ctx, name, key)
	switch {
	case err == nil:
		facts.Entry = &entry
		facts.Attempts, err = o.store.Attempts(ctx, entry.ID)
	case errors.Is(err, trade.ErrNotFound):
		err = nil
	}
	if err != nil {
		return specimen.Specimen{}, err
	}
	acts, err := o.store.AuditOf(ctx, name+" "+key, specimenActs)
	if err != nil {
		return specimen.Specimen{}, err
	}
	for _, act := range acts {
		facts.Acts = append(facts.Acts, specimen.Deed{At: act.At, Act: act.Act})
	}
	facts.Seen, err = o.engine.SeenOf(ctx, name, key, facts.Entry)
	if err != nil {
		return specimen.Specimen{}, err
	}
	return specimen.Make(facts, []byte(rand.Text()))
}

// IsSpecimen reports whether a file that begins so is one of a row for support.
func IsSpecimen(begin []byte) bool { return specimen.Is(begin) }

// SpecimenMost is how large such a file may be.
const SpecimenMost = specimen.Most

// Specimen is the row of a file for support, judged anew.
type Specimen struct {
	specimen.Specimen
	Job     *mapping.Job
	Got     dryrun.Verdict // by this version of the program
	Preview dryrun.Preview
}

// TrySpecimen judges the row of a file. It needs neither configuration nor ledger nor ERP.
func TrySpecimen(data []byte) (Specimen, error) {
	row, err := specimen.Read(data)
	if err != nil {
		return Specimen{}, err
	}
	out := Specimen{Specimen: row}
	out.Job, err = row.Compile()
	if err != nil {
		return out, err
	}
	out.Got, out.Preview, err = row.Seen().Judge(out.Job)
	return out, err
}
