package cli

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/internal/systemd"
	"github.com/safrasync/safrasync/trade"
)

// newLogger returns a logger that writes JSON lines: errors only, or with verbose also warnings and
// information. It never samples, because a dropped line may be the one that somebody looks for.
func newLogger(w io.Writer, verbose bool) *zap.Logger {
	level := zapcore.ErrorLevel
	if verbose {
		level = zapcore.InfoLevel
	}
	return NewLeveledLogger(w, level)
}

// NewLeveledLogger returns a logger that writes JSON lines of a level and above.
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
