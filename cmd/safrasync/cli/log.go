package cli

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/internal/systemd"
	"github.com/safrasync/safrasync/trade"
)

// NewLeveledLogger returns a logger that writes JSON lines of a level and above. Lines are never sampled:
// a dropped one may be the one that somebody looks for.
func NewLeveledLogger(w io.Writer, level zapcore.LevelEnabler) *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey: "time", LevelKey: "level", MessageKey: "msg", StacktraceKey: "stack",
		LineEnding: zapcore.DefaultLineEnding,
		EncodeTime: zapcore.RFC3339NanoTimeEncoder, EncodeLevel: zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
	})
	if systemd.ToJournal(w) {
		encoder = systemd.WithPriorities(encoder)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(maskedLog{w})), level))
}

// maskedLog masks the documents of persons in each line. Keys of the ERP may contain them, and no
// rule of ours removes a line from the log of the host.
type maskedLog struct{ to io.Writer }

func (m maskedLog) Write(line []byte) (int, error) {
	if _, err := m.to.Write(trade.MaskJSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}
