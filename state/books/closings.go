package books

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

type closingRow struct {
	trade.Closing
	DayText string
}

func (r *closingRow) closing() (trade.Closing, error) {
	var err error
	r.Day, err = trade.ParseDate(r.DayText)
	if err != nil {
		err = phrase.Errorf("closing %s: %w", r.ID, trade.ErrClosingDamaged)
	}
	return r.Closing, err
}

// CloseReport stores a report for good. rows are its compressed rows; they are stored part by part,
// so that no process that sends has to wait. CloseReport sets c.Parts, c.Hash and c.Audit. When it
// returns without an error, the closing and its audit record are on disk. It removes the parts of
// closings that were not finished, if they are old: a young one may be another process's.
func (s *Books) CloseReport(ctx context.Context, c trade.Closing, rows io.Reader,
	record trade.AuditRecord,
) (trade.Closing, error) {
	const op = "closing a report"
	if err := s.db.Do(ctx, op,
		`DELETE FROM closing_part WHERE closing_id < ? AND NOT EXISTS (SELECT 1 FROM closing WHERE id = closing_part.closing_id)`,
		fmt.Sprintf("%08x", time.Now().Add(-time.Hour).UnixMilli()>>16)); err != nil { // ids begin with their time
		return c, err
	}
	sum := trade.NewClosingSum(c.Head)
	buf := make([]byte, trade.ClosingPart)
	c.Parts = 0
	for {
		n, err := io.ReadFull(rows, buf)
		if n > 0 {
			c.Parts++
			data := base64.StdEncoding.EncodeToString(buf[:n])
			sum.Part(data)
			if err := s.db.Do(ctx, op, `INSERT INTO closing_part (closing_id, no, data) VALUES (?, ?, ?)`, c.ID, c.Parts,
				data); err != nil {
				return c, err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return c, phrase.Errorf("%w: %w", phrase.Fixed(op), err)
		}
	}
	c.Hash = sum.Hash()
	return c, s.db.InTx(ctx, op, func(t *sqldb.Tx) (err error) {
		var parts int
		if err := t.Get(&parts, `SELECT COUNT(*) FROM closing_part WHERE closing_id = ?`, c.ID); err != nil {
			return err
		}
		if parts != c.Parts {
			return errors.New("another process removed a part of what was to be closed: close it again")
		}
		c.Audit, err = AddNumbered(t, record)
		if err != nil {
			return err
		}
		return t.Do(
			`INSERT INTO closing (id, day, at, who, reason, program, head, row_count, parts, hash, audit_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.ID, c.Day.String(), c.At.UnixMilli(), sqldb.CleanText(c.Who), sqldb.CleanText(c.Reason), c.Program,
			string(c.Head), c.Rows, c.Parts, c.Hash, c.Audit)
	})
}

// Closings returns the closed reports of a cut-off day, or all for the zero day, the newest first.
func (s *Books) Closings(ctx context.Context, day trade.Date) ([]trade.Closing, error) {
	query := `SELECT id, day AS day_text, at, who, reason, program, head, row_count AS rows, parts, hash, audit_seq AS audit FROM closing WHERE ? = '' OR day = ? ORDER BY day DESC, at DESC, id DESC`
	return sqldb.Rows(ctx, s.db, "reading the closed reports", (*closingRow).closing, query, day.String(), day.String())
}

// ClosedRows writes the rows of a closed report as they were passed to CloseReport, part by part.
// Then it verifies that they are what was closed, and otherwise returns trade.ErrClosingDamaged.
func (s *Books) ClosedRows(ctx context.Context, c trade.Closing, to io.Writer) error {
	const op = "reading a closed report"
	sum := trade.NewClosingSum(c.Head)
	for no := 1; no <= c.Parts; no++ {
		var data []string
		if err := s.db.All(ctx, op, &data, `SELECT data FROM closing_part WHERE closing_id = ? AND no = ?`, c.ID,
			no); err != nil {
			return err
		}
		if len(data) != 1 {
			return phrase.Errorf("closing %s: %w", c.ID, trade.ErrClosingDamaged)
		}
		sum.Part(data[0])
		raw, err := base64.StdEncoding.DecodeString(data[0])
		if err != nil {
			return phrase.Errorf("closing %s: %w", c.ID, trade.ErrClosingDamaged)
		}
		if _, err := to.Write(raw); err != nil {
			return phrase.Errorf("%w: %w", phrase.Fixed(op), err)
		}
	}
	if sum.Hash() != c.Hash {
		return phrase.Errorf("closing %s: %w", c.ID, trade.ErrClosingDamaged)
	}
	return nil
}
